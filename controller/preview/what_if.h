// SPDX-License-Identifier: Apache-2.0
// WhatIf: a copy of a cluster in which every step of a plan succeeds at once and all other
// components work perfectly. Evicted pods are gone and re-created where they fit, NVIDIA's node
// components partition the GPUs as the label says, and time passes only when nothing else is due.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "controller/fleet/fit.h"

namespace berth {

// The effect of a write on a pod.
struct PodEvent {
  enum class Kind {
    kMoved,         // gone from `from`, re-created on `to`
    kPending,       // gone from `from`, re-created and pending: `why`
    kPlaced,        // a pending pod has got a node: `to`
    kNotRecreated,  // gone from `from` for good: it has no controller
    kEnded,         // ended by itself on `from`
    kRequeued       // gone from `from` with its Job, which is queued again: `why`
  };
  Kind kind = Kind::kMoved;
  std::shared_ptr<const Pod> pod;
  std::string from;
  std::string to;
  std::string why;
};

class WhatIf {
 public:
  // The zones must outlive it.
  WhatIf(const ClusterState& cluster, const Settings& settings, Time now,
         const TimeZones& zones = utc_only());
  WhatIf(const WhatIf&) = delete;
  WhatIf& operator=(const WhatIf&) = delete;

  const ClusterState& cluster() const { return cluster_; }
  Snapshot snapshot() const;
  Time now() const { return now_; }

  // Puts an object into the copy, as a user would, and adds the keys that this makes due.
  template <class T>
  void put(T object);

  struct Applied {
    bool wrote = false;
    std::vector<PodEvent> pods;
    std::vector<std::string> refused;  // steps whose precondition failed
  };
  Applied apply(const Plan& plan);
  // Completes the work of other components, present and later: NVIDIA's node components finish on
  // nodes in progress, and terminating pods are gone.
  Applied finish_others_work();

  // Allocatable GPU resources on schedulable, ready nodes: now, and the lowest so far.
  const std::map<std::string, std::int64_t>& capacity() const { return capacity_; }
  const std::map<std::string, std::int64_t>& lowest() const { return lowest_; }

  // The next key to reconcile. Nodes that leave together come back together, so that the expensive
  // choice of nodes runs once for all of them.
  std::optional<std::string> take_due();
  void requeue(const std::string& key, std::optional<Duration> after);
  // Moves the clock to the next timer. False: there is none.
  bool pass_time();

 private:
  int rank_of(const std::string& key) const;
  bool perform(const Write& write, Applied& applied);
  bool perform_on_node(const Write& write, Applied& applied);
  bool perform_on_config_map(const Write& write, Applied& applied);
  bool perform_on_job(const Write& write, Applied& applied);
  bool perform_on_priority_class(const Write& write, Applied& applied);
  // For a MIGLayout or a GPUClusterPolicy.
  template <class T>
  bool perform_on_ours(const Write& write, Applied& applied);
  template <class T>
  void remove(const std::string& name);
  bool admits(const Guard& guard, Applied& applied);
  void finish_agents_work(const Node& node);
  void let_pods_end(const std::string& node, Applied& applied);
  void remove_pod(const Pod& pod);
  void recreate(const Pod& pod, Applied& applied);
  void fill(const std::string& node, Applied& applied);
  void fill(const std::string& node, const Text& resource, Applied& applied);
  void change_budgets(const Pod& pod, int by);
  void recount(const Node* old, const Node& now);
  std::string next_version() { return std::to_string(++version_); }

  ClusterState cluster_;
  const Settings& settings_;
  const TimeZones& zones_;
  const Answers answers_;
  Time now_;
  std::int64_t epoch_ = 0;
  Fit fit_;
  std::map<std::string, std::int64_t> capacity_, lowest_;
  // Evicted pods that fit no node yet, by their GPU resource, in order of eviction.
  std::map<Text, std::vector<std::shared_ptr<const Pod>>> waiting_;
  std::set<std::string> due_;
  bool rendered_ = false;  // whether the mig-parted file has been rendered
  std::map<std::string, Time> timers_;
  std::int64_t version_ = 9'000'000'000'000;  // above all versions in a dump
};

}  // namespace berth
