// SPDX-License-Identifier: Apache-2.0
// Admissions whose node becomes unavailable before they are carried out.
#include "tests/queue/admissions_fixture.h"

namespace berth::queue {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

class LostPlacesTest : public AdmissionsTest {
 protected:
  void cordon(const std::string& name, bool cordoned = true) {
    Node node = node_of(name, 8);
    node.unschedulable = cordoned;
    add(node);
  }
  LedgerFact entry() const {
    const auto& entries = read_admissions(snapshot()).entries;
    return entries.empty() ? LedgerFact() : entries.begin()->second;
  }
  // The keys that the ledger's next write makes due.
  std::vector<std::string> due_of_decision() {
    const ConfigMap before = *ledger();
    decide();
    return queue_keys_for(cluster, settings, &before, ledger());
  }
};

TEST_F(LostPlacesTest, AJobIsLetGoNoMoreAndDecidedAnewOnceNothingCanArrive) {
  add(job_of("a", "train", 8));
  begin(), decide();
  ASSERT_THAT(entry().admission.nodes, ElementsAre("n1"));
  cordon("n1");
  EXPECT_TRUE(reconcile_release(snapshot(), "Job/a/train").empty());
  decide();
  EXPECT_EQ(entry().until, (now + kRequestTimeout).time_since_epoch().count());
  EXPECT_THAT(entry().admission.nodes, ElementsAre("n1"))
      << "it counts: a release may be under way";
  cordon("n1", false);
  EXPECT_TRUE(reconcile_release(snapshot(), "Job/a/train").empty()) << "given up is given up";
  EXPECT_EQ(reconcile_admissions(snapshot()).requeue_after, kRequestTimeout);

  now += kRequestTimeout;
  EXPECT_THAT(due_of_decision(), Contains("queues")) << "no object has changed, and quota is free";
  EXPECT_THAT(in_flight(), IsEmpty());
  cordon("n1");
  decide();
  EXPECT_THAT(entry().admission.nodes, ElementsAre("n2"));
  EXPECT_FALSE(reconcile_release(snapshot(), "Job/a/train").empty());
}

TEST_F(LostPlacesTest, AGangThatHasBegunToGoGoesOnWithoutThePinThatIsLost) {
  add(member("r0", "2")), add(member("r1", "2"));
  cordon("n2");
  begin(), decide();
  ASSERT_THAT(entry().admission.nodes, ElementsAre("n1", "n1"));
  berth::Pod first = member("r0", "2");
  first.shape.edit()->scheduling_gates.clear();
  first.meta.annotations.set(
      names::kAdmittedAnnotation,
      std::string(body_of(reconcile_release(
          snapshot(), "PodGroup/a/gang"))["metadata"]["annotations"][names::kAdmittedAnnotation]));
  add(first);
  const Plan rest = reconcile_release(snapshot(), "PodGroup/a/gang");
  ASSERT_THAT(rest.objects, SizeIs(1));
  EXPECT_TRUE(body_of(rest)["spec"].contains("affinity")) << "the ledger has a node for it";
  cordon("n1");
  EXPECT_FALSE(
      body_of(reconcile_release(snapshot(), "PodGroup/a/gang"))["spec"].contains("affinity"));
  EXPECT_EQ(entry().until, 0);
}

}  // namespace
}  // namespace berth::queue
