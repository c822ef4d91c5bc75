// SPDX-License-Identifier: Apache-2.0
// Which pods a policy speaks against: those that were there before and are still, and what has
// become otherwise for them.
#include "controller/preview/policy_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/builders.h"

namespace berth {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Pool lab is node n1, before and after.
class PolicySummaryTest : public testing::Test {
 protected:
  PolicySummaryTest() {
    policy_.meta.name = policy_.meta.uid = limits::kPolicyName;
    PoolSpec& lab = policy_.spec.pools.emplace_back();
    lab.name = "lab";
    lab.node_selector.match_labels["tier"] = "lab";
    put(policy_), put(n1_), put(namespace_of("team-a", "nlp")), put(namespace_of("b", "vision"));
  }
  static Namespace namespace_of(const std::string& name, const std::string& team) {
    Namespace made;
    made.meta.name = name;
    made.meta.labels.set("team", team);
    return made;
  }
  template <class T>
  void put(const T& object) {
    before_.upsert(object, Time()), after_.upsert(object, Time());
  }
  void put(const test::PodBuilder& pod) { put(Pod(pod)); }
  void taint(const char* effect) {
    n1_.taints = {{"gpu", "lab", effect}};
    after_.upsert(n1_, Time());
  }
  void open_to(const std::string& team, ClusterState& cluster) {
    GPUClusterPolicy policy = policy_;
    policy.spec.pools[0].eligible_namespaces.emplace().match_labels["team"] = Text(team);
    cluster.upsert(std::move(policy), Time());
  }
  std::vector<PodConcern> concerns() {
    const Answers answers;
    const Settings settings;
    const Snapshot after{
        .cluster = after_, .answers = answers, .settings = settings, .offline = true};
    return summarize_policy(before_, after, Time(), true)->pods;
  }

  GPUClusterPolicy policy_;
  Node n1_ = test::node("n1").a100_80(4).label("tier", "lab").label(names::kPoolLabel, "lab");
  ClusterState before_, after_;
};

TEST_F(PolicySummaryTest, ATaintThatComesSpeaksAgainstThePodsThatStay) {
  put(test::pod("stays").gpu(1).on("n1"));
  put(test::pod("cpu").on("n1"));
  put(test::pod("agent").gpu(1).on("n1").owner("DaemonSet", "agents"));
  Pod tolerant = test::pod("tolerant").gpu(1).on("n1");
  tolerant.shape.edit()->tolerations = {{.key = "gpu", .op = "Exists"}};
  put(tolerant);
  taint("NoSchedule");
  const std::vector<PodConcern> told = concerns();
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].kind, PodConcern::Kind::kNotTolerant);
  EXPECT_EQ(told[0].pool, "lab");
  EXPECT_THAT(told[0].nodes, ElementsAre("n1"));
  EXPECT_THAT(told[0].pods, ElementsAre("team-a/stays"));
  EXPECT_THAT(told[0].message, HasSubstr("do not tolerate gpu=lab:NoSchedule"));
}

TEST_F(PolicySummaryTest, OfWhoeverHasComeToTheNodeSinceNothingIsSaid) {
  after_.upsert<Pod>(test::pod("new").gpu(1).on("n1"), Time());
  Pod anew = test::pod("anew").gpu(1).on("n1");
  before_.upsert(anew, Time());
  anew.meta.uid += "+";
  after_.upsert(anew, Time());
  before_.upsert<Pod>(test::pod("moved").gpu(1).on("n2"), Time());
  after_.upsert<Pod>(test::pod("moved").gpu(1).on("n1"), Time());
  taint("NoSchedule");
  EXPECT_THAT(concerns(), IsEmpty());
}

TEST_F(PolicySummaryTest, ATaintThatWasThereOrKeepsNobodyOffIsNoNews) {
  put(test::pod("stays").gpu(1).on("n1"));
  taint("PreferNoSchedule");
  EXPECT_THAT(concerns(), IsEmpty());
  taint("NoSchedule");
  EXPECT_THAT(concerns(), SizeIs(1));
  before_.upsert(n1_, Time());
  EXPECT_THAT(concerns(), IsEmpty());
}

TEST_F(PolicySummaryTest, APoolThatClosesSpeaksAgainstTheStrangersInIt) {
  put(test::pod("stays").gpu(1).on("n1")), put(test::pod("other").in("b").gpu(1).on("n1"));
  EXPECT_THAT(concerns(), IsEmpty());
  open_to("vision", after_);
  const std::vector<PodConcern> told = concerns();
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].kind, PodConcern::Kind::kNotEligible);
  EXPECT_THAT(told[0].pods, ElementsAre("team-a/stays"));
  open_to("vision", before_);
  EXPECT_THAT(concerns(), IsEmpty()) << "they were strangers before";
  Node elsewhere = n1_;
  elsewhere.meta.labels.erase(names::kPoolLabel);
  before_.upsert(elsewhere, Time());
  EXPECT_THAT(concerns(), SizeIs(1)) << "the node was in no pool";
}

TEST_F(PolicySummaryTest, PodsThatHoldMoreThanWillExistAreToldTogether) {
  put(test::pod("one").gpu(1).on("n1")), put(test::pod("two").gpu(2).on("n1"));
  put(test::pod("mig").requests("nvidia.com/mig-1g.10gb", 1).on("n1"));
  const auto offer = [&](std::int64_t gpus) {
    n1_.allocatable.set("nvidia.com/gpu", Quantity::whole(gpus));
    after_.upsert(n1_, Time());
  };
  offer(3);
  EXPECT_THAT(concerns(), IsEmpty());
  offer(2);
  const std::vector<PodConcern> told = concerns();
  ASSERT_THAT(told, SizeIs(1)) << "of mig-1g.10gb there was none before";
  EXPECT_EQ(told[0].kind, PodConcern::Kind::kHoldsMoreThanExists);
  EXPECT_THAT(told[0].message, HasSubstr("hold 3 of nvidia.com/gpu where 2 will exist"));
  EXPECT_THAT(told[0].pods, ElementsAre("team-a/one", "team-a/two"));
  before_.upsert(n1_, Time());
  EXPECT_THAT(concerns(), IsEmpty()) << "there were no more before";
}

}  // namespace
}  // namespace berth
