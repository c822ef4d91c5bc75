// SPDX-License-Identifier: Apache-2.0
// Drain: which pods have to leave a node before its GPUs are cut anew, which of them may, and the
// eviction steps that make them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apis/mig_layout.h"
#include "controller/core/cause.h"
#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

enum class PodFate {
  kLeftAlone,    // DaemonSet, mirror, finished, NVIDIA's own, or without a GPU under scope GPUPods
  kTerminating,  // on its way out: waited for until the object is gone
  kAwaited,      // drain.waitForCompletion selects it: it ends by itself
  kEvict,
  kRequeue,  // its Job is suspended, all its pods end, and the Job waits in its queue again
  kBlocked,  // may not be evicted: `cause` says why
};

struct PodVerdict {
  const Pod* pod = nullptr;
  PodFate fate = PodFate::kLeftAlone;
  Cause cause = {};  // for kBlocked: JobRunning, UnmanagedPod, OwnerWouldFail, LocalStorage, …
  std::optional<Time> not_before = {};  // for kEvict and kRequeue: the earliest time for it
  const Job* job = nullptr;             // for kRequeue
  // A live read of the pod's controller, before the pod is evicted or deleted. Nothing: not needed.
  std::optional<Guard> look = {};
  bool look_is_due = false;  // it was not read yet, or too long ago
  // To be made to leave, if nothing forbids it.
  bool leaves() const { return fate == PodFate::kEvict || fate == PodFate::kRequeue; }
};
// The pod of the berth that drains: it leaves last, and only for a node where it can go on.
bool is_own_pod(const Pod& pod, const Settings& settings);

// Every pod bound to the node that is not left alone, in (namespace, name) order. One that stays on
// its node and holds GPUs of it is among them: nothing moves it, and nothing may be cut under it.
std::vector<PodVerdict> pods_leaving(const Snapshot& snapshot, const Node& node,
                                     const DrainSpec& drain);

// Whether a pod would have to leave, without asking whether it may.
bool must_leave(const Occupant& occupant, DrainScope scope, const Settings& settings);
// Of one that was read live: whether it would have to leave, or stays and holds GPUs.
bool is_in_the_way(const Pod& pod, const DrainSpec& drain, const Settings& settings);

// Of one that is marked as not to be disrupted: that it is.
std::optional<Cause> do_not_disrupt(const Pod& pod);

// What is known about evicting one pod: from the answers to asks; offline, from the budgets'
// status.
struct EvictionOutlook {
  enum class Kind { kYes, kNo, kUnknown } kind = Kind::kUnknown;
  Cause cause = {};    // for kNo: PodDisruptionBudget, which names the budgets; EvictionForbidden
  bool aging = false;  // time to ask again, though the answer still counts
};
EvictionOutlook eviction_outlook(const Snapshot& snapshot, const Pod& pod);

// The question that eviction_outlook reads the answer of.
Ask ask_of(const Pod& pod);

}  // namespace berth
