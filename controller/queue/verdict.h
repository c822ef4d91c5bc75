// SPDX-License-Identifier: Apache-2.0
// What a cycle decides: whom it admits, and why the others wait, as numbers. The sentences are in
// words.h.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/queue/workload.h"

namespace berth::queue {

enum class Reason {
  kQueueNotFound,         // it names a queue that is not there
  kQueueHeld,             // stopPolicy
  kQueueInTrouble,        // the queue's own conditions say what
  kWaitingForGang,        // needs: pods of the group; free: those that exist
  kGangSizesDisagree,     // its pods say different sizes
  kTemplateNotReady,      // its pods are still leaving
  kReleaseRefused,        // the ledger has the server's words, of `behind`
  kNoQuota,               // no quota of the queue covers `resource`
  kExceedsMaximum,        // needs, of at most `most`
  kWaitingForQuota,       // needs, free, of nominal `most`
  kResourceNotOffered,    // needs, the pool offers `most`
  kWaitingForRoom,        // needs, free, of `most` that the pool offers
  kFragmented,            // one pod needs, on one node free, of `most` free together
  kNodesNotSelected,      // no node of the pool has the labels and taints that some pod needs
  kUnknownTopologyLevel,  // it requires a level that the policy does not list
  kTopologyNeedsNodes,    // it requires a domain, and can't be pinned to nodes
  kNoTopologyDomain,      // needs: its pods; free: the most for which one domain has room
  kUnplaceable,           // needs: its pods; free: those for which there is a node
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
  // Of kBehindInQueue: the head of a StrictFIFO queue, if one; of kReleaseRefused: itself.
  const Workload* behind = nullptr;
  WishId wish = Catalog::kNoWish;  // what it requires of the topology
  bool operator==(const Verdict&) const = default;
};

struct Admission {
  const Workload* workload = nullptr;
  PoolId pool = Catalog::kAny;
  std::int64_t pods = 0;
  std::vector<std::pair<KeyId, std::int64_t>> amounts;
  // Where its pods are pinned to, by shape; of a Job each node once. Empty: they are not.
  std::vector<std::pair<ShapeId, NodeId>> nodes;
};

}  // namespace berth::queue
