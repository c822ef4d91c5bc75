// SPDX-License-Identifier: Apache-2.0
// Loans on the real control plane: team-a borrows what team-b does not use, and does what a tenant
// can to keep it; team-b gets all of its own quota.
#include <fmt/format.h>

#include "tests/apiserver/queue_fixture.h"

namespace berth::test {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

class QueueLoans : public QueueTest {
 protected:
  void SetUp() override {
    QueueTest::SetUp();
    add_pool(3);
    apply_queue("training", "team-a", 8);
    apply_queue("serving", "team-b", 16);
    kube().patch(
        {"gpuqueues", "serving"}, PatchType::kMerge,
        R"({"spec": {"preemption": {"reclaimWithinCohort": "Any", "reclaimTimeout": "5s"}}})");
    start_berth();
    submit("team-a", "own", 8);
    wait_used("training", "8/8");
  }
  // Its budget allows no eviction.
  void make_web(int gpus) {
    kube().apply(fmt::format(R"(
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{namespace: team-a, name: web}}
spec: {{maxUnavailable: 0, selector: {{matchLabels: {{app: web}}}}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{namespace: team-a, name: web}}
spec:
  replicas: 1
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      terminationGracePeriodSeconds: 1
      schedulingGates: [{{name: gpu.berth.dev/queue}}]
      containers: [{{name: main, image: example.com/web, resources: {{limits: {{nvidia.com/gpu: {}}}}}}}]
)",
                             gpus));
  }
  bool is_suspended(const std::string& job) {
    return kube().get({"jobs", job, "team-a"}).truth("/spec/suspend");
  }
};

TEST_F(QueueLoans, ComeBackWhateverTheirHolderWrites) {
  submit("team-a", "held", 4), submit("team-a", "kueues", 4), submit("team-a", "moved", 8);
  wait_used("training", "24/8");
  kube().set_annotation({"jobs", "held", "team-a"}, "gpu.berth.dev/hold", "mine");
  for (const auto& [job, label] : {std::pair("kueues", "kueue.x-k8s.io/queue-name"),
                                   std::pair("moved", "gpu.berth.dev/queue")})
    kube().patch({"jobs", job, "team-a"}, PatchType::kMerge,
                 fmt::format(R"({{"metadata": {{"labels": {{"{}": "elsewhere"}}}}}})", label));

  gate("team-b", "api-0", 8), gate("team-b", "api-1", 8);
  wait_bound("team-b", "api-0"), wait_bound("team-b", "api-1");
  for (const char* job : {"held", "kueues", "moved"}) EXPECT_TRUE(is_suspended(job)) << job;
  EXPECT_FALSE(is_suspended("own"));

  // Annotations written now count from now on.
  for (const char* pod : {"api-0", "api-1"})
    kube().remove({"pods", pod, "team-b"}, R"({"gracePeriodSeconds": 0})");
  wait_used("serving", "0/16");
  wait_nothing_in_flight();
  EXPECT_TRUE(is_suspended("held"));
  kube().patch({"jobs", "held", "team-a"}, PatchType::kMerge,
               R"({"metadata": {"annotations": {"gpu.berth.dev/hold": null}}})");
  wait_used("training", "12/8");
}

TEST_F(QueueLoans, ABudgetPutsThemOffAndNoLonger) {
  make_web(8);
  wait_used("training", "16/8");
  wait_for("the budget to count its pod", 60, [&]() -> std::string {
    const Object budget = kube().get({"poddisruptionbudgets", "web", "team-a"});
    return budget.number("/status/expectedPods") == 1 ? "" : budget.dump();
  });
  gate("team-b", "api-0", 8), gate("team-b", "api-1", 8);
  wait_bound("team-b", "api-0"), wait_bound("team-b", "api-1");
  std::vector<std::string> refused, deleted;
  for (const AuditEvent& event : events()) {
    if (!event.by_berth() || event.resource != "pods") continue;
    if (event.subresource == "eviction") {
      EXPECT_FALSE(event.ok()) << event.name;
      refused.push_back(event.name);
    }
    if (event.verb == "delete") deleted.push_back(event.name);
  }
  EXPECT_THAT(refused, Not(IsEmpty())) << "the budget is asked first";
  EXPECT_THAT(deleted, ::testing::SizeIs(1));
  wait_reasons("training", "WaitingForQuota 1");
}

// No controller would re-create it, so it can't be reclaimed.
TEST_F(QueueLoans, AreNotForBarePods) {
  gate("team-a", "bare", 1);
  wait_reasons("training", "MayNotBorrow 1");
  submit("team-a", "train", 8);
  wait_used("training", "16/8");
  EXPECT_TRUE(gated("team-a", "bare"));
  kube().patch({"gpuqueues", "training"}, PatchType::kMerge,
               R"({"spec": {"preemption": {"unreclaimable": "MayBorrow"}}})");
  wait_bound("team-a", "bare");
}

TEST_F(QueueLoans, HalfAGangHoldsUpAStrictQueueForAMinute) {
  kube().patch({"gpuqueues", "serving"}, PatchType::kMerge,
               R"({"spec": {"queueingStrategy": "StrictFIFO"}})");
  gate("team-b", "half-0", 4, "half", 2);
  wait_reasons("serving", "WaitingForGang 1");
  submit("team-b", "behind", 4);
  wait_for("it to wait behind", 30, [&]() -> std::string {
    const std::string told = reasons("serving");
    return told.find("BehindInQueue 1") != std::string::npos ? "" : told;
  });
  wait_for("it to begin", 90, [&]() -> std::string {
    return kube().get({"jobs", "behind", "team-b"}).truth("/spec/suspend")
               ? queue("serving").at("/status").dump()
               : "";
  });
  EXPECT_TRUE(gated("team-b", "half-0"));
}

}  // namespace
}  // namespace berth::test
