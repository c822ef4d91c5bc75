// SPDX-License-Identifier: Apache-2.0
// Whom a plan says that a queue would displace: all of them as data, and none that a
// PodDisruptionBudget keeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "apis/base/names.h"
#include "controller/preview/json_queues.h"
#include "controller/preview/queue_outlook.h"
#include "controller/preview/text_queues.h"
#include "tests/queue/queue_objects.h"
#include "tests/support/places.h"

namespace berth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

// Pods of nlp, which owns nothing, hold all of n1; a Job of vision, which reclaims, waits.
class Displaced : public ::testing::Test {
 protected:
  Displaced() {
    add(queue::policy_with("training")), add(queue::node_of("n1", 8));
    add(queue::namespace_of("a", "vision")), add(queue::namespace_of("b", "nlp"));
    GPUQueue vision = queue::queue_of("vision", 8);
    vision.spec.preemption.reclaim_within_cohort = ReclaimWithinCohort::kAny;
    add(vision), add(queue::queue_of("nlp", 0));
  }
  template <class T>
  void add(T object) {
    cluster.upsert(std::move(object), now);
  }
  void run_pod(const std::string& name, int gpus, const std::string& group = "") {
    add(running_pod(name, gpus, group));
  }
  Pod running_pod(const std::string& name, int gpus, const std::string& group = "") {
    Pod pod;
    pod.meta.namespace_ = "b";
    pod.meta.name = pod.meta.uid = name;
    pod.meta.labels.set("app", "serve");
    if (!group.empty()) {
      pod.meta.labels.set(names::kPodGroupLabel, group);
      pod.meta.annotations.set(names::kPodGroupSizeAnnotation, "2");
    }
    pod.meta.owner_references = {
        {.kind = "ReplicaSet", .name = "serve", .uid = "rs", .controller = true}};
    pod.node_name = "n1";
    pod.phase = PodPhase::kRunning;
    pod.shape.edit()->requests = {{"nvidia.com/gpu", Quantity::whole(gpus)}};
    queue::note_admission(pod.meta, "nlp", {{"nvidia.com/gpu", group.empty() ? gpus : 2 * gpus}});
    return pod;
  }
  void submit(int gpus) { add(queue::job_of("a", "waits", gpus)); }
  void keep(std::int32_t allowed, std::int32_t healthy, const std::string& in = "b") {
    PodDisruptionBudget budget;
    budget.meta.namespace_ = in;
    budget.meta.name = budget.meta.uid = "keep-" + std::to_string(allowed);
    budget.selector.emplace().match_labels["app"] = "serve";
    budget.disruptions_allowed = allowed;
    budget.current_healthy = healthy;
    budget.desired_healthy = healthy - allowed;
    add(budget);
  }
  QueueOutlook outlook() const { return foresee_queues(cluster, {}, now); }
  nlohmann::json vision_of(const QueueOutlook& outlook) const {
    const auto document = nlohmann::json::parse(encode_queues(outlook).dump());
    for (const auto& queue : document["queues"])
      if (queue["name"] == "vision") return queue;
    return nullptr;
  }

  ClusterState cluster;
  Time now = *parse_time("2026-11-21T12:00:00Z");
};

TEST_F(Displaced, ByWhatIsInTheClusterAlreadyAreAllInTheData) {
  for (int i = 0; i < 8; ++i) run_pod("serve-" + std::to_string(i), 1);
  submit(8);
  const nlohmann::json starts = vision_of(outlook())["starts"];
  ASSERT_THAT(starts, SizeIs(1)) << vision_of(outlook());
  EXPECT_THAT(starts[0]["message"].get<std::string>(), Not(HasSubstr("serve-7")))
      << "it names five";
  std::set<std::string> workloads;
  for (const nlohmann::json& displaced : starts[0]["displaced"]) {
    workloads.insert(displaced["workload"].get<std::string>());
    EXPECT_EQ(displaced["queue"], "nlp");
    EXPECT_TRUE(displaced.contains("lostGPUSeconds"));
  }
  EXPECT_THAT(workloads, SizeIs(8)) << starts[0]["displaced"];
  EXPECT_TRUE(workloads.contains("Pod/b/serve-7"));
  EXPECT_TRUE(starts[0].contains("ended"));
}

// It has borrowed: the budget puts it off, by reclaimTimeout.
TEST_F(Displaced, IsASinglePodThatABudgetKeepsForATime) {
  run_pod("serve-0", 8);
  submit(8);
  EXPECT_THAT(vision_of(outlook())["starts"], SizeIs(1));
  keep(0, 1);
  const nlohmann::json starts = vision_of(outlook())["starts"];
  ASSERT_THAT(starts, SizeIs(1));
  EXPECT_EQ(starts[0]["displaced"][0]["workload"], "Pod/b/serve-0");
}

TEST_F(Displaced, IsAGangThatABudgetKeepsForATime) {
  run_pod("serve-0", 4, "ring"), run_pod("serve-1", 4, "ring");
  submit(8);
  keep(0, 2);
  const nlohmann::json starts = vision_of(outlook())["starts"];
  ASSERT_THAT(starts, SizeIs(1));
  EXPECT_EQ(starts[0]["displaced"][0]["workload"], "PodGroup/b/ring");
}

// By uid it would be the first.
TEST_F(Displaced, IsWhatABudgetKeepsOnlyIfTheRestDoesNotSuffice) {
  run_pod("a-kept", 4);
  Pod free = running_pod("free", 4);
  free.meta.labels.set("app", "other");
  add(free);
  submit(4);
  EXPECT_EQ(vision_of(outlook())["starts"][0]["displaced"][0]["workload"], "Pod/b/a-kept");
  keep(0, 1);
  const nlohmann::json starts = vision_of(outlook())["starts"];
  ASSERT_THAT(starts, SizeIs(1));
  ASSERT_THAT(starts[0]["displaced"], SizeIs(1));
  EXPECT_EQ(starts[0]["displaced"][0]["workload"], "Pod/b/free");
}

// Within its quota nothing of it is deleted.
TEST_F(Displaced, IsNothingOfItsOwnQueueThatABudgetKeeps) {
  GPUQueue vision = queue::queue_of("vision", 8);
  vision.spec.preemption.within_queue = WithinQueue::kLowerPriority;
  add(vision);
  Pod low = running_pod("low", 8);
  low.meta.namespace_ = "a";
  low.shape.edit()->priority = -1;
  queue::note_admission(low.meta, "vision", {{"nvidia.com/gpu", 8}});
  add(low), submit(8);
  EXPECT_THAT(vision_of(outlook())["starts"], SizeIs(1));
  keep(0, 1, "a");
  EXPECT_THAT(vision_of(outlook())["starts"], SizeIs(0));
}

// Kubernetes evicts no pod that two budgets select. It deletes it.
TEST_F(Displaced, IsAPodOfTwoBudgets) {
  run_pod("serve-0", 8);
  submit(8);
  keep(1, 2), keep(2, 3);
  EXPECT_THAT(vision_of(outlook())["starts"], SizeIs(1));
}

std::set<std::string> keys_of(const nlohmann::json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

TEST_F(Displaced, HasTheFieldsThatTheDocumentShows) {
  std::ifstream file(test::source_dir() + "/docs/plan-json.md");
  const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::size_t begin = page.find("```json\n") + 8;
  const nlohmann::json shown =
      nlohmann::json::parse(page.substr(begin, page.find("\n```", begin) - begin))["queues"];
  run_pod("serve-0", 8);
  submit(8);
  add(queue::job_of("a", "behind", 8));
  const nlohmann::json queue = vision_of(outlook());
  EXPECT_EQ(keys_of(queue), keys_of(shown["queues"][0]));
  for (const char* list : {"starts", "waits"}) {
    ASSERT_THAT(queue[list], SizeIs(1)) << list;
    EXPECT_EQ(keys_of(queue[list][0]), keys_of(shown["queues"][0][list][0])) << list;
  }
  EXPECT_EQ(keys_of(queue["starts"][0]["displaced"][0]),
            keys_of(shown["queues"][0]["starts"][0]["displaced"][0]));
  GivenQueues given;
  given.workloads.push_back({queue::job_of("a", "given", 1), ""});
  const auto asked = encode_queues(foresee_queues(cluster, given, now))["asked"];
  EXPECT_EQ(keys_of(nlohmann::json::parse(asked[0].dump())), keys_of(shown["asked"][0]));
}

}  // namespace
}  // namespace berth
