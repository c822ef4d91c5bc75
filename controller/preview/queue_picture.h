// SPDX-License-Identifier: Apache-2.0
// QueuePicture: the result of one cycle over a cluster, in words: its queues and every pending
// workload in them. It refers to the cluster, which must not change meanwhile.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/preview/displaced_work.h"
#include "controller/preview/queue_place.h"
#include "controller/queue/cycle/queue_report.h"
#include "controller/queue/index/cluster_index.h"
#include "controller/queue/starts/start_estimates.h"

namespace berth {

// The verdict about a pending workload.
struct QueueVerdict {
  std::string queue;
  std::string reason;                    // Admissible, WaitingForQuota, …
  std::string message;                   // with the numbers
  std::string pool;                      // for Admissible: its pool, "*" for any
  QueuePlace place;                      // in that pool
  std::vector<DisplacedWork> displaced;  // workloads that are evicted for it
  std::optional<Time> ended;             // the latest end of the workload that evicts them
  std::int64_t position = 0;  // position in the queue, from 1; 0: the queue does not exist
  bool admissible() const { return !pool.empty(); }
};

class QueuePicture {
 public:
  // With `now` it also says which workloads the next cycle evicts. It sends no requests: the status
  // of budgets decides whether a pod may be evicted.
  explicit QueuePicture(const ClusterState& cluster, std::optional<Time> now = std::nullopt);

  const queue::ClusterIndex& index() const { return index_; }
  const queue::Survey& survey() const { return survey_; }
  // By workload: "Job/ns/name", "PodGroup/ns/name", "Pod/ns/name".
  const std::map<std::string, QueueVerdict>& waiting() const { return waiting_; }
  const QueueVerdict* find(const std::string& workload) const;
  // The workloads before it in its queue, nearest first, at most `most`.
  std::vector<std::string> before(const std::string& workload, std::size_t most) const;
  std::int64_t waiting_in(const std::string& queue) const;
  // The expected start; nullopt if it is admitted next, can never be admitted, or `now` is absent.
  // The first call runs several cycles.
  std::optional<queue::StartEstimate> start_of(const std::string& workload) const;
  // The expected start in words; empty if there is none.
  std::string when_it_begins(const std::string& workload) const;

 private:
  const ClusterState& cluster_;
  std::optional<Time> now_;
  const queue::ClusterIndex& index_;
  queue::Survey survey_;
  std::map<std::string, QueueVerdict> waiting_;
  std::map<std::string, std::vector<const std::string*>> order_;  // of each queue, by position
  mutable std::optional<queue::StartEstimates> estimates_;        // computed at the first call
};

}  // namespace berth
