// SPDX-License-Identifier: Apache-2.0
// What Prometheus is asked in a round, word for word, and what is made of a GPU's history.
#include "controller/observe/prometheus_query.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "controller/observe/identity.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;
using testing::StartsWith;
using Kind = PrometheusQuery::Kind;

const SamplingWindow kSampled{
    .now = Time(std::chrono::seconds(1'790'000'000)), .interval = 30s, .grace = 1h, .threshold = 5};

const SeriesMatch kMatch = {{"job", "dcgm"}, {"namespace", "gpu-operator"}};
constexpr char kSelector[] = R"({job="dcgm",namespace="gpu-operator"})";

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
    i += 2;
  }
  return out;
}

std::vector<Kind> kinds_of(Counter counter, bool with_history) {
  std::vector<Kind> kinds;
  for (const PrometheusQuery& query : prometheus_queries(kSampled, with_history, kMatch))
    if (query.counter->counter == counter) kinds.push_back(query.kind);
  return kinds;
}

std::string target_of(Counter counter, Kind kind) {
  for (const PrometheusQuery& query : prometheus_queries(kSampled, true, kMatch))
    if (query.counter->counter == counter && query.kind == kind) return query.target;
  return "none";
}

TEST(PrometheusQueries, AskForPeaksOfWhatIsAShareOfTimeAndOfPower) {
  EXPECT_THAT(kinds_of(Counter::kGpuUtil, false), ElementsAre(Kind::kNow, Kind::kPeak));
  EXPECT_THAT(kinds_of(Counter::kEngineActive, false), ElementsAre(Kind::kNow, Kind::kPeak));
  EXPECT_THAT(kinds_of(Counter::kPower, true), ElementsAre(Kind::kNow, Kind::kPeak));
  EXPECT_THAT(kinds_of(Counter::kXid, true), ElementsAre(Kind::kNow));
  for (const Counter shares : {Counter::kGpuUtil, Counter::kEngineActive})
    EXPECT_THAT(kinds_of(shares, true), ElementsAre(Kind::kNow, Kind::kPeak, Kind::kHistory));
}

TEST(PrometheusQueries, AreWrittenSo) {
  const std::string by = fmt::format("max by ({},job) ", fmt::join(identifying_labels(), ","));
  const std::string util = std::string(info_of(Counter::kGpuUtil).name) + kSelector;
  const std::string power = std::string(info_of(Counter::kPower).name) + kSelector;
  const std::string now = "/api/v1/query?timeout=20s&query=";
  EXPECT_EQ(unescaped(target_of(Counter::kGpuUtil, Kind::kNow)),
            fmt::format("{0}{1}(avg_over_time({2}[30000ms])) or {1}({2})", now, by, util));
  EXPECT_EQ(unescaped(target_of(Counter::kGpuUtil, Kind::kPeak)),
            fmt::format("{0}{1}(max_over_time({2}[60000ms])) or {1}({2})", now, by, util));
  EXPECT_EQ(unescaped(target_of(Counter::kPower, Kind::kNow)),
            fmt::format("{}{}({})", now, by, power));
  EXPECT_EQ(unescaped(target_of(Counter::kGpuUtil, Kind::kHistory)),
            fmt::format("/api/v1/query_range?timeout=20s&start=1789996280.000&end=1790000000.000"
                        "&step=120.000&query={}(max_over_time({}[120000ms]))",
                        by, util));
  EXPECT_THAT(target_of(Counter::kGpuUtil, Kind::kNow),
              HasSubstr("avg_over_time%28DCGM_FI_DEV_GPU_UTIL%7Bjob%3D%22dcgm%22%2Cnamespace%3D"
                        "%22gpu-operator%22%7D%5B30000ms%5D%29"));
}

TEST(PrometheusQueries, AskForSeriesOfTheAgentsNamespaceUnlessThePolicyNamesLabels) {
  PrometheusSpec spec;
  EXPECT_EQ(series_match(spec, "nvidia"), (SeriesMatch{{"namespace", "nvidia"}}));
  spec.match_labels = {{"service", "dcgm"}, {"job", "x"}};
  EXPECT_EQ(series_match(spec, "nvidia"), (SeriesMatch{{"job", "x"}, {"service", "dcgm"}}));
  EXPECT_EQ(describe_match(kMatch), "job=dcgm, namespace=gpu-operator");
}

TEST(PrometheusQueries, CountTheSeriesThatLackALabel) {
  const std::string query = unescaped(foreign_query(kMatch));
  EXPECT_THAT(query, HasSubstr("topk(20, count by (namespace,pod) ({__name__=~\"DCGM_FI_DEV_GPU_"
                               "UTIL|DCGM_FI_PROF_GR_ENGINE_ACTIVE|"));
  EXPECT_THAT(query, HasSubstr(",job!=\"dcgm\"} or {"));
  EXPECT_THAT(query, HasSubstr(",namespace!=\"gpu-operator\"}))"));
}

// What a query says is the same however much of it is escaped; what a person reads in a log is not.
TEST(PrometheusQueries, EscapeWhatAUrlCannotHoldAndNothingElse) {
  std::string all;
  for (const PrometheusQuery& query : prometheus_queries(kSampled, true, kMatch))
    all += query.target.substr(query.target.find("query=") + 6);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] != '%') {
      EXPECT_THAT(std::string(1, all[i]), testing::MatchesRegex("[A-Za-z0-9_.~-]"));
      continue;
    }
    EXPECT_THAT(
        (std::vector<std::string>{"28", "29", "5B", "5D", "7B", "7D", "2C", "20", "22", "3D"}),
        testing::Contains(all.substr(i + 1, 2)))
        << "brackets, commas, blanks, quotes and equals signs";
    i += 2;
  }
}

std::optional<Time> quiet_since(const std::vector<std::pair<Duration, double>>& told) {
  Points points;
  for (const auto& [ago, number] : told) points.push_back({kSampled.now - ago, number});
  return quiet_run(info_of(Counter::kGpuUtil), points, kSampled);
}

// Two minutes are a step; two and a half of these a gap.
TEST(QuietRun, GoesBackToTheLastBurstOrTheLastGap) {
  EXPECT_THAT(quiet_since({{6min, 0}, {4min, 1}, {2min, 4}, {0min, 0}}),
              Optional(kSampled.now - 6min));
  EXPECT_THAT(quiet_since({{6min, 0}, {4min, 50}, {2min, 0}, {0min, 0}}),
              Optional(kSampled.now - 4min))
      << "from the burst on";
  EXPECT_THAT(quiet_since({{7min, 0}, {2min, 0}, {0min, 0}}), Optional(kSampled.now - 7min))
      << "no more than a gap";
  EXPECT_THAT(quiet_since({{7min + 1ms, 0}, {2min, 0}, {0min, 0}}), Optional(kSampled.now - 2min));
}

TEST(QuietRun, WhatSaysNothingIsNoPoint) {
  const double blank = 9223372036854775794.0;
  EXPECT_THAT(quiet_since({{6min, 0}, {4min, blank}, {2min, 0}, {0min, 0}}),
              Optional(kSampled.now - 6min))
      << "four minutes without a point are no gap";
  EXPECT_THAT(quiet_since({{8min, 0}, {6min, blank}, {4min, blank}, {2min, 0}}),
              Optional(kSampled.now - 2min));
  EXPECT_EQ(quiet_since({{2min, blank}}), std::nullopt);
  EXPECT_EQ(quiet_since({}), std::nullopt);
}

TEST(QuietRun, IsNoLongerTrueOnceItsLastPointIsTooOld) {
  EXPECT_THAT(quiet_since({{7min, 0}, {5min, 0}}), Optional(kSampled.now - 7min));
  EXPECT_EQ(quiet_since({{7min, 0}, {5min + 1ms, 0}}), std::nullopt);
}

}  // namespace
}  // namespace berth::test
