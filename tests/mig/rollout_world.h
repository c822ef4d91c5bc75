// SPDX-License-Identifier: Apache-2.0
// RolloutWorld: a MemoryCluster on which berth's pure reconcilers run. It carries their plans out
// through the API server in memory, lets the played agents and pods move, advances time, and checks
// the RolloutInvariants at every write. No state of berth's survives a reconcile, so a crash is a
// plan cut short.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/core/plan.h"
#include "controller/mig/reconcile.h"
#include "tests/mig/builders.h"
#include "tests/mig/memory_cluster.h"
#include "tests/mig/played_agents.h"
#include "tests/mig/played_pods.h"
#include "tests/mig/rollout_invariants.h"

namespace berth::test {

class RolloutWorld : public MemoryCluster {
 public:
  RolloutWorld();

  // --- the cluster, beyond what MemoryCluster has ---
  RolloutWorld& add(Node node) {
    agents_.begin_on(node);
    return put_one(std::move(node));
  }
  RolloutWorld& add(Pod pod) { return put_one(std::move(pod)); }
  RolloutWorld& add(MIGLayout layout) { return put_one(std::move(layout)); }
  RolloutWorld& add(PodDisruptionBudget budget) { return put_one(std::move(budget)); }
  RolloutWorld& add(Job job) { return put_one(std::move(job)); }
  // Nodes n1…nN, 4 A100-80GB each, that the layouts of builders.h select.
  RolloutWorld& add_nodes(int count);
  void remove_node(const std::string& name);
  // A person's `kubectl cordon` before berth comes: must never be undone.
  void cordon_by_person(const std::string& name);

  using Fault = AgentFault;
  void break_agent(const std::string& node, Fault fault, int times = 1000,
                   const std::string& config = "") {
    agents_.break_agent(node, fault, times, config);
  }
  void remember_label(const std::string& name) { agents_.begin_on(node(name)); }

  // --- time ---
  // Runs every key to a fixed point at each moment at which something is due.
  void run_for(Duration duration);
  // Until `done`, at most `limit`. False if that passes.
  bool run_until(const std::function<bool()>& done, Duration limit = std::chrono::hours(12));
  bool run_until_ready(const std::string& layout) {
    return run_until([this, layout] { return is_ready(layout); });
  }
  Plan plan(const std::string& key) { return reconcile(snapshot(), key); }

  // --- crashes ---
  // The process dies at its n-th write from now (1: the next): before it reaches the server, or
  // after it was applied. A new one starts at once with nothing but the cluster, and the next
  // epoch.
  void crash_at_write(int n, bool applied);
  // A new leader that knows nothing of this process.
  void change_leader();

  // Called after each write of berth's, before anything else happens.
  std::function<void(const std::string& write)> after_write;
  std::function<void(const StatusUpdate& update)> on_status;
  std::vector<std::string> writes;  // "jsonpatch Node/n1: cordon for …", in order
  std::vector<std::string> events;  // reasons, "Node/n1 Cordoned"
  int count_writes(const std::string& part) const;

  bool plans_twice = true;  // each key, to see that equal snapshots give equal plans

 private:
  template <class T>
  RolloutWorld& put_one(T object) {
    put(std::move(object));
    return *this;
  }

  bool reconcile_all(std::optional<Time>& due);
  bool execute(const std::string& key, const Plan& plan);
  bool run_steps(const ObjectSteps& steps);
  bool guard_holds(const Guard& guard);
  std::optional<Error> apply(const Write& write);

  PlayedAgents agents_;
  PlayedPods pods_;
  RolloutInvariants invariants_;
  int crash_in_ = 0;
  bool crash_applied_ = false;
  bool crashed_ = false;
};

}  // namespace berth::test
