// SPDX-License-Identifier: Apache-2.0
// A health cordon and a slot claim that are planned at the same time never share the last place of
// the budget: both write the ledger, and one is refused.
#include "controller/disruption/health_claims.h"

#include <gmock/gmock.h>

#include "controller/disruption/disruption_budgets.h"
#include "tests/health/sick_cluster.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class ClaimingCluster : public SickCluster {
 public:
  ClaimingCluster() : SickCluster(10) {
    ConfigMap ledger;
    ledger.meta.namespace_ = settings.berth_namespace;
    ledger.meta.name = names::kSlotsConfigMap;
    ledger.meta.uid = "ledger";
    ledger.meta.resource_version = "7";
    cluster.upsert(std::move(ledger), now);
    policy.spec.disruption.max_unavailable = {1, false};
  }
  const SlotLedger& ledger() const { return read_ledger(cluster, settings); }
  // The budget's answer to a layout that claims a node now.
  std::string refusal(const std::string& name) {
    const Snapshot now_is = snapshot();
    const auto refused = DisruptionBudgets(now_is, ledger()).refuse(*cluster.nodes().find(name));
    return refused ? refused->message : "";
  }
};

TEST(HealthClaims, TheLedgerIsWrittenBeforeTheNode) {
  ClaimingCluster sick;
  sick.xid("n3", 1, 79);
  const Plan plan = sick.run();
  EXPECT_TRUE(sick.is_out("n3"));
  ASSERT_EQ(plan.objects.size(), 1u) << "a refused claim drops the cordon";
  const ObjectSteps& steps = plan.objects.front();
  EXPECT_EQ(steps.object.kind, "ConfigMap");
  ASSERT_EQ(steps.steps.size(), 2u);
  EXPECT_EQ(std::get<Write>(steps.steps[0]).object.kind, "ConfigMap");
  EXPECT_THAT(std::get<Write>(steps.steps[0]).body, HasSubstr(R"("resourceVersion":"7")"));
  EXPECT_EQ(std::get<Write>(steps.steps[1]).object.name, "n3");
}

TEST(HealthClaims, AClaimCountsWhileItsCordonIsNotSeen) {
  ClaimingCluster sick;
  EXPECT_EQ(sick.refusal("n5"), "");
  const Node before = sick.node("n3");
  sick.xid("n3", 1, 79);
  sick.run();
  sick.put(before);  // the cordon is in flight
  EXPECT_THAT(sick.refusal("n5"), HasSubstr("allows 1 of the 10 nodes"));
  EXPECT_EQ(sick.refusal("n3"), "") << "it is counted already";
  sick.now += 3min;
  EXPECT_EQ(sick.refusal("n5"), "") << "what has not come by now never does";
}

TEST(HealthClaims, SeveralGoAtOnceAndOldOnesAreForgotten) {
  ClaimingCluster sick;
  sick.policy.spec.disruption.max_unavailable = {5, false};
  sick.policy.spec.health.max_unhealthy_fraction = {50, true};
  for (const char* name : {"n1", "n2", "n3"}) sick.xid(name, 0, 79);
  sick.run();
  for (const char* name : {"n1", "n2", "n3"}) EXPECT_TRUE(sick.is_out(name)) << name;
  EXPECT_EQ(HealthClaims(sick.ledger(), sick.now).size(), 3u);
  sick.pass(3min);
  sick.xid("n4", 0, 79);
  sick.run();
  EXPECT_EQ(HealthClaims(sick.ledger(), sick.now).size(), 1u);
}

TEST(HealthClaims, WhereNobodyIsCordonedTheLedgerIsLeftAlone) {
  ClaimingCluster sick;
  EXPECT_TRUE(sick.run().empty()) << "nothing is wrong";
  sick.gpu("n3", 1).throttled_at = sick.now;
  const Plan plan = sick.run();
  EXPECT_TRUE(sick.record("n3"));
  ASSERT_EQ(plan.objects.size(), 1u);
  EXPECT_EQ(plan.objects.front().object.kind, "Node") << "what is only told claims nothing";
}

TEST(HealthClaims, WhatIsNoClaimIsNone) {
  ClaimingCluster sick;
  ConfigMap ledger = *sick.ledger().config_map;
  ledger.meta.annotations.set(names::kHealthClaimsAnnotation, "n1,n2=,=x,n3=soon,,");
  sick.cluster.upsert(std::move(ledger), sick.now);
  EXPECT_EQ(HealthClaims(sick.ledger(), sick.now).size(), 0u);
}

}  // namespace
}  // namespace berth::test
