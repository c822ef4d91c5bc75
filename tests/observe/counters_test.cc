// SPDX-License-Identifier: Apache-2.0
// Which numbers of an exporter are believed, which say that nothing was measured, and which lie.
#include "controller/observe/counters.h"

#include <gtest/gtest.h>

#include <limits>

namespace berth::test {
namespace {

Truth verdict(Counter counter, double number) {
  return read_counter(info_of(counter), number).verdict;
}

TEST(Counters, EachIsFoundByItsName) {
  for (const CounterInfo& info : counters()) {
    EXPECT_EQ(find_counter(info.name), &info) << info.name;
    EXPECT_EQ(&info_of(info.counter), &info) << info.name;
  }
  for (const char* name : {"", "DCGM_FI_", "DCGM_FI_DEV_GPU_UTIL_", "DCGM_FI_DEV_SM_CLOCK", "up"})
    EXPECT_EQ(find_counter(name), nullptr) << name;
}

// A number beside DCGM's blanks is no blank: what cannot be true is to be told, not passed over.
TEST(Counters, BlanksAreDcgmsOwnNumbersAndNoOthers) {
  for (const auto& [first, last] :
       {std::pair{2147483632.0, 2147483647.0}, {140737488355328.0, 140737488355343.0}}) {
    for (const double blank : {first, first + 5, last})
      EXPECT_EQ(verdict(Counter::kPower, blank), Truth::kBlank) << blank;
    for (const double other : {first - 1, last + 1})
      EXPECT_EQ(verdict(Counter::kPower, other), Truth::kLie) << other;
  }
  EXPECT_EQ(verdict(Counter::kLinkErrors, 9223372036854775792.0), Truth::kBlank);
  EXPECT_EQ(verdict(Counter::kLinkErrors, 9.2e18), Truth::kBlank);
  EXPECT_EQ(verdict(Counter::kLinkErrors, 9.1e18), Truth::kLie);
  EXPECT_EQ(verdict(Counter::kGpuUtil, std::numeric_limits<double>::quiet_NaN()), Truth::kBlank);
}

TEST(Counters, FromNothingToTheMostIsGoodAndBeyondItALie) {
  for (const CounterInfo& info : counters()) {
    EXPECT_EQ(read_counter(info, 0).verdict, Truth::kGood) << info.name;
    EXPECT_EQ(read_counter(info, -1).verdict, Truth::kLie) << info.name;
    EXPECT_EQ(read_counter(info, info.most).verdict, Truth::kGood) << info.name;
    EXPECT_EQ(read_counter(info, info.most * 1.01).verdict, Truth::kLie) << info.name;
  }
}

TEST(Counters, SharesOfTimeAreReadAsParts) {
  const CounterInfo& util = info_of(Counter::kGpuUtil);
  EXPECT_DOUBLE_EQ(read_counter(util, 1).value, 0.01);
  EXPECT_DOUBLE_EQ(read_counter(util, 42).value, 0.42);
  EXPECT_DOUBLE_EQ(read_counter(util, 100).value, 1);
  EXPECT_EQ(verdict(Counter::kGpuUtil, 0.42), Truth::kLie) << "somebody has made a ratio of it";
  const CounterInfo& engine = info_of(Counter::kEngineActive);
  EXPECT_DOUBLE_EQ(read_counter(engine, 0.42).value, 0.42);
  EXPECT_DOUBLE_EQ(read_counter(engine, 1.001).value, 1) << "DCGM rounds up";
  EXPECT_DOUBLE_EQ(read_counter(info_of(Counter::kPower), 350).value, 350);
}

}  // namespace
}  // namespace berth::test
