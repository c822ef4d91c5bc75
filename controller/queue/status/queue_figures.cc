// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/status/queue_figures.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "apis/base/reasons.h"
#include "controller/queue/cycle/queue_report.h"
#include "controller/queue/index/cluster_index.h"
#include "controller/queue/index/dead_nodes.h"

namespace berth::queue {
namespace {

// Returns pieces, or GPUs for the class `gpu`.
double amount(std::int64_t of, const QuotaReport& quota) {
  return static_cast<double>(of) /
         (quota.resource == Catalog::kClass ? static_cast<double>(kWholeGpu) : 1.0);
}

// Whether the next cycle offers the workload: it is admitted, or others before it are.
bool is_active(std::string_view reason) {
  return reason == reasons::kAdmissible || reason == reasons::kBehindInQueue;
}

// Returns the share of what the cohort lends, in thousandths, divided by the weight. It is 0 within
// the nominal quotas. Beyond them it is infinite if the cohort lends nothing or the weight is 0.
double weighted_share(const GPUQueue& queue, const QueueReport& report) {
  double share = 0;
  for (const QuotaReport& quota : report.quotas) {
    const double over = static_cast<double>(quota.used - quota.leaving - quota.nominal);
    if (over <= 0) continue;
    const double lent = static_cast<double>(quota.cohort_lends);
    const double weight = static_cast<double>(queue.spec.weight_thousandths) / 1000;
    share = std::max(share, over / lent / weight * 1000);
  }
  return share;
}

// Counts released, pinned pods on no node, by the queue that admitted them.
std::map<std::string, std::int64_t> count_unbound_pins(const FactsIndex& facts) {
  std::map<std::string, std::int64_t> counts;
  for (const Workload* workload : facts.with_unbound_pins())
    counts[admission_of(*workload)->queue] += workload->standing.unbound_pins;
  return counts;
}

Figure count_lost_pods(const ClusterState& cluster) {
  Figure lost{"berth_lost_pods", "Pods of queues that can't leave a node that is not ready."};
  for (const auto& node : cluster.nodes()) {
    const auto count =
        std::ranges::count_if(cluster.pods_on(node->meta.name),
                              [](const berth::Pod* pod) { return lost_since(*pod).has_value(); });
    if (count > 0) lost.add({{"node", node->meta.name}}, static_cast<double>(count));
  }
  return lost;
}

class Series {
 public:
  explicit Series(const FactsIndex& facts) : unbound_(count_unbound_pins(facts)) {}
  void add(const GPUQueue& queue, const QueueReport& report, const Catalog& catalog) {
    const Figure::Labels name{{"queue", queue.meta.name}};
    const Figure::Labels cohort{{"queue", queue.meta.name}, {"cohort", queue.spec.cohort_name}};
    add_waiting(queue.meta.name, report);
    admitted_.add(name, static_cast<double>(report.admitted));
    const auto unbound = unbound_.find(queue.meta.name);
    unbound_pins_.add(name, unbound == unbound_.end() ? 0 : static_cast<double>(unbound->second));
    share_.add(cohort, weighted_share(queue, report));
    for (const QuotaReport& quota : report.quotas) {
      Figure::Labels labels = cohort;
      labels.emplace_back("pool", catalog.pool_name(quota.pool));
      labels.emplace_back("resource", catalog.resource_name(quota.resource));
      nominal_.add(labels, amount(quota.nominal, quota));
      usage_.add(labels, amount(quota.used, quota));
      lending_.add(labels, amount(quota.lends, quota));
      if (quota.borrowing_limit) borrowing_.add(labels, amount(*quota.borrowing_limit, quota));
    }
  }

  void move_to(Figures& out) {
    for (Figure* figure : {&pending_, &reasons_, &oldest_, &admitted_, &unbound_pins_, &usage_,
                           &nominal_, &borrowing_, &lending_, &share_})
      out.push_back(std::move(*figure));
  }

 private:
  void add_waiting(const std::string& queue, const QueueReport& report) {
    std::int64_t active = 0;
    for (const auto& [reason, count] : report.reasons) {
      if (is_active(reason)) active += count;
      reasons_.add({{"queue", queue}, {"reason", reason}}, static_cast<double>(count));
    }
    pending_.add({{"queue", queue}, {"status", "active"}}, static_cast<double>(active));
    pending_.add({{"queue", queue}, {"status", "inadmissible"}},
                 static_cast<double>(report.pending - active));
    if (report.oldest)
      oldest_.add({{"queue", queue}},
                  unix_seconds(Time(std::chrono::microseconds(*report.oldest))));
  }

  Figure pending_{"berth_queue_pending_workloads",
                  "Workloads that wait; active: the next cycle offers them, inadmissible: it would "
                  "not admit them."};
  Figure reasons_{"berth_queue_pending_workloads_by_reason", "Workloads that wait, by why."};
  Figure oldest_{"berth_queue_oldest_pending_timestamp_seconds",
                 "Since when the oldest waiting workload of the queue is there."};
  Figure admitted_{"berth_queue_admitted_active_workloads",
                   "Workloads that are admitted and not over."};
  Figure unbound_pins_{"berth_queue_pins_unbound",
                       "Pods that are pinned to nodes, let go and not bound yet."};
  Figure usage_{"berth_queue_resource_usage", "What admitted workloads are charged of a quota."};
  Figure nominal_{"berth_queue_nominal_quota", "The nominal quota."};
  Figure borrowing_{"berth_queue_borrowing_limit",
                    "How much beyond it the queue may hold, where the spec bounds it."};
  Figure lending_{"berth_queue_lending_limit", "How much of it the cohort's others may use."};
  Figure share_{"berth_queue_weighted_share",
                "What the queue borrows of all that its cohort lends, in thousandths and divided "
                "by its weight, of the quota where that is most; 0 within the nominal quotas."};
  std::map<std::string, std::int64_t> unbound_;
};

}  // namespace

Figures queue_figures(const ClusterState& cluster) {
  Figures out;
  if (cluster.gpu_queues().size() == 0) return out;
  Figure conditions{"berth_gpuqueue_condition",
                    "1 for the status that a condition of the GPUQueue has, else 0."};
  Figure reasons{"berth_gpuqueue_condition_reason",
                 "1; why a condition of the GPUQueue is as it is."};
  const ClusterIndex& index = cluster.view<ClusterIndex>();
  const Survey survey(index.facts(), 0);
  Series series(index.facts());
  for (const auto& queue : cluster.gpu_queues()) {
    const Figure::Labels label{{"queue", queue->meta.name}};
    add_conditions(label, queue->status.conditions,
                   queue->status.observed_generation >= queue->meta.generation, conditions);
    add_reasons(label, queue->status.conditions, reasons);
    if (const QueueReport* report = survey.find(queue->meta.name))
      series.add(*queue, *report, index.facts().catalog());
  }
  for (Figure* figure : {&conditions, &reasons}) out.push_back(std::move(*figure));
  series.move_to(out);
  out.push_back(count_lost_pods(cluster));
  return out;
}

}  // namespace berth::queue
