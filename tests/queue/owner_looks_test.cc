// SPDX-License-Identifier: Apache-2.0
// If the controller of a gang would fail because of an eviction, the gang stays. Otherwise berth
// reads the controller live right before it requeues the gang.
#include "controller/queue/recall/owner_looks.h"

#include "apis/base/reasons.h"
#include "controller/queue/recall/requeue.h"
#include "tests/queue/recall_fixture.h"

namespace berth::queue {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

class OwnerLooksTest : public RecallTest {
 protected:
  void drain_queue() {
    GPUQueue queue = queue_of("vision", 16);
    queue.spec.stop_policy = StopPolicy::kHoldAndDrain;
    add(queue);
  }
  void want_ready(Duration within) {
    GPUQueue queue = queue_of("vision", 16);
    queue.spec.pods_ready_timeout = within;
    add(queue);
  }
  // Nothing of it is evicted or marked, and its event says why.
  void expect_kept(const char* trigger, const char* why) {
    EXPECT_THAT(done(kGang), IsEmpty());
    EXPECT_THAT(marks(), IsEmpty());
    const Plan told = plan(kGang);
    ASSERT_THAT(told.events, SizeIs(1));
    EXPECT_EQ(told.events[0].reason, reasons::kGangStays);
    EXPECT_TRUE(told.events[0].warning);
    EXPECT_THAT(told.events[0].note, AllOf(HasSubstr(trigger), HasSubstr(why)));
  }
  // The steps around the ledger's write: "read TFJob/a/tf", "write".
  std::vector<std::string> steps_of_ledger() {
    std::vector<std::string> steps;
    for (const ObjectSteps& object : plan(kGang).objects)
      for (const Step& step : object.steps) {
        if (object.object.kind != "ConfigMap") continue;
        const auto* look = std::get_if<Guard>(&step);
        steps.push_back(look != nullptr ? "read " + look->node.str() : "write");
      }
    return steps;
  }
};

constexpr char kWouldFail[] = "TFJob a/tf would fail";

TEST_F(OwnerLooksTest, ANodeThatGoesTakesNoGangThatWouldFail) {
  start_gang(), give_to_tf_job(), give_notice("n1");
  EXPECT_EQ(read_tf_job(""), 1u) << "once for all of its pods";
  expect_kept("node n1 is about to go", kWouldFail);
}

TEST_F(OwnerLooksTest, ADrainedQueueKeepsAGangThatWouldFail) {
  start_gang(), give_to_tf_job(), drain_queue();
  EXPECT_EQ(read_tf_job("Never"), 1u);
  answer(true);
  expect_kept("queue vision is drained", kWouldFail);
}

TEST_F(OwnerLooksTest, AGangThatIsNotReadyInTimeStaysIfItWouldFail) {
  want_ready(10min);
  start_gang(), give_to_tf_job();
  now += 10min;
  EXPECT_EQ(read_tf_job("Never"), 1u);
  answer(true);
  expect_kept("not been Ready in time", kWouldFail);
}

TEST_F(OwnerLooksTest, AGangOfAKindThatIsNotKnownStaysWithoutARead) {
  start_gang(), give_to_tf_job();
  for (const char* name : {"g0", "g1"}) {
    berth::Pod pod = *cluster.pods().find("a", name);
    pod.meta.owner_references[0].api_version = "argoproj.io/v1alpha1";
    pod.meta.owner_references[0].kind = "Workflow";
    add(pod);
  }
  give_notice("n1");
  EXPECT_THAT(plan(kGang).objects, IsEmpty());
  expect_kept("node n1 is about to go", "berth does not know whether Workflow a/tf");
}

TEST_F(OwnerLooksTest, WithoutTheRightToReadItStaysAndTheEventNamesTheRight) {
  start_gang(), give_to_tf_job(), give_notice("n1");
  EXPECT_EQ(read_owners(Error{.kind = ErrorKind::kForbidden}), 1u);
  expect_kept("node n1 is about to go", "grant get on tfjobs.kubeflow.org");
}

TEST_F(OwnerLooksTest, AGangThatIsCreatedAgainGoesAndIsReadOnceMoreRightBefore) {
  start_gang(), give_to_tf_job(), give_notice("n1");
  EXPECT_THAT(done(kGang), IsEmpty()) << "it is read first";
  EXPECT_EQ(read_tf_job("ExitCode"), 1u);
  answer(true);
  EXPECT_THAT(steps_of_ledger(), ElementsAre("read TFJob/a/tf", "write"));
  take_ledger(plan(kGang));
  EXPECT_THAT(marks(), SizeIs(1));
  EXPECT_THAT(done(kGang), ElementsAre("evict g0", "evict g1"));
}

// Another leader may find the mark much later, and a user may have edited the job.
TEST_F(OwnerLooksTest, AMarkThatIsFoundLaterEvictsNobodyUnread) {
  start_gang(), give_to_tf_job(), give_notice("n1");
  read_tf_job("OnFailure");
  answer(true);
  take_ledger(plan(kGang));
  ASSERT_THAT(marks(), SizeIs(1));
  now += 31s;
  EXPECT_THAT(done(kGang), IsEmpty());
  EXPECT_EQ(read_tf_job("Never"), 1u);
  EXPECT_THAT(done(kGang), IsEmpty());
  now += 31s;
  EXPECT_EQ(read_tf_job("OnFailure"), 1u);
  EXPECT_THAT(done(kGang), ElementsAre("evict g0", "evict g1"));
}

TEST_F(OwnerLooksTest, ARefusalIsReadAgainBeforeItIsForgotten) {
  start_gang(), give_to_tf_job(), give_notice("n1");
  read_tf_job("Never");
  EXPECT_EQ(read_tf_job("Never"), 0u) << "the answer counts for a while";
  now += 31s;
  EXPECT_THAT(done(kGang), IsEmpty());
  EXPECT_EQ(read_tf_job("OnFailure"), 1u);
  answer(true);
  EXPECT_THAT(steps_of_ledger(), ElementsAre("read TFJob/a/tf", "write"));
}

// The deletion of a pod that has not started fails no job. If it has started since, the eviction
// fails.
TEST_F(OwnerLooksTest, APodOnNoNodeIsEvictedOnlyAsItWasSeen) {
  berth::Pod pod = member_of("g0", "");
  pod.meta.resource_version = "77";
  EXPECT_EQ(evict_pod(pod, "test").resource_version, "77");
  pod.node_name = "n1";
  EXPECT_EQ(evict_pod(pod, "test").resource_version, "");
}

TEST_F(OwnerLooksTest, ADrainedQueueKeepsASinglePodThatWouldFailItsJob) {
  start_gang();
  berth::Pod pod = released("solo", "n1");
  pod.never_restarts = true;
  pod.meta.owner_references = {{.api_version = "kubeflow.org/v1",
                                .kind = "TFJob",
                                .name = "tf",
                                .uid = "tf",
                                .controller = true}};
  bind(pod, "n1");
  drain_queue();
  const auto steps = [&] {
    std::vector<std::string> out;
    for (const ObjectSteps& object : plan("Pod/a/solo").objects)
      for (const Step& step : object.steps)
        out.push_back(std::holds_alternative<Guard>(step) ? "read"
                      : std::holds_alternative<Ask>(step) ? "ask"
                                                          : "evict");
    return out;
  };
  EXPECT_THAT(steps(), ElementsAre("read", "ask", "evict")) << "a refusal drops the rest";
  const Guard look = std::get<Guard>(plan("Pod/a/solo").objects[0].steps[0]);
  answers.put(question(look),
              {.error = {ErrorKind::kConflict, "TFJob a/tf would fail"}, .at = now});
  EXPECT_THAT(steps(), IsEmpty());
  const Plan told = plan("Pod/a/solo");
  ASSERT_THAT(told.events, SizeIs(1));
  EXPECT_EQ(told.events[0].reason, reasons::kPodKept);
  EXPECT_THAT(told.events[0].note, HasSubstr(kWouldFail));
}

}  // namespace
}  // namespace berth::queue
