// SPDX-License-Identifier: Apache-2.0
// Heat and other lasting faults take a node out of service once they have lasted, and a restart of
// berth neither hastens that nor returns the node.
#include <gmock/gmock.h>

#include "tests/health/sick_cluster.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;

TEST(HealthOfHotGpus, OneHotMomentIsNoFinding) {
  SickCluster sick(10);
  sick.heat("n3", 0);
  sick.pass(kHotFor - 30s);
  EXPECT_FALSE(sick.record("n3"));
  sick.cool("n3", 0);
  sick.pass(1h);
  EXPECT_FALSE(sick.record("n3"));
}

TEST(HealthOfHotGpus, HeatThatLastsCordons) {
  SickCluster sick(10);
  sick.heat("n3", 0);
  sick.pass(kHotFor);
  EXPECT_TRUE(sick.is_out("n3"));
  EXPECT_EQ(sick.record("n3")->findings, "GPU 0: hotter than 85 °C for 5 minutes");
}

TEST(HealthOfHotGpus, ARestartTimesHeatFromItsFirstLook) {
  SickCluster sick(10);
  sick.heat("n3", 0);
  sick.pass(kHotFor - 30s);
  sick.restart();
  sick.pass(kHotFor - 30s);
  EXPECT_FALSE(sick.is_out("n3"));
  sick.pass(30s);
  EXPECT_TRUE(sick.is_out("n3"));
}

// However long no controller ran: the node was due to return meanwhile, and is hot.
TEST(HealthOfHotGpus, ARestartPutsNoHotNodeBack) {
  for (const Duration away : {Duration(1s), Duration(10min), Duration(5h)}) {
    SickCluster sick(10);
    sick.heat("n3", 0);
    sick.pass(kHotFor);
    ASSERT_TRUE(sick.is_out("n3"));
    sick.now += away;
    sick.restart();
    for (int i = 0; i < 120; ++i) {
      sick.pass(30s);
      ASSERT_TRUE(sick.is_out("n3")) << format_duration_short(away) << " away, look " << i;
    }
    EXPECT_EQ(sick.record("n3")->cordons, 1);
    sick.cool("n3", 0);
    sick.pass(16min);
    EXPECT_FALSE(sick.is_out("n3"));
  }
}

// After the restart, berth also does not know since when the node offers less.
TEST(HealthOfDevices, ARestartPutsNoNodeBackThatOffersLessThanItHas) {
  SickCluster sick(10);
  Node less = sick.node("n3");
  less.capacity.set("nvidia.com/gpu", Quantity::whole(4));
  less.allocatable.set("nvidia.com/gpu", Quantity::whole(3));
  sick.put(std::move(less));
  sick.pass(2min);
  ASSERT_TRUE(sick.is_out("n3"));
  const Node stored = sick.node("n3");
  sick.now += 5h;
  sick.restart();
  sick.cluster.erase<Node>("", "n3");
  sick.put(stored);
  for (int i = 0; i < 10; ++i) {
    sick.pass(30s);
    ASSERT_TRUE(sick.is_out("n3")) << i;
  }
}

}  // namespace
}  // namespace berth::test
