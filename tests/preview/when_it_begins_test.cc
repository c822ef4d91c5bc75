// SPDX-License-Identifier: Apache-2.0
// What a plan says of a Job that is yet to come: when it begins, whom it displaces, what they lose,
// and when their room is free again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "controller/preview/json_queues.h"
#include "controller/preview/queue_outlook.h"
#include "controller/preview/text_queues.h"
#include "tests/queue/queue_objects.h"

namespace berth {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

// All of n1 runs a Job of nlp, which owns nothing, for three hours already.
class WhenItBegins : public ::testing::Test {
 protected:
  WhenItBegins() {
    add(queue::policy_with("training")), add(queue::node_of("n1", 8));
    add(queue::namespace_of("a", "vision")), add(queue::namespace_of("b", "nlp"));
    add(queue::queue_of("vision", 8)), add(queue::queue_of("nlp", 0));
    Job runs = queue::job_of("b", "eval", 8);
    runs.suspended = false;
    runs.active_deadline_seconds = 5 * 3600;
    runs.start_time = now - 3h;
    const queue::AdmissionFact fact{.uid = "eval",
                                    .queue = "nlp",
                                    .cohort = "research",
                                    .pool = "training",
                                    .amounts = {{"nvidia.com/gpu", 8}},
                                    .since = (now - 3h).time_since_epoch().count()};
    runs.meta.annotations.set(names::kAdmittedAnnotation, queue::encode_admission(fact));
    add(runs);
  }
  template <class T>
  void add(T object) {
    cluster.upsert(std::move(object), now);
  }
  void let_reclaim() {
    GPUQueue vision = queue::queue_of("vision", 8);
    vision.spec.preemption.reclaim_within_cohort = ReclaimWithinCohort::kAny;
    add(vision);
  }
  QueueOutlook ask(std::optional<std::int64_t> deadline) const {
    Job job = queue::job_of("a", "urgent", 8);
    job.suspended = false;
    job.active_deadline_seconds = deadline;
    GivenQueues given;
    given.workloads.push_back({job, ""});
    return foresee_queues(cluster, given, now);
  }

  ClusterState cluster;
  Time now = *parse_time("2026-11-21T12:00:00Z");
};

TEST_F(WhenItBegins, OfWhatWaitsARange) {
  const QueueOutlook outlook = ask(3600);
  ASSERT_THAT(outlook.asked, SizeIs(1));
  EXPECT_THAT(outlook.asked[0].verdict.displaced, IsEmpty());
  EXPECT_THAT(print_text(outlook),
              HasSubstr("  it begins between now and 2026-11-21T14:00:00Z, as far as declared run "
                        "times and those of finished Jobs tell\n"));
  const auto start = encode_queues(outlook)["asked"][0]["start"];
  EXPECT_EQ(start["earliest"], "2026-11-21T12:00:00Z");
  EXPECT_EQ(start["latest"], "2026-11-21T14:00:00Z");
}

TEST_F(WhenItBegins, OfWhatWaitsForTheUndeclaredWhoThatIs) {
  Job runs = *cluster.jobs().find("b", "eval");
  runs.active_deadline_seconds.reset();
  add(runs);
  const QueueOutlook outlook = ask(3600);
  EXPECT_THAT(print_text(outlook),
              HasSubstr("  when it begins is unknown: Job/b/eval declares no run time; set "
                        "activeDeadlineSeconds on Jobs\n"));
  EXPECT_EQ(encode_queues(outlook)["asked"][0]["start"]["latest"], nullptr);
}

TEST_F(WhenItBegins, OfWhatDisplacesOthersWhatTheyLose) {
  let_reclaim();
  const QueueOutlook outlook = ask(7200);
  const std::string text = print_text(outlook);
  EXPECT_THAT(text, HasSubstr("Job/a/urgent: would be admitted to queue vision, in pool training"));
  EXPECT_THAT(text,
              HasSubstr("  displaces Job/b/eval of queue nlp, which loses 24h of GPU time that "
                        "it has not saved\n"
                        "  what it takes from others is free again at 2026-11-21T14:00:00Z, "
                        "or sooner\n"));
  const auto asked = encode_queues(outlook)["asked"][0];
  EXPECT_EQ(asked["displaced"][0]["workload"], "Job/b/eval");
  EXPECT_EQ(asked["displaced"][0]["queue"], "nlp");
  EXPECT_EQ(asked["displaced"][0]["lostGPUSeconds"], 3 * 8 * 3600);
  EXPECT_EQ(asked["ended"], "2026-11-21T14:00:00Z");
  EXPECT_EQ(asked["start"], nullptr);
}

TEST_F(WhenItBegins, WithoutADeclaredTimeNobodyKnowsWhenRoomComesBack) {
  let_reclaim();
  EXPECT_THAT(print_text(ask({})),
              HasSubstr("  nobody can say when what it takes from others is free again: it has no "
                        "activeDeadlineSeconds\n"));
}

}  // namespace
}  // namespace berth
