// SPDX-License-Identifier: Apache-2.0
// Finished workloads leave nothing behind: not in the stores, not in the queue's index, not in the
// ledger, and in the counted GPU hours only the digits of a sum.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "apis/codec/decode.h"
#include "controller/queue/admit/reconcile.h"
#include "controller/queue/index/cluster_index.h"
#include "controller/queue/index/facts_from.h"
#include "controller/queue/record/admission_ledger.h"
#include "controller/queue/status/reconcile.h"
#include "controller/queue/status/usage_meter.h"
#include "tests/heap/counted_heap.h"
#include "tests/queue/queue_objects.h"

namespace berth::queue {
namespace {

using ::testing::SizeIs;
using namespace std::chrono_literals;

constexpr int kPods = 100, kJobs = 100, kGangs = 50;  // per round
constexpr int kGangSize = 2;

class FinishedWork : public ::testing::Test {
 protected:
  FinishedWork() {
    add(policy_with("training")), add(namespace_of("a", "vision"));
    add(queue_of("vision", 4'000));
    for (int i = 0; i < 4; ++i) {
      Node node = node_of(fmt::format("n{}", i), 1'000);
      node.allocatable.set("pods", Quantity::whole(1'000));
      add(std::move(node));
    }
    take(reconcile_admissions(snapshot()));
  }

  // All workloads are pending, admitted, run for a while, end and are deleted.
  void run_round() {
    for (int i = 0; i < kPods; ++i) wait(pod(fmt::format("p{}", ++made_), 1 + i % 4));
    for (int i = 0; i < kGangs * kGangSize; ++i) wait(member(++made_, i / kGangSize));
    for (int i = 0; i < kJobs; ++i)
      wait(with_deadline(job_of("a", fmt::format("j{}", ++made_), 1 + i % 4)));
    take(reconcile_admissions(snapshot()));
    let_go();
    pass();
    finish();
    pass();
    ++rounds_;
  }
  const GpuHours& hours() const { return gpu_hours_in(cluster_, settings_); }
  const FactsIndex& facts() const { return cluster_.view<ClusterIndex>().facts(); }

 private:
  template <class T>
  void add(T object) {
    object.meta.resource_version = std::to_string(++version_);
    cluster_.upsert(std::move(object), now_);
  }
  Snapshot snapshot() const { return {cluster_, answers_, settings_, now_, 3}; }

  static berth::Pod pod(const std::string& name, int gpus) {
    berth::Pod made;
    made.meta.namespace_ = "a";
    made.meta.name = made.meta.uid = name;
    made.shape.edit()->requests.set("nvidia.com/gpu", Quantity::whole(gpus));
    made.shape.edit()->scheduling_gates = {names::kQueueGate};
    return made;
  }
  // All of them differ.
  berth::Job with_deadline(berth::Job job) const {
    job.active_deadline_seconds = 3'600 + made_ * 7'919 % 3'600;
    return job;
  }
  berth::Pod member(int number, int gang) const {
    berth::Pod made = pod(fmt::format("g{}", number), 2);
    made.meta.labels.set(names::kPodGroupLabel, Text(fmt::format("gang{}-{}", rounds_, gang)));
    made.meta.annotations.set(names::kPodGroupSizeAnnotation, Text(std::to_string(kGangSize)));
    return made;
  }
  void wait(berth::Pod pod) {
    pods_.push_back(pod);
    add(std::move(pod));
  }
  void wait(berth::Job job) {
    jobs_.push_back(job);
    add(std::move(job));
  }

  // Applies the write of a ConfigMap as the API server would.
  void take(const Plan& plan) {
    for (const auto& object : plan.objects) {
      const auto& write = std::get<Write>(object.steps.at(0));
      const ConfigMap* standing =
          cluster_.config_maps().find(write.object.namespace_, write.object.name);
      nlohmann::json kept;
      if (standing != nullptr) {
        kept["data"] = standing->data;
        for (const auto& [key, value] : standing->meta.annotations)
          kept["metadata"]["annotations"][key.str()] = value.str();
      }
      kept.merge_patch(nlohmann::json::parse(write.body));
      kept["metadata"]["name"] = write.object.name;
      kept["metadata"]["namespace"] = write.object.namespace_;
      kept["metadata"]["uid"] = write.object.name;
      std::string text = kept.dump();
      add(*decode_object<ConfigMap>(text));
    }
  }

  // The state after the releases, with one node each.
  void let_go() {
    const AdmissionLedger& ledger = read_admissions(snapshot());
    std::map<std::string, std::string> records;
    for (const auto& [uid, entry] : ledger.entries)
      records[entry.workload] = encode_admission(entry.admission);
    ASSERT_GE(records.size(), std::size_t{kPods + kJobs + kGangs});
    for (berth::Job& job : jobs_) {
      job.meta.annotations.set(names::kAdmittedAnnotation,
                               Text(records.at("Job/a/" + job.meta.name)));
      job.suspended = false;
      add(job);
      berth::Pod made = pod(job.meta.name + "-0", 1);
      made.shape = job.pod_shape;
      made.meta.owner_references.push_back({.kind = "Job",
                                            .name = Text(job.meta.name),
                                            .uid = Text(job.meta.uid),
                                            .controller = true});
      pods_.push_back(std::move(made));
    }
    for (std::size_t i = 0; i < pods_.size(); ++i) {
      berth::Pod& pod = pods_[i];
      const auto record = records.find(workload_name(pod));
      if (pod.meta.controller() == nullptr)
        pod.meta.annotations.set(names::kAdmittedAnnotation, Text(record->second));
      pod.shape.edit()->scheduling_gates.clear();
      pod.node_name = Text(fmt::format("n{}", i % 4));
      add(pod);
    }
  }
  void finish() {
    for (berth::Pod& pod : pods_) {
      pod.phase = PodPhase::kSucceeded;
      add(pod);
    }
    for (berth::Job& job : jobs_) {
      job.finished = true;
      add(job);
      cluster_.erase<berth::Job>("a", job.meta.name);
    }
    for (const berth::Pod& pod : pods_) cluster_.erase<berth::Pod>("a", pod.meta.name);
    pods_ = {};
    jobs_ = {};
  }
  void pass() {
    now_ += 1min;
    take(meter_.reconcile(snapshot()));
    reconcile_queues(snapshot());
    take(reconcile_admissions(snapshot()));
  }

  ClusterState cluster_;
  Answers answers_;
  Settings settings_{.berth_namespace = "berth"};
  Time now_ = *parse_time("2026-11-25T01:00:00Z");
  UsageMeter meter_;
  std::vector<berth::Pod> pods_;  // of this round
  std::vector<berth::Job> jobs_;
  int made_ = 0, version_ = 0, rounds_ = 0;
};

// A sanitized build needs two minutes for a hundred thousand.
int wanted_rounds() {
  const char* workloads = std::getenv("BERTH_FINISHED_WORKLOADS");
  return workloads == nullptr ? 40 : std::atoi(workloads) / (kPods + kGangs + kJobs);
}

TEST(CountedHeap, TellsWhatIsHeld) {
  const std::size_t before = held_bytes();
  auto text = std::make_unique<std::string>(1'000, 'x');
  EXPECT_GE(held_bytes(), before + 1'000);
  text = nullptr;
  EXPECT_EQ(held_bytes(), before);
}

TEST_F(FinishedWork, LeavesNothingBehind) {
  constexpr int kWarm = 10;
  for (int i = 0; i < kWarm; ++i) ASSERT_NO_FATAL_FAILURE(run_round());
  const std::size_t before = held_bytes();
  for (int i = kWarm; i < wanted_rounds(); ++i) ASSERT_NO_FATAL_FAILURE(run_round());
  EXPECT_THAT(hours().days, SizeIs(1));  // they were counted
  EXPECT_EQ(facts().workloads().size(), 0);
  EXPECT_EQ(facts().charged().size(), 0);
  // Half a byte per workload, in forty rounds: sums have more digits than before.
  EXPECT_LE(held_bytes(), before + 4 * 1024);
}

}  // namespace
}  // namespace berth::queue
