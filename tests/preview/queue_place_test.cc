// SPDX-License-Identifier: Apache-2.0
// Where an admission puts a workload, as it is told: nodes by name, and the narrowest domain that
// all of them are in.
#include "controller/preview/queue_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Nodes come as they come: n2 before n1.
class QueuePlaceTest : public testing::Test {
 protected:
  QueuePlaceTest() {
    facts_.put(queue::TopologyFact{{"zone", "rack"}});
    put("n2", "z1", "r1"), put("n1", "z1", "r1");
    put("n3", "z1", "r2"), put("n4", "z2", "r1"), put("n5", "z1", "");
  }
  void put(const char* node, const char* zone, const char* rack) {
    facts_.put(queue::NodeFact{.name = node, .domains = {zone, rack}});
  }
  queue::NodeId id(const std::string& name) const {
    for (const queue::NodeId node : facts_.room().in_order())
      if (facts_.room().node_name(node) == name) return node;
    ADD_FAILURE() << name;
    return 0;
  }
  QueuePlace pinned_to(std::vector<std::string> nodes) const {
    return place_of(queue::AdmissionFact{.nodes = std::move(nodes)}, facts_);
  }

  queue::FactsIndex facts_;
};

TEST_F(QueuePlaceTest, NodesAreToldByNameInWhateverOrderTheyCame) {
  EXPECT_THAT(pinned_to({"n2", "n1"}).nodes, ElementsAre("n1", "n2"));
  const queue::Admission decided{.nodes = {{0, id("n2")}, {0, id("n1")}, {1, id("n2")}}};
  EXPECT_THAT(place_of(decided, facts_).nodes, ElementsAre("n1", "n2")) << "each once";
  EXPECT_EQ(where(place_of(decided, facts_)), "on n1, n2, in rack r1");
}

TEST_F(QueuePlaceTest, TheDomainIsTheNarrowestThatAllAreIn) {
  EXPECT_EQ(where(pinned_to({"n1"})), "on n1, in rack r1");
  EXPECT_EQ(where(pinned_to({"n1", "n3"})), "on n1, n3, in zone z1");
  EXPECT_EQ(where(pinned_to({"n1", "n4"})), "on n1, n4") << "racks of one name in two zones";
  EXPECT_EQ(where(pinned_to({"n5"})), "on n5, in zone z1") << "it is in no rack";
  EXPECT_EQ(where(pinned_to({"n1", "n5"})), "on n1, n5, in zone z1");
}

TEST_F(QueuePlaceTest, WhereKubeSchedulerChoosesOrANodeIsGoneNoneIsTold) {
  EXPECT_EQ(where(pinned_to({})), "");
  EXPECT_THAT(pinned_to({"gone"}).nodes, IsEmpty());
  EXPECT_EQ(where(pinned_to({"gone", "n1"})), "on n1, in rack r1");
  EXPECT_EQ(where(place_of(queue::Admission{}, facts_)), "");
  EXPECT_EQ(where(place_of(queue::Admission{.to_come = true}, facts_)),
            "on nodes that the pool is yet to get");
}

TEST_F(QueuePlaceTest, WhatKeptItFromANarrowerDomainIsTold) {
  const queue::Admission decided{
      .pods = 16, .nodes = {{0, id("n1")}, {0, id("n3")}}, .narrower = queue::Narrower{1, 12}};
  EXPECT_EQ(why_not_narrower(place_of(decided, facts_)),
            "the best rack has room for 12 of its 16 pods");
  EXPECT_EQ(why_not_narrower(pinned_to({"n1", "n3"})), "");
}

}  // namespace
}  // namespace berth
