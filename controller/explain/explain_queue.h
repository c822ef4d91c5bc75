// SPDX-License-Identifier: Apache-2.0
// QueueWhy: what the queues say of a workload, beside what keeps its pods off the nodes. It refers
// to the cluster, and costs one cycle where that has queues.
#pragma once

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
  QueueWhy(const ClusterState& cluster, const Clues& clues, Time now);

  // Where the pod, or what it is part of, stands in its queue. Held by berth's own gate, that is
  // the answer.
  void note(const Pod& pod, Explanation& out) const;
  // A suspended Job waits for its queue: that is the answer.
  void note(const Job& job, Explanation& out) const;
  // Jobs that wait in a queue, by namespace and name; without a namespace: in any.
  std::vector<const Job*> waiting_jobs(std::string_view namespace_) const;

 private:
  // Of what `runs` it is no news that nothing holds it back; where the verdict will be the answer,
  // it is not told twice. Null: it does not wait in a queue.
  const QueueVerdict* tell(const std::string& workload, const ObjectMeta& meta,
                           const PodShape& shape, bool runs, bool answers, Explanation& out) const;
  void answer(const QueueVerdict& verdict, const char* held_by, Explanation& out) const;

  const ClusterState& cluster_;
  std::optional<QueuePicture> picture_;  // nothing: there are no queues
  // What a cycle would need and this account may not read: without it nobody's place is told.
  std::vector<std::string> unread_;
};

}  // namespace berth
