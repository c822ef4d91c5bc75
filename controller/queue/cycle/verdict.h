// SPDX-License-Identifier: Apache-2.0
// Verdict: what a cycle decides, as numbers: which workloads it admits, and why the others wait.
// The sentences are in words.h.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "controller/queue/facts/workload.h"

namespace berth::queue {

enum class Reason {
  kQueueNotFound,         // its label names a queue that does not exist
  kQueueHeld,             // stopPolicy
  kBudgetExceeded,        // of `most` thousandths of GPU hours; free: end of the period in seconds
  kQueueInTrouble,        // the queue's conditions say why
  kWaitingForGang,        // needs: pods of the group; free: existing ones
  kGangSizesDisagree,     // its pods state different sizes
  kTemplateNotReady,      // its last pods are still leaving
  kPodsOnDeadNode,        // its last pods are on a node that does not answer
  kReleaseRefused,        // the ledger has the API server's message, for `behind`
  kWaitingForOthers,      // admitted; the ledger entry of `behind` names what has to leave first
  kBackingOff,            // not ready in time: needs of `most` times
  kNotReady,              // not ready in time too often: a user has to act
  kRecordNewer,           // a later berth admitted it, with record version needs; known is `most`
  kNoQuota,               // no quota of the queue covers `resource`
  kExceedsMaximum,        // needs, of at most `most`
  kWaitingForQuota,       // needs, free, of nominal `most`
  kMayNotBorrow,          // needs, of nominal `most`; it may not borrow, as it can't be given back
  kResourceNotOffered,    // needs, the pool offers `most`
  kWaitingForRoom,        // needs, free, of `most` that the pool offers
  kFragmented,            // one pod needs, at most free on one node, of `most` free in total
  kNodesNotSelected,      // no node of the pool has the labels and taints that a pod needs
  kUnknownTopologyLevel,  // it requires a level that the policy does not list
  kTopologyNeedsNodes,    // it requires a domain and can't be pinned to nodes
  kNoTopologyDomain,      // needs: its pods; free: the most that one domain has room for
  kUnplaceable,           // needs: its pods; free: those with a node that has room
  kReserved,              // it would fit, but the capacity is reserved for `behind`
  kBehindInQueue,         // its turn has not come
};
const char* to_string(Reason reason);

struct Verdict {
  Reason reason = Reason::kBehindInQueue;
  ResourceId resource = 0;
  PoolId pool = Catalog::kAny;
  std::int64_t needs = 0;
  std::int64_t free = 0;
  std::int64_t most = 0;
  // For kBehindInQueue: the head of a StrictFIFO queue, or null. For kReleaseRefused,
  // kWaitingForOthers, kBackingOff and kNotReady: the workload itself. For kReserved: the workload
  // with the reservation.
  const Workload* behind = nullptr;
  // It is not ready, and others in its StrictFIFO queue pass it.
  bool passed = false;
  WishId wish = Catalog::kNoWish;  // the topology that it requires
  // If the pool is elastic: how many nodes the autoscaler may add that no workload waits for.
  std::optional<std::int64_t> nodes_to_come;
  // Capacity is reserved for this workload, or for kReserved for `behind`, which then starts at
  // this time at the latest (microseconds since the epoch; 0: unknown).
  std::optional<std::int64_t> reserved;
  // A running workload that its queue would take back for it, but that has to stay (displaced.h).
  const Workload* kept = nullptr;
  bool operator==(const Verdict&) const = default;
};

struct Ahead {  // a workload that has to be gone before an admission is released
  const Workload* workload = nullptr;
  bool evicted = false;               // berth takes it back for this admission
  std::int64_t lost_gpu_seconds = 0;  // if evicted: work that was not saved
  bool idle = false;                  // if evicted: because its GPUs are idle
  bool operator==(const Ahead&) const = default;
};

// For a gang with a topology wish: the level below the one whose domain holds it.
struct Narrower {
  std::size_t level = 0;
  std::int64_t room = 0;  // the most pods that one domain of this level has room for
};

struct Admission {
  const Workload* workload = nullptr;
  PoolId pool = Catalog::kAny;
  std::int64_t pods = 0;
  std::vector<std::pair<KeyId, std::int64_t>> amounts;
  // The nodes that its pods are pinned to, by shape; for a Job, each node once. Empty: not pinned.
  std::vector<std::pair<ShapeId, NodeId>> nodes;
  std::vector<Ahead> ahead;   // displaced workloads, and workloads that leave anyway
  bool after_others = false;  // it fits once leaving workloads are gone
  bool to_come = false;       // on nodes that the autoscaler may add
  std::optional<Narrower> narrower;
};

}  // namespace berth::queue
