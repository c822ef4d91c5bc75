// SPDX-License-Identifier: Apache-2.0
// What a cycle decides: whom it admits, and why the others wait, as numbers. The sentences are in
// words.h.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "controller/queue/workload.h"

namespace berth::queue {

enum class Reason {
  kQueueNotFound,         // it names a queue that is not there
  kQueueHeld,             // stopPolicy
  kBudgetExceeded,        // of `most` thousandths of GPU hours; free: the period's end, in seconds
  kQueueInTrouble,        // the queue's own conditions say what
  kWaitingForGang,        // needs: pods of the group; free: those that exist
  kGangSizesDisagree,     // its pods say different sizes
  kTemplateNotReady,      // its pods are still leaving
  kPodsOnDeadNode,        // likewise, on a node that does not answer
  kReleaseRefused,        // the ledger has the server's words, of `behind`
  kWaitingForOthers,      // it is admitted, and the ledger names who has to be gone, of `behind`
  kBackingOff,            // it was not ready in time, needs of `most` times
  kNotReady,              // likewise, and waits for somebody
  kRecordNewer,           // a berth admitted it whose records have version needs; known is `most`
  kNoQuota,               // no quota of the queue covers `resource`
  kExceedsMaximum,        // needs, of at most `most`
  kWaitingForQuota,       // needs, free, of nominal `most`
  kMayNotBorrow,          // needs, of nominal `most`; it could borrow, if it could be given back
  kResourceNotOffered,    // needs, the pool offers `most`
  kWaitingForRoom,        // needs, free, of `most` that the pool offers
  kFragmented,            // one pod needs, on one node free, of `most` free together
  kNodesNotSelected,      // no node of the pool has the labels and taints that some pod needs
  kUnknownTopologyLevel,  // it requires a level that the policy does not list
  kTopologyNeedsNodes,    // it requires a domain, and can't be pinned to nodes
  kNoTopologyDomain,      // needs: its pods; free: the most for which one domain has room
  kUnplaceable,           // needs: its pods; free: those for which there is a node
  kReserved,              // it would fit, and `behind` has waited longer for what it would take
  kBehindInQueue,         // its turn did not come
};
const char* to_string(Reason reason);

struct Verdict {
  Reason reason = Reason::kBehindInQueue;
  ResourceId resource = 0;
  PoolId pool = Catalog::kAny;
  std::int64_t needs = 0;
  std::int64_t free = 0;
  std::int64_t most = 0;
  // Of kBehindInQueue: the head of a StrictFIFO queue, if one; of kReleaseRefused,
  // kWaitingForOthers, kBackingOff and kNotReady: itself; of kReserved: for whom.
  const Workload* behind = nullptr;
  // It is not ready, and others of its StrictFIFO queue go before it.
  bool passed = false;
  WishId wish = Catalog::kNoWish;  // what it requires of the topology
  // How many nodes more the pool may get for which nobody waits yet, if it is elastic.
  std::optional<std::int64_t> nodes_to_come;
  // Room and quota are kept for it, or of kReserved for `behind`, which begins then at the latest
  // (microseconds since the epoch; 0: nobody knows when).
  std::optional<std::int64_t> reserved;
  // Running work that its queue would take back for it, and that has to stay (displaced.h).
  const Workload* kept = nullptr;
  bool operator==(const Verdict&) const = default;
};

struct Ahead {  // who has to be gone before an admission is let go
  const Workload* workload = nullptr;
  bool evicted = false;               // it is taken back for this one
  std::int64_t lost_gpu_seconds = 0;  // then, of work that was not saved
  bool idle = false;                  // then, as its GPUs are
  bool operator==(const Ahead&) const = default;
};

// Of a gang that asked for a domain: the next level to the one that it stands in.
struct Narrower {
  std::size_t level = 0;
  std::int64_t room = 0;  // for how many of its pods one domain of it has room at the most
};

struct Admission {
  const Workload* workload = nullptr;
  PoolId pool = Catalog::kAny;
  std::int64_t pods = 0;
  std::vector<std::pair<KeyId, std::int64_t>> amounts;
  // Where its pods are pinned to, by shape; of a Job each node once. Empty: they are not.
  std::vector<std::pair<ShapeId, NodeId>> nodes;
  std::vector<Ahead> ahead;   // those that are displaced for it, and those that leave anyway
  bool after_others = false;  // it fits once those that leave have gone
  bool to_come = false;       // on nodes that the pool is yet to get
  std::optional<Narrower> narrower;
};

}  // namespace berth::queue
