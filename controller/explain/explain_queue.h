// SPDX-License-Identifier: Apache-2.0
// QueueWhy: what the queues say about a workload, in addition to what keeps its pods off the nodes.
// It refers to the snapshot, and runs one cycle if there are queues. If the account may not read
// what a cycle needs, it reports what berth's controller has recorded.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/core/snapshot.h"
#include "controller/dump/clues.h"
#include "controller/explain/explanation.h"
#include "controller/preview/queue_picture.h"

namespace berth {

class QueueWhy {
 public:
  QueueWhy(const Snapshot& snapshot, const Clues& clues);

  // Where the pod or its workload is in its queue. If berth's own gate holds the pod, this is the
  // answer.
  void note(const Pod& pod, Explanation& out) const;
  // A suspended Job waits for its queue: this is the answer.
  void note(const Job& job, Explanation& out) const;
  // Suspended Jobs that are in a queue, or may be in one that this account can't read, by namespace
  // and name. An empty namespace means all.
  std::vector<const Job*> waiting_jobs(std::string_view namespace_) const;

 private:
  bool waits(const Job& job) const;
  void note_lost(const std::string& workload, Explanation& out) const;
  // Adds the queue's verdict. It is omitted for a workload that `runs` without being gated, and if
  // the verdict itself becomes the answer. Null: the workload does not wait in a queue.
  const QueueVerdict* tell(const std::string& workload, const ObjectMeta& meta,
                           const PodShape& shape, bool runs, bool answers, Explanation& out) const;
  void answer(const QueueVerdict& verdict, const char* held_by, Explanation& out) const;
  void answer_uncovered(const Pod& pod, const std::string& workload, Explanation& out) const;

  // Without a cycle. `held_by` says how berth holds the workload, "it is gated"; null: it does not.
  void note_recorded(const std::string& workload, const ObjectMeta& meta, const PodShape& shape,
                     const char* held_by, Explanation& out) const;
  void note_unknown(const std::string& queue, const char* held_by, Explanation& out) const;
  // Whether the account could read the namespace and all queues, so that the object's queue is
  // known.
  bool knows_queue_of(const ObjectMeta& meta) const;
  const queue::ClusterIndex& index() const { return cluster_.view<queue::ClusterIndex>(); }

  const Snapshot& snapshot_;
  const ClusterState& cluster_;
  // nullopt: there are no queues, or this account may not read what a cycle needs.
  std::optional<QueuePicture> picture_;
  std::vector<std::string> unread_;  // kinds that a cycle needs
  bool queues_read_ = true;
  std::map<std::string, std::vector<const Pod*>, std::less<>> lost_;  // pods, by workload
};

}  // namespace berth
