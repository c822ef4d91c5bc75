// SPDX-License-Identifier: Apache-2.0
// Conditions and days in metrics and ledgers.
#include "controller/core/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/core/ledger_spans.h"

namespace berth {
namespace {

using testing::ElementsAre;

// "Ready=true" for each sample that is 1; the total number of samples is constant.
std::vector<std::string> holding(const std::vector<Condition>& conditions, bool observed) {
  Figure figure;
  add_conditions({{"layout", "a"}}, conditions, observed, figure);
  EXPECT_EQ(figure.samples.size(), 9U);
  std::vector<std::string> out;
  for (const Figure::Sample& sample : figure.samples) {
    EXPECT_EQ(sample.labels.at(0).second, "a");
    EXPECT_EQ(sample.labels.at(1).first + "," + sample.labels.at(2).first, "type,status");
    if (sample.value == 1)
      out.push_back(sample.labels.at(1).second + "=" + sample.labels.at(2).second);
  }
  return out;
}

TEST(Figures, OfEachConditionOneStatusHolds) {
  EXPECT_THAT(
      holding({{.type = "Ready", .status = "False"}, {.type = "Stalled", .status = "True"}}, true),
      ElementsAre("Ready=false", "Reconciling=false", "Stalled=true"));
  EXPECT_THAT(holding({}, true),
              ElementsAre("Ready=unknown", "Reconciling=false", "Stalled=false"));
  EXPECT_THAT(holding({{.type = "Ready", .status = "True"}}, false),
              ElementsAre("Ready=unknown", "Reconciling=unknown", "Stalled=unknown"))
      << "it has been changed since";
}

TEST(Figures, OfEachConditionTheReasonIsOne) {
  Figure figure;
  add_reasons({{"layout", "a"}}, {{.type = "Ready", .status = "True", .reason = "Fits"}}, figure);
  ASSERT_EQ(figure.samples.size(), 1U);
  EXPECT_EQ(figure.samples[0].labels,
            (Figure::Labels{{"layout", "a"}, {"type", "Ready"}, {"reason", "Fits"}}));
  EXPECT_EQ(figure.samples[0].value, 1);
}

TEST(LedgerSpans, BeginWithTheFirstDayAndMonthThatAreKept) {
  const Time now = *parse_time("2026-03-01T00:30:00Z");
  EXPECT_EQ(day_of(now), "2026-03-01");
  EXPECT_EQ(month_of(now), "2026-03");
  const auto days = [](const std::string& from, Time to) {
    return std::chrono::duration_cast<std::chrono::hours>(to - *parse_time(from + "T00:00:00Z"))
               .count() /
           24;
  };
  EXPECT_EQ(days(first_day_kept(now), now), kDaysKept - 1);
  const std::string month = first_month_kept(now);
  EXPECT_EQ(2026 * 12 + 3 - (std::stoi(month.substr(0, 4)) * 12 + std::stoi(month.substr(5))),
            kMonthsKept - 1);
}

}  // namespace
}  // namespace berth
