// SPDX-License-Identifier: Apache-2.0
// The metrics of GPUQueues.
#include "controller/queue/status/queue_figures.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "tests/queue/queue_objects.h"

namespace berth::queue {
namespace {

using ::testing::IsSupersetOf;

using Lines = std::vector<std::string>;

// "berth_pool_gpus,training 8": a sample's name, the values of its labels, its value.
Lines lines(const ClusterState& cluster) {
  std::vector<std::string> told;
  for (const Figure& figure : queue_figures(cluster))
    for (const Figure::Sample& sample : figure.samples) {
      std::string line = figure.name;
      for (const auto& [label, value] : sample.labels) line += "," + value;
      told.push_back(fmt::format("{} {}", line, sample.value));
    }
  return told;
}

// vision (8 of the 12 that the cohort lends, weight 2) holds 11, none of which leaves; nlp is
// pending.
struct QueueFigures : ::testing::Test {
  QueueFigures() {
    GPUQueue vision = queue_of("vision", 8), nlp = queue_of("nlp", 8);
    vision.spec.weight_thousandths = 2000;
    vision.spec.quotas.front().borrowing_limit = 6;
    nlp.spec.quotas.front().lending_limit = 4;
    vision.status.conditions = {{"Ready", "True", "QueueActive", "", 0, {}}};
    berth::Job runs = job_of("a", "x", 11);
    runs.suspended = false;
    note_admission(runs.meta, "vision", {{"nvidia.com/gpu", 11}});
    berth::Job fits = job_of("b", "fits", 1), not_now = job_of("b", "not-now", 6);
    fits.meta.creation_timestamp = *parse_time("2026-11-21T12:00:00Z");
    not_now.meta.creation_timestamp = fits.meta.creation_timestamp + std::chrono::seconds(1);
    add(policy_with("training")), add(node_of("n1", 16));
    add(namespace_of("a", "vision")), add(namespace_of("b", "nlp"));
    add(vision), add(nlp), add(runs), add(fits), add(not_now);
  }
  template <class T>
  void add(T object) {
    cluster.upsert(std::move(object), Time{});
  }
  ClusterState cluster;
};

TEST_F(QueueFigures, TellQuotasAndWhatIsHeldOfThem) {
  EXPECT_THAT(
      lines(cluster),
      IsSupersetOf(Lines{"berth_queue_nominal_quota,vision,research,training,nvidia.com/gpu 8",
                         "berth_queue_resource_usage,vision,research,training,nvidia.com/gpu 11",
                         "berth_queue_resource_usage,nlp,research,training,nvidia.com/gpu 0",
                         "berth_queue_borrowing_limit,vision,research,training,nvidia.com/gpu 6",
                         "berth_queue_lending_limit,vision,research,training,nvidia.com/gpu 8",
                         "berth_queue_lending_limit,nlp,research,training,nvidia.com/gpu 4",
                         "berth_queue_admitted_active_workloads,vision 1",
                         "berth_queue_admitted_active_workloads,nlp 0",
                         "berth_gpuqueue_condition_reason,vision,Ready,QueueActive 1"}));
  for (const std::string& line : lines(cluster))
    EXPECT_FALSE(line.starts_with("berth_queue_borrowing_limit,nlp")) << "it has none";
}

// 3 above 8, of 12 that are lent, by weight 2: 125 thousandths.
TEST_F(QueueFigures, TellWhatIsBorrowedByWeight) {
  EXPECT_THAT(lines(cluster), IsSupersetOf(Lines{"berth_queue_weighted_share,vision,research 125",
                                                 "berth_queue_weighted_share,nlp,research 0"}));
  GPUQueue weightless = *cluster.gpu_queues().find("vision");
  weightless.spec.weight_thousandths = 0;
  add(weightless);
  EXPECT_THAT(lines(cluster), testing::Contains("berth_queue_weighted_share,vision,research inf"));
}

TEST_F(QueueFigures, TellWhereNothingIsLentThatWhatIsHeldBeyondTheQuotaIsBeyondEveryShare) {
  for (const char* name : {"vision", "nlp"}) {
    GPUQueue queue = *cluster.gpu_queues().find(name);
    queue.spec.quotas.front().nominal_quota = 0;
    queue.spec.quotas.front().borrowing_limit.reset();
    queue.spec.quotas.front().lending_limit.reset();
    add(queue);
  }
  EXPECT_THAT(lines(cluster), IsSupersetOf(Lines{"berth_queue_weighted_share,vision,research inf",
                                                 "berth_queue_weighted_share,nlp,research 0"}));
}

TEST_F(QueueFigures, TellWhoWaitsAndWhetherTheNextCycleTakesIt) {
  EXPECT_THAT(lines(cluster),
              IsSupersetOf(Lines{"berth_queue_pending_workloads,nlp,active 1",
                                 "berth_queue_pending_workloads,nlp,inadmissible 1",
                                 "berth_queue_pending_workloads,vision,active 0",
                                 "berth_queue_pending_workloads_by_reason,nlp,Admissible 1",
                                 "berth_queue_pending_workloads_by_reason,nlp,WaitingForQuota 1",
                                 fmt::format("berth_queue_oldest_pending_timestamp_seconds,nlp {}",
                                             unix_seconds(*parse_time("2026-11-21T12:00:00Z")))}));
}

TEST_F(QueueFigures, TellHowManyPodsCannotLeaveADeadNode) {
  berth::Pod lost;
  lost.meta.namespace_ = "a", lost.meta.name = lost.meta.uid = "x-1", lost.node_name = "n1";
  lost.meta.deletion_timestamp = *parse_time("2026-11-21T12:00:00Z");
  add(lost);
  for (const std::string& line : lines(cluster))
    EXPECT_FALSE(line.starts_with("berth_lost_pods")) << "it is not marked";
  lost.meta.annotations.set(names::kOnDeadNodeSinceAnnotation, "2026-11-21T12:01:00Z");
  add(lost);
  EXPECT_THAT(lines(cluster), testing::Contains("berth_lost_pods,n1 1"));
}

TEST_F(QueueFigures, WithoutAQueueThereIsNothing) {
  for (const char* name : {"vision", "nlp"}) cluster.erase<GPUQueue>("", name);
  EXPECT_TRUE(queue_figures(cluster).empty());
}

}  // namespace
}  // namespace berth::queue
