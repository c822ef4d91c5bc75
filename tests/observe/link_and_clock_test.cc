// SPDX-License-Identifier: Apache-2.0
// Retries of a GPU's PCIe link, and its hardware slowing it down: told from counters and bits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/observe/measured.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;

class LinkAndClock : public ::testing::Test {
 protected:
  const GpuSample& look(const std::string& counter, double value) {
    measured_.now += 30s;
    measured_.look(
        fmt::format("{}{{gpu=\"0\",UUID=\"GPU-a\",Hostname=\"n1\"}} {}\n", counter, value));
    return measured_.samples.on("n1").at(0);
  }
  Time now() const { return measured_.now; }
  // Whether it has risen with this look.
  bool rises(double replays) {
    const GpuSample& gpu = look("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", replays);
    return gpu.pcie_replays->at == gpu.seen;
  }
  bool is_throttled(const std::string& counter, int bits) {
    const GpuSample& gpu = look(counter, bits);
    return gpu.throttled_at == gpu.seen;
  }

  Measured measured_;
};

TEST_F(LinkAndClock, TenRetriesAreARiseHoweverLongTheyTake) {
  EXPECT_FALSE(rises(5000)) << "from before berth looked";
  EXPECT_FALSE(rises(5004));
  EXPECT_FALSE(rises(5009));
  EXPECT_TRUE(rises(5010));
  EXPECT_FALSE(rises(5019));
  EXPECT_TRUE(rises(5040)) << "another storm";
  EXPECT_FALSE(rises(3)) << "the counter began anew";
  EXPECT_TRUE(rises(13));
}

TEST_F(LinkAndClock, OnlyTheHardwaresReasonsAreThrottling) {
  for (const char* counter :
       {"DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "DCGM_FI_DEV_CLOCKS_EVENT_REASONS"}) {
    measured_.samples.nodes.clear();
    for (const int bits : {0x0, 0x1, 0x2, 0x4, 0x10, 0x20, 0x100, 0x125})
      EXPECT_FALSE(is_throttled(counter, bits)) << counter << ' ' << bits;
    for (const int bits : {0x8, 0x40, 0x80, 0x48, 0x68})
      EXPECT_TRUE(is_throttled(counter, bits)) << counter << ' ' << bits;
    const Time last = now();
    EXPECT_EQ(look(counter, 0).throttled_at, last) << "when it was last";
  }
}

TEST_F(LinkAndClock, BitsThatNobodyKnowsAreALie) {
  look("DCGM_FI_DEV_GPU_TEMP", 40);
  EXPECT_FALSE(look("DCGM_FI_DEV_CLOCKS_EVENT_REASONS", 8e9).throttled_at);
}

}  // namespace
}  // namespace berth::test
