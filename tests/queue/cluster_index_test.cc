// SPDX-License-Identifier: Apache-2.0
// The index over Kubernetes' objects: which queue they are in, what decides it, and that the order
// of their arrival does not matter.
#include "controller/queue/index/cluster_index.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/queue/cycle/queue_report.h"
#include "tests/queue/queue_objects.h"

namespace berth::queue {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// The report for each pending workload: "Job/a/x: Admissible, …".
std::vector<std::string> told(const ClusterIndex& index) {
  const Survey survey(index.facts(), 100);
  std::vector<std::string> lines;
  for (const auto& [name, fact] : index.facts().queues())
    for (const Waiting& waiting : survey.find(name)->waiting)
      lines.push_back(fmt::format("{} {}. {}: {}", name, waiting.position, *waiting.workload->name,
                                  reason_of(waiting.outcome)));
  return lines;
}

class ClusterIndexTest : public ::testing::Test {
 protected:
  template <class T>
  void add(const T& object) {
    index_.follow(Change<T>{nullptr, &object});
  }

  Namespace a_ = namespace_of("a", "vision");
  GPUQueue vision_ = queue_of("vision", 4);
  GPUQueue nlp_ = queue_of("nlp", 4);
  Node node_ = node_of("n1", 8);
  GPUClusterPolicy policy_ = policy_with("training");
  berth::Job job_ = job_of("a", "x", 6);
  ClusterIndex index_;
};

TEST_F(ClusterIndexTest, NoOrderOfComingLeavesATrace) {
  std::vector<std::function<void(ClusterIndex&)>> steps{
      [&](ClusterIndex& of) {
        of.follow(Change<Namespace>{nullptr, &a_});
      },
      [&](ClusterIndex& of) {
        of.follow(Change<GPUQueue>{nullptr, &vision_});
      },
      [&](ClusterIndex& of) {
        of.follow(Change<GPUQueue>{nullptr, &nlp_});
      },
      [&](ClusterIndex& of) {
        of.follow(Change<Node>{nullptr, &node_});
      },
      [&](ClusterIndex& of) {
        of.follow(Change<GPUClusterPolicy>{nullptr, &policy_});
      },
      [&](ClusterIndex& of) {
        of.follow(Change<berth::Job>{nullptr, &job_});
      }};
  std::mt19937 random(7);
  for (int round = 0; round < 100; ++round) {
    std::ranges::shuffle(steps, random);
    ClusterIndex index;
    for (const auto& step : steps) step(index);
    ASSERT_THAT(told(index), ElementsAre("vision 1. Job/a/x: Admissible")) << round;
  }
}

TEST_F(ClusterIndexTest, AWorkloadFollowsItsNamespaceAndItsLabel) {
  add(a_), add(vision_), add(nlp_), add(node_), add(policy_), add(job_);
  EXPECT_THAT(index_.namespaces(), ElementsAre(Pair("vision", ElementsAre("a"))));

  const Namespace moved = namespace_of("a", "nlp");
  index_.follow(Change<Namespace>{&a_, &moved});
  EXPECT_THAT(told(index_), ElementsAre("nlp 1. Job/a/x: Admissible"));

  berth::Job labelled = job_;
  labelled.meta.labels.set(names::kQueueLabel, "vision");
  index_.follow(Change<berth::Job>{&job_, &labelled});
  EXPECT_THAT(told(index_), IsEmpty()) << "vision does not select the namespace any more";
  index_.follow(Change<Namespace>{&moved, &a_});
  EXPECT_THAT(told(index_), ElementsAre("vision 1. Job/a/x: Admissible"));

  index_.follow(Change<GPUQueue>{&vision_, nullptr});
  const Workload* orphan = index_.facts().find("Job/a/x");
  ASSERT_NE(orphan, nullptr);
  EXPECT_EQ(reason_of(Survey(index_.facts(), 0).outcome(*orphan)), reasons::kQueueNotFound);
  index_.follow(Change<berth::Job>{&labelled, nullptr});
  EXPECT_EQ(index_.facts().find("Job/a/x"), nullptr);
}

TEST_F(ClusterIndexTest, TheOldestOfSeveralDefaultsHolds) {
  GPUQueue late = queue_of("late", 4);
  late.spec.namespace_selector = vision_.spec.namespace_selector;
  late.meta.creation_timestamp = vision_.meta.creation_timestamp + std::chrono::seconds(1);
  add(a_), add(late), add(vision_);
  EXPECT_EQ(index_.choice().default_of("a"), &vision_);
  EXPECT_THAT(index_.choice().lost_defaults(), ElementsAre(Pair("late", ElementsAre("a"))));
}

TEST_F(ClusterIndexTest, APoolsNodesFollowThePolicy) {
  add(a_), add(vision_), add(nlp_), add(node_), add(job_);
  EXPECT_THAT(told(index_), ElementsAre("vision 1. Job/a/x: ResourceNotOffered"));
  add(policy_);
  EXPECT_THAT(told(index_), ElementsAre("vision 1. Job/a/x: Admissible"));
  const GPUClusterPolicy other = policy_with("other");
  index_.follow(Change<GPUClusterPolicy>{&policy_, &other});
  EXPECT_THAT(told(index_), ElementsAre("vision 1. Job/a/x: ResourceNotOffered"));
}

// A pod of a Job with another controller is judged by that Job's present spec.
TEST_F(ClusterIndexTest, WhetherAPodCouldStayFollowsItsJob) {
  berth::Job job = job_of("a", "set-0", 1);
  job.meta.owner_references = {{.kind = "JobSet", .name = "set", .uid = "s", .controller = true}};
  job.suspended = false, job.backoff_limit = 1, job.parallelism = 1;
  berth::Pod pod;
  pod.meta.namespace_ = "a";
  pod.meta.name = pod.meta.uid = "p";
  pod.meta.owner_references = {{.api_version = "batch/v1",
                                .kind = "Job",
                                .name = "set-0",
                                .uid = job.meta.uid,
                                .controller = true}};
  pod.shape.edit()->requests.set("nvidia.com/gpu", Quantity::whole(1));
  pod.shape.edit()->scheduling_gates = {names::kQueueGate};
  add(a_), add(vision_), add(pod), add(job);
  const auto stays = [&] { return index_.facts().find("Pod/a/p")->standing.stays; };
  EXPECT_FALSE(stays());
  berth::Job failed = job;
  failed.failed = 1;
  index_.follow(Change<berth::Job>{&job, &failed});
  EXPECT_TRUE(stays());
}

TEST_F(ClusterIndexTest, AQueueThatMixesUnitsStandsStillAlone) {
  GPUQueue mixed = queue_of("nlp", 4);
  mixed.spec.quotas.front().resource = "gpu";
  mixed.meta.creation_timestamp = vision_.meta.creation_timestamp + std::chrono::seconds(1);
  const Namespace b = namespace_of("b", "nlp");
  berth::Job small = job_of("a", "small", 2), theirs = job_of("b", "y", 1);
  add(a_), add(b), add(mixed), add(vision_), add(node_), add(policy_), add(small), add(theirs);
  ASSERT_NE(index_.trouble("nlp"), nullptr);
  EXPECT_EQ(index_.trouble("nlp")->reason, reasons::kMixedQuotaUnits);
  EXPECT_THAT(index_.trouble("nlp")->message, HasSubstr("pool training GPUQueue vision"));
  EXPECT_EQ(index_.trouble("vision"), nullptr);
  EXPECT_THAT(told(index_),
              ElementsAre("nlp 1. Job/b/y: QueueInTrouble", "vision 1. Job/a/small: Admissible"));
}

TEST_F(ClusterIndexTest, APriorityIsItsLabelsOrItsTemplates) {
  PriorityClass high, everybodys;
  high.meta.name = "high";
  high.value = 7;
  everybodys.meta.name = "everybodys";
  everybodys.value = 3;
  everybodys.global_default = true;
  berth::Job plain = job_of("a", "plain", 1), labelled = job_of("a", "labelled", 1),
             classed = job_of("a", "classed", 1);
  labelled.meta.labels.set(names::kPriorityClassLabel, "high");
  classed.priority_class_name = "high";
  vision_.spec.priority_classes = {"high"};
  add(a_), add(vision_), add(plain), add(labelled), add(classed), add(high), add(everybodys);
  const auto priority = [&](const char* name) {
    return index_.facts().find(name)->standing.priority;
  };
  EXPECT_EQ(priority("Job/a/plain"), 3);
  EXPECT_EQ(priority("Job/a/labelled"), 7);
  EXPECT_EQ(priority("Job/a/classed"), 7);
  index_.follow(Change<PriorityClass>{&high, nullptr});
  EXPECT_EQ(priority("Job/a/labelled"), 3);
  EXPECT_EQ(priority("Job/a/classed"), 0);
}

// Tenants can change a label even after the webhook's review.
TEST_F(ClusterIndexTest, AClassThatTheQueueDoesNotAcceptCountsForNothing) {
  PriorityClass critical, urgent, everybodys;
  critical.meta.name = "system-node-critical", critical.value = 2'000'001'000;
  urgent.meta.name = "urgent", urgent.value = 7;
  everybodys.meta.name = "everybodys", everybodys.value = 3, everybodys.global_default = true;
  berth::Job labelled = job_of("a", "labelled", 1), classed = job_of("a", "classed", 1);
  labelled.meta.labels.set(names::kPriorityClassLabel, "system-node-critical");
  classed.priority_class_name = "urgent";
  berth::Pod pod;
  pod.meta.namespace_ = "a";
  pod.meta.name = pod.meta.uid = "pod";
  pod.shape.edit()->requests.set("nvidia.com/gpu", Quantity::whole(1));
  pod.shape.edit()->scheduling_gates = {names::kQueueGate};
  pod.shape.edit()->priority = 7;  // the value of its class
  add(a_), add(vision_), add(critical), add(urgent), add(everybodys);
  add(labelled), add(classed), add(pod);
  const auto priorities = [&] {
    std::vector<std::int32_t> found;
    for (const char* name : {"Job/a/labelled", "Job/a/classed", "Pod/a/pod"})
      found.push_back(index_.facts().find(name)->standing.priority);
    return found;
  };
  EXPECT_THAT(priorities(), ElementsAre(3, 3, 3));
  EXPECT_THAT(
      index_.unaccepted_classes("vision"),
      ElementsAre("a/classed (urgent)", "a/labelled (system-node-critical)", "a/pod (urgent)"));
  GPUQueue lists = vision_;
  lists.spec.priority_classes = {"urgent"};
  index_.follow(Change<GPUQueue>{&vision_, &lists});
  EXPECT_THAT(priorities(), ElementsAre(3, 7, 7));
  EXPECT_THAT(index_.unaccepted_classes("vision"),
              ElementsAre("a/labelled (system-node-critical)"));
  index_.follow(Change<GPUQueue>{&lists, &vision_});
  GPUClusterPolicy makes = policy_;
  makes.spec.priority_classes = {{.name = "urgent", .value = 7}};
  add(makes);
  EXPECT_THAT(priorities(), ElementsAre(3, 7, 7)) << "those that the policy makes";
  index_.follow(Change<berth::Job>{&labelled, nullptr});
  EXPECT_THAT(index_.unaccepted_classes("vision"), ElementsAre());
}

TEST_F(ClusterIndexTest, APriorityThatChangesWhileItWaitsCountsAtOnce) {
  PriorityClass high, low;
  high.meta.name = "high", low.meta.name = "low";
  high.value = 7, low.value = 1;
  const auto waiting = [](const char* name, std::int64_t seconds) {
    berth::Pod pod;
    pod.meta.namespace_ = "a";
    pod.meta.name = pod.meta.uid = name;
    pod.meta.creation_timestamp = Time(std::chrono::seconds(seconds));
    pod.meta.labels.set(names::kPriorityClassLabel, "low");
    pod.shape.edit()->requests.set("nvidia.com/gpu", Quantity::whole(1));
    pod.shape.edit()->scheduling_gates = {names::kQueueGate};
    return pod;
  };
  berth::Job job = job_of("a", "job", 1);
  job.meta.creation_timestamp = Time(std::chrono::seconds(1));
  job.meta.labels.set(names::kPriorityClassLabel, "low");
  const berth::Pod first = waiting("first", 2), second = waiting("second", 3);
  vision_.spec.priority_classes = {"high", "low"};
  add(a_), add(vision_), add(high), add(low), add(job), add(first), add(second);
  const auto order = [&] {
    std::vector<std::string> names;
    const Survey survey(index_.facts(), 100);
    for (const Waiting& each : survey.find("vision")->waiting) {
      names.resize(std::max(names.size(), static_cast<std::size_t>(each.position)));
      names[static_cast<std::size_t>(each.position) - 1] = *each.workload->name;
    }
    return names;
  };
  EXPECT_THAT(order(), ElementsAre("Job/a/job", "Pod/a/first", "Pod/a/second"));
  berth::Pod raised = second;
  raised.meta.labels.set(names::kPriorityClassLabel, "high");
  index_.follow(Change<berth::Pod>{&second, &raised});
  EXPECT_THAT(order(), ElementsAre("Pod/a/second", "Job/a/job", "Pod/a/first"));
  berth::Job lowered = job;
  lowered.meta.labels.erase(names::kPriorityClassLabel);
  index_.follow(Change<berth::Job>{&job, &lowered});
  EXPECT_THAT(order(), ElementsAre("Pod/a/second", "Pod/a/first", "Job/a/job"));
  // A class with another value is a new object with the same name.
  PriorityClass lowest = high;
  lowest.meta.uid = "made anew";
  lowest.value = -1;
  index_.follow(Change<PriorityClass>{&high, nullptr});
  index_.follow(Change<PriorityClass>{nullptr, &lowest});
  EXPECT_THAT(order(), ElementsAre("Pod/a/first", "Job/a/job", "Pod/a/second"));
}

TEST_F(ClusterIndexTest, AJobThatHasEndedHoldsNothing) {
  berth::Job ended = job_;
  ended.suspended = false;
  ended.finished = true;
  note_admission(ended.meta, "vision", {{"nvidia.com/gpu", 6}});
  add(a_), add(vision_), add(node_), add(policy_);
  berth::Job running = ended;
  running.finished = false;
  add(running);
  const auto used = [&] { return Survey(index_.facts(), 0).find("vision")->quotas.front().used; };
  EXPECT_EQ(used(), 6);
  index_.follow(Change<berth::Job>{&running, &ended});
  EXPECT_EQ(used(), 0);
}

TEST_F(ClusterIndexTest, TheOldestAreListedWithTheirPlaceInTheQueue) {
  vision_.spec.priority_classes = {"high"};
  add(a_), add(vision_);
  std::vector<berth::Job> jobs;
  for (int i = 0; i < 20; ++i) {
    jobs.push_back(job_of("a", fmt::format("j{:02}", i), 1));
    jobs.back().meta.creation_timestamp += std::chrono::seconds(i);
    jobs.back().pod_shape.edit()->priority = 0;
  }
  PriorityClass high;
  high.meta.name = "high";
  high.value = 7;
  jobs.back().priority_class_name = "high";
  add(high);
  for (const berth::Job& job : jobs) add(job);
  const Survey survey(index_.facts(), 2);
  const QueueReport& report = *survey.find("vision");
  EXPECT_EQ(report.pending, 20);
  ASSERT_EQ(report.waiting.size(), 2u);
  EXPECT_EQ(*report.waiting[0].workload->name, "Job/a/j00");
  EXPECT_EQ(report.waiting[0].position, 2) << "behind the youngest, which has priority";
  EXPECT_EQ(report.waiting[1].position, 3);
}

}  // namespace
}  // namespace berth::queue
