// SPDX-License-Identifier: Apache-2.0
// Drain: which pods have to leave a node before its GPUs are repartitioned, which of them may, and
// the eviction steps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apis/kinds/mig_layout.h"
#include "controller/core/cause.h"
#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

enum class PodFate {
  // DaemonSet, mirror, finished, NVIDIA's components, or without a GPU under scope GPUPods.
  kLeftAlone,
  kTerminating,  // berth waits until the object is gone
  kAwaited,      // drain.waitForCompletion selects it: it ends by itself
  kEvict,
  kRequeue,  // its Job is suspended, all pods of the Job end, and the Job waits in its queue again
  kBlocked,  // may not be evicted: `cause` says why
};

struct PodVerdict {
  const Pod* pod = nullptr;
  PodFate fate = PodFate::kLeftAlone;
  Cause cause = {};  // for kBlocked: JobRunning, UnmanagedPod, OwnerWouldFail, LocalStorage, …
  std::optional<Time> not_before = {};  // for kEvict and kRequeue: the earliest time
  const Job* job = nullptr;             // for kRequeue
  // A live read of the pod's controller before the pod is evicted or deleted. Nothing: not needed.
  std::optional<Guard> look = {};
  bool look_is_due = false;  // not read yet, or too long ago
  // Whether berth makes the pod leave, if nothing forbids it.
  bool leaves() const { return fate == PodFate::kEvict || fate == PodFate::kRequeue; }
};
// Whether it is the pod of this berth process. It leaves last, and only if it can run on another
// node.
bool is_own_pod(const Pod& pod, const Settings& settings);

// Returns every pod bound to the node that is not left alone, by namespace and name. This includes
// a pod that stays on its node and holds GPUs: it can't be moved, and its GPUs may not be
// repartitioned.
std::vector<PodVerdict> pods_leaving(const Snapshot& snapshot, const Node& node,
                                     const DrainSpec& drain);

// Whether a pod would have to leave, without asking whether it may.
bool must_leave(const Occupant& occupant, DrainScope scope, const Settings& settings);
// For a pod that was read live: whether it would have to leave, or stays and holds GPUs.
bool is_in_the_way(const Pod& pod, const DrainSpec& drain, const Settings& settings);

// Returns a cause if the pod is marked as not to be disrupted.
std::optional<Cause> do_not_disrupt(const Pod& pod);

// What is known about evicting one pod: from the answers to dry runs, or offline from the budgets'
// status.
struct EvictionOutlook {
  enum class Kind { kYes, kNo, kUnknown } kind = Kind::kUnknown;
  Cause cause = {};    // for kNo: PodDisruptionBudget, which names the budgets; EvictionForbidden
  bool aging = false;  // time to ask again, although the answer is still valid
};
EvictionOutlook eviction_outlook(const Snapshot& snapshot, const Pod& pod);

// Returns the question whose answer eviction_outlook() reads.
Ask ask_of(const Pod& pod);

}  // namespace berth
