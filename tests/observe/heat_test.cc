// SPDX-License-Identifier: Apache-2.0
// Heat: a GPU is hot once each look at it for kHotFor has found it above the limit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/observe/measured.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;

constexpr double kHot = 91, kCold = 60;

class Heat : public ::testing::Test {
 protected:
  void look(double celsius, Duration after = 30s) {
    measured_.now += after;
    measured_.look(fmt::format(
        "DCGM_FI_DEV_GPU_TEMP{{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\"}} {}\n", celsius));
  }
  // Looks every half minute until the time has passed.
  void look_for(Duration time, double celsius) {
    for (Duration passed{}; passed < time; passed += 30s) look(celsius);
  }
  // Whether the last look has found the GPU hot.
  bool is_hot() const { return gpu().hot_at == gpu().seen; }
  const GpuSample& gpu() const { return measured_.samples.on("n1").at(0); }

  Measured measured_;
};

TEST_F(Heat, CountsOnceItHasLastedForMinutes) {
  look(kHot);
  look_for(kHotFor - 30s, kHot);
  EXPECT_FALSE(gpu().hot_at);
  look(kHot);
  EXPECT_TRUE(is_hot());
  look(kHot);
  EXPECT_TRUE(is_hot());
  const Time last = measured_.now;
  look(kCold);
  EXPECT_EQ(gpu().hot_at, last);
  EXPECT_FALSE(gpu().hot_since);
}

TEST_F(Heat, IsTimedAgainAfterOneLookThatFindsItCold) {
  look(kHot);
  look_for(kHotFor - 30s, kHot);
  look(kCold);
  look_for(kHotFor, kHot);
  EXPECT_FALSE(gpu().hot_at);
  look(kHot);
  EXPECT_TRUE(is_hot());
}

TEST_F(Heat, IsTimedAgainAfterAGapInTheMeasurements) {
  look(kHot);
  look(kHot, 2min);
  EXPECT_LT(*gpu().hot_since, measured_.now) << "two minutes may be missed";
  look(kHot, 2min + 1s);
  EXPECT_EQ(gpu().hot_since, measured_.now);
}

TEST_F(Heat, IsTimedAgainByAnotherLimit) {
  measured_.rules.max_temperature = 70;
  look(kHot);
  look_for(kHotFor - 30s, kHot);
  measured_.rules.max_temperature = 90;
  look(kHot);
  EXPECT_FALSE(is_hot());
  EXPECT_EQ(gpu().hot_since, measured_.now);
}

TEST_F(Heat, IsNeitherBegunNorEndedByALookWithoutATemperature) {
  const auto look_elsewhere = [&] {
    measured_.now += 30s;
    measured_.look("DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\"} 50\n");
  };
  look_elsewhere();
  EXPECT_FALSE(gpu().hot_since);
  look(kHot);
  const Time since = measured_.now;
  look_elsewhere();
  EXPECT_EQ(gpu().hot_since, since);
}

}  // namespace
}  // namespace berth::test
