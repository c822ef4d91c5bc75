// SPDX-License-Identifier: Apache-2.0
// QueuePicture: what one cycle over a cluster says of its queues and of every workload that waits
// in one, in words. It refers to the cluster, which must not change meanwhile.
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
#include "controller/queue/cluster_index.h"
#include "controller/queue/queue_report.h"
#include "controller/queue/start_estimates.h"

namespace berth {

// What a workload that waits in a queue is told.
struct QueueVerdict {
  std::string queue;
  std::string reason;                    // Admissible, WaitingForQuota, …
  std::string message;                   // with the numbers
  std::string pool;                      // of Admissible: where it would go, "*" for any
  QueuePlace place;                      // there
  std::vector<DisplacedWork> displaced;  // for it
  std::optional<Time> ended;             // of what displaces: when it ends at the latest
  std::int64_t position = 0;             // in the queue's order, from 1; 0: there is no such queue
  bool admissible() const { return !pool.empty(); }
};

class QueuePicture {
 public:
  // With a time it says also which workloads the next cycle displaces. It does not ask the API
  // server, and reads from the status of budgets whether they let a pod go.
  explicit QueuePicture(const ClusterState& cluster, std::optional<Time> now = std::nullopt);

  const queue::ClusterIndex& index() const { return index_; }
  const queue::Survey& survey() const { return survey_; }
  // By workload: "Job/ns/name", "PodGroup/ns/name", "Pod/ns/name".
  const std::map<std::string, QueueVerdict>& waiting() const { return waiting_; }
  const QueueVerdict* find(const std::string& workload) const;
  // Those of its queue that come before it, the nearest first, at most as many as asked for.
  std::vector<std::string> before(const std::string& workload, std::size_t most) const;
  std::int64_t waiting_in(const std::string& queue) const;
  // From when to when it begins; nothing of what is admitted next, or could never be, or where no
  // time was given. The first question costs some cycles.
  std::optional<queue::StartEstimate> start_of(const std::string& workload) const;
  // In words; empty where there is nothing to tell.
  std::string when_it_begins(const std::string& workload) const;

 private:
  const ClusterState& cluster_;
  std::optional<Time> now_;
  const queue::ClusterIndex& index_;
  queue::Survey survey_;
  std::map<std::string, QueueVerdict> waiting_;
  std::map<std::string, std::vector<const std::string*>> order_;  // of each queue, by position
  mutable std::optional<queue::StartEstimates> estimates_;        // made when the first asks
};

}  // namespace berth
