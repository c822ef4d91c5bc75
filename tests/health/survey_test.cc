// SPDX-License-Identifier: Apache-2.0
// Which nodes are checked because of present or past findings, and when there are too many.
#include "controller/health/survey.h"

#include <gmock/gmock.h>

#include "tests/health/sick_cluster.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class Surveyed : public SickCluster {
 public:
  Surveyed() : SickCluster(10) {}
  HealthSurvey survey() const { return survey_health(snapshot(), policy); }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const NodeHealth& health : survey().nodes) names.push_back(health.node->meta.name);
    return names;
  }
  void keep(const std::string& name, HealthPhase phase) {
    Node kept = node(name);
    HealthRecord record{.phase = phase, .node_uid = kept.meta.uid};
    record.since = record.last = now;
    kept.meta.annotations.set(names::kHealthAnnotation, encode_health(record));
    kept.unschedulable = phase == HealthPhase::kCordoned;
    put(std::move(kept));
  }
};

TEST(HealthSurvey, IsOfNodesWithATroubleOrARecordAlone) {
  Surveyed sick;
  EXPECT_THAT(sick.names(), IsEmpty());
  EXPECT_THAT(sick.survey().pools, IsEmpty()) << "a fleet that is well is not counted";
  sick.xid("n7", 0, 79);
  sick.keep("n2", HealthPhase::kRecovered);
  EXPECT_THAT(sick.names(), ElementsAre("n2", "n7"));
  const PoolHealth& pool = sick.survey().pools.at(&sick.policy.spec.pools.front());
  EXPECT_EQ(pool.nodes, 10);
  EXPECT_EQ(pool.faulty, 1);
  EXPECT_EQ(pool.limit, 2);
  sick.put(NodeBuilder("cpu"));
  sick.keep("cpu", HealthPhase::kReported);
  EXPECT_THAT(sick.names(), ElementsAre("n2", "n7")) << "it has no GPUs";
  sick.policy.spec.pools.front().node_selector.match_labels = {{"kubernetes.io/hostname", "n2"}};
  EXPECT_THAT(sick.names(), ElementsAre("n2")) << "n7 is of no pool";
}

TEST(HealthSurvey, CountsWhatIsWrongNowOrOutForIt) {
  Surveyed sick;
  sick.keep("n1", HealthPhase::kReported);
  sick.keep("n2", HealthPhase::kOverruled);
  EXPECT_EQ(sick.survey().unhealthy(), 0) << "nothing is found any more";
  sick.keep("n3", HealthPhase::kCordoned);
  EXPECT_EQ(sick.survey().unhealthy(), 1);
  sick.gpu("n4", 1).throttled_at = sick.now;
  EXPECT_EQ(sick.survey().unhealthy(), 2);
  EXPECT_EQ(sick.survey().pools.begin()->second.faulty, 1) << "a throttled one stays in service";
}

TEST(HealthSurvey, RefusesPoolsWithMoreThanTheirFraction) {
  Surveyed sick;
  const auto refused = [&] { return sick.survey().refuse(sick.policy.spec.pools.front()); };
  EXPECT_FALSE(refused());
  sick.xid("n1", 0, 79);
  sick.keep("n2", HealthPhase::kCordoned);
  EXPECT_FALSE(refused()) << "two of ten are allowed";
  EXPECT_FALSE(sick.survey().told());
  sick.xid("n3", 0, 79);
  ASSERT_TRUE(refused());
  EXPECT_THAT(refused()->message,
              testing::HasSubstr("3 of the 10 nodes of pool all look broken, and "
                                 "spec.health.maxUnhealthyFraction is 2 of them"));
  EXPECT_EQ(sick.survey().told()->message, refused()->message);
  const PoolSpec other;
  EXPECT_FALSE(sick.survey().refuse(other)) << "a pool in which nothing is wrong";
}

TEST(HealthSurvey, LooksAgainWhenTheFirstOfThemIsSteady) {
  Surveyed sick;
  EXPECT_FALSE(sick.survey().next_in);
  for (const char* name : {"n5", "n3", "n8"}) {
    Node node = sick.node(name);
    node.capacity.set("nvidia.com/gpu", Quantity::whole(4));
    node.allocatable.set("nvidia.com/gpu", Quantity::whole(3));
    sick.put(std::move(node));
    sick.now += 10s;
  }
  EXPECT_EQ(sick.survey().next_in, Duration(30s)) << "n5 has been so for thirty seconds";
}

}  // namespace
}  // namespace berth::test
