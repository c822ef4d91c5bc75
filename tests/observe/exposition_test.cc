// SPDX-License-Identifier: Apache-2.0
// What is read of an exporter's text, to the letter, and what is passed over.
#include "controller/observe/exposition.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace berth::test {
namespace {

using ::testing::ElementsAre;

struct ReadText {
  std::vector<std::string> told;      // "label=value|… number"
  std::optional<std::size_t> series;  // absent: an error
};
ReadText read_text(std::string_view text) {
  ReadText out;
  const Result<std::size_t> series = read_exposition(
      text, [&](const CounterInfo& counter, const LabelViews& labels, double value) {
        std::string line;
        for (const auto& [name, said] : labels) line += fmt::format("{}={}|", name, said);
        if (counter.counter != Counter::kGpuUtil) line += std::string(counter.name);
        out.told.push_back(line + (std::isnan(value) ? " NaN" : fmt::format(" {}", value)));
      });
  if (series.has_value()) out.series = *series;
  return out;
}
// Of one series of GPU_UTIL, what stands behind its name.
std::vector<std::string> told_of(const std::string& rest) {
  return read_text("DCGM_FI_DEV_GPU_UTIL" + rest + "\n").told;
}

TEST(Exposition, LabelsMayHoldWhateverIsEscaped) {
  EXPECT_THAT(told_of(R"({gpu="0",pod="a\"b\\c\nd",UUID="GPU-a"} 7)"),
              ElementsAre("gpu=0|pod=a\"b\\c\nd|UUID=GPU-a| 7"));
  EXPECT_THAT(told_of(R"({a="\\",b="\"",c="plain",d="x\n"} 7)"),
              ElementsAre("a=\\|b=\"|c=plain|d=x\n| 7"))
      << "each is itself, however many are escaped";
  EXPECT_THAT(told_of(R"({a="\t"} 7)"), ElementsAre("a=t| 7")) << "of no other sign is it known";
  EXPECT_THAT(told_of(R"({a="},{",b=""} 7)"), ElementsAre("a=},{|b=| 7"));
}

TEST(Exposition, OfALineAnEscapeDoesNotOutlive) {
  EXPECT_THAT(
      read_text("DCGM_FI_DEV_GPU_UTIL{a=\"\\\"\"} 1\nDCGM_FI_DEV_GPU_UTIL{a=\"b\"} 2\n").told,
      ElementsAre("a=\"| 1", "a=b| 2"));
}

TEST(Exposition, BlanksAndATimestampChangeNothing) {
  for (const char* rest :
       {R"({gpu="0",pod="p"} 7)", R"( { gpu = "0" , pod = "p" , }  7 1790000000000 )",
        "\t{\tgpu=\"0\",\tpod=\"p\"}\t+7\t\r"})
    EXPECT_THAT(told_of(rest), ElementsAre("gpu=0|pod=p| 7")) << rest;
  EXPECT_THAT(told_of(" 7"), ElementsAre(" 7"));
  EXPECT_THAT(told_of("{} 7e1"), ElementsAre(" 70"));
  for (const char* number : {"NaN", "+Inf", "-Inf"})
    EXPECT_THAT(told_of(std::string("{} ") + number), ElementsAre(" NaN"));
}

TEST(Exposition, WhatIsNoSeriesIsPassedOverAndTheRestIsRead) {
  for (const char* broken : {R"({gpu="0" 7)", R"({gpu="0)", R"({gpu="0\"} 7)", R"({gpu=0} 7)",
                             R"({gpu} 7)", R"({="0"} 7)", R"({gpu="0"pod="p"} 7)", R"({gpu="0"})",
                             R"({gpu="0"} seven)", R"({gpu="0"} 7x)", R"({gpu="0"} )", "{"}) {
    const ReadText read = read_text(fmt::format(
        "# HELP DCGM_FI_DEV_GPU_UTIL 7\n\nDCGM_FI_DEV_GPU_UTIL{}\nDCGM_FI_DEV_GPU_UTIL 1\n",
        broken));
    EXPECT_THAT(read.told, ElementsAre(" 1")) << broken;
    EXPECT_EQ(read.series.value_or(0), 1u) << broken;
  }
}

TEST(Exposition, OthersCountersAreCountedAndNotTold) {
  const ReadText read = read_text(
      "go_goroutines 12\nDCGM_FI_DEV_SM_CLOCK{gpu=\"0\"} 1410\n"
      "DCGM_FI_DEV_GPU_TEMP{gpu=\"0\"} 40");
  EXPECT_THAT(read.told, ElementsAre("gpu=0|DCGM_FI_DEV_GPU_TEMP 40"));
  EXPECT_EQ(read.series.value_or(0), 3u);
}

TEST(Exposition, ATextWithoutAnySeriesIsAnErrorUnlessItIsEmpty) {
  for (const char* text : {"<html>gateway</html>", "# HELP up\n", "{}\n"})
    EXPECT_FALSE(read_text(text).series.has_value()) << text;
  for (const char* text : {"", " \t\r"}) EXPECT_EQ(read_text(text).series.value_or(1), 0u);
}

TEST(Exposition, OfMoreLabelsOrSeriesThanThereCanBeNoneIsRead) {
  const auto with_labels = [](std::size_t count) {
    std::string labels;
    for (std::size_t i = 0; i < count; ++i) labels += fmt::format("l{}=\"x\",", i);
    return told_of("{" + labels + "} 7").size();
  };
  EXPECT_EQ(with_labels(kMaxLabels), 1u);
  EXPECT_EQ(with_labels(kMaxLabels + 1), 0u);
  const auto with_series = [](std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += "up 1\n";
    return read_text(text).series.has_value();
  };
  EXPECT_TRUE(with_series(kMaxSeriesOfNode));
  EXPECT_FALSE(with_series(kMaxSeriesOfNode + 1));
}

}  // namespace
}  // namespace berth::test
