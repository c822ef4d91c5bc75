// SPDX-License-Identifier: Apache-2.0
// The PriorityClasses of the policy: which berth creates, which it re-creates, and what it counts.
#include "controller/policy/priority_classes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "tests/mig/planned_cluster.h"
#include "tests/policy/policy_yaml.h"

namespace berth::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct PriorityClassesTest : ::testing::Test {
  PriorityClass made() {
    PriorityClass made;
    made.meta.name = "high";
    made.meta.uid = "uid-high";
    made.value = 7;
    made.preemption_policy = "Never";
    made.meta.annotations.set(names::kOwnerAnnotation, "GPUClusterPolicy/cluster");
    return made;
  }
  // "delete high: why; 1 changing, 1 standing"
  std::string told(const PriorityClass& standing) {
    world.add(standing);
    const Snapshot snapshot = world.snapshot();
    Plan plan;
    const PriorityClassPlan out = plan_priority_classes(snapshot, of, plan);
    std::string text;
    for (const ObjectSteps& object : plan.objects) {
      const Write& write = std::get<Write>(object.steps.front());
      EXPECT_EQ(write.field_manager, names::kManagerPolicy);
      text += fmt::format("{} {}: {}; ", to_string(write.verb), write.object.name, write.reason);
    }
    return fmt::format("{}{} changing, {} standing", text, out.changing, out.standing);
  }
  PlannedCluster world;
  GPUClusterPolicy of = policy("priorityClasses: [{name: high, value: 7}]");
};

TEST_F(PriorityClassesTest, OneThatIsNotAsThePolicyHasItIsMadeAnew) {
  EXPECT_EQ(told(made()), "0 changing, 1 standing");
  PriorityClass other = made();
  other.value = 8;
  const char* anew =
      "delete high: its value becomes 7, which only a new one can have; 1 changing, 1 standing";
  EXPECT_EQ(told(other), anew);
  other = made();
  other.preemption_policy = "PreemptLowerPriority";
  EXPECT_EQ(told(other), anew);
  other = made();
  other.global_default = true;
  EXPECT_EQ(told(other), anew);
  other.meta.deletion_timestamp = Time{};
  EXPECT_EQ(told(other), "1 changing, 1 standing") << "it is on its way out";
}

TEST_F(PriorityClassesTest, OneThatIsMissingIsMadeAndOneTooManyGoes) {
  PriorityClass old = made();
  old.meta.name = "old";
  EXPECT_EQ(told(old),
            "create high: the policy names it in spec.priorityClasses; delete old: the policy does "
            "not name it any more; 2 changing, 1 standing");
  of.meta.deletion_timestamp = Time{};
  EXPECT_EQ(told(old), "delete old: the policy does not name it any more; 1 changing, 1 standing");
}

TEST_F(PriorityClassesTest, OnlyTheyKeepThePolicyFromGoing) {
  of.meta.deletion_timestamp = world.now;
  of.spec.deletion_policy = PolicyDeletion::kRemove;
  world.add(of).add(made());
  EXPECT_THAT(print(world.plan("policy")), testing::Not(HasSubstr("remove the finalizer")));
  world.cluster.erase<PriorityClass>("", "high");
  EXPECT_THAT(print(world.plan("policy")), HasSubstr("remove the finalizer"));
  of.meta.finalizers.clear();
  world.add(of);
  EXPECT_THAT(print(world.plan("policy")), testing::Not(HasSubstr("finalizer")));
}

TEST_F(PriorityClassesTest, APolicyThatBreaksItsRulesIsStalledAndPlansNothing) {
  of.spec.agents.device_plugin_config_map = of.spec.agents.mig_manager_config_map;
  world.add(of);
  const Plan plan = world.plan("policy");
  EXPECT_THAT(plan.objects, IsEmpty());
  ASSERT_EQ(plan.statuses.size(), 1u);
  for (const char* condition :
       {R"("type":"Ready","status":"False")", R"("type":"Stalled","status":"True")"})
    EXPECT_THAT(plan.statuses[0].body, AllOf(HasSubstr(condition), HasSubstr("PolicyInvalid")));
}

}  // namespace
}  // namespace berth::test
