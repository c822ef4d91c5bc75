// SPDX-License-Identifier: Apache-2.0
// RolloutWorld: a cluster in memory for the pure reconcilers. It applies plans as a perfect API
// server would, plays mig-manager, device plugin, scheduler and a ReplicaSet, advances time, and
// checks page 3's invariants at every write. No state of berth's survives a reconcile, so a crash
// is a plan cut short.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "tests/mig/builders.h"

namespace berth::test {

class RolloutWorld {
 public:
  RolloutWorld();

  // --- the cluster ---
  RolloutWorld& add(Node node);
  RolloutWorld& add(Pod pod);
  RolloutWorld& add(MIGLayout layout);
  RolloutWorld& add(PodDisruptionBudget budget);
  RolloutWorld& add(Job job);
  // Nodes n1…nN, 4 A100-80GB each, that the layouts of builders.h select.
  RolloutWorld& add_nodes(int count);
  void remove_node(const std::string& name);
  void remove_pod(const std::string& name);
  void delete_layout(const std::string& name);  // as kubectl does: finalizers hold it
  void change_node(const std::string& name, const std::function<void(Node&)>& change);
  void change_layout(const std::string& name, const std::function<void(MIGLayoutSpec&)>& change);
  void change_budget(const std::string& name, int allowed);
  // A person's `kubectl cordon` before berth comes: must never be undone.
  void cordon_by_person(const std::string& name);

  const Node& node(const std::string& name) const;
  const MIGLayout* layout(const std::string& name) const;
  std::string label(const std::string& node, const std::string& key) const;
  std::string phase(const std::string& node) const;      // of the annotation, "" if never set
  std::string details(const std::string& layout) const;  // "n1 Draining PodDisruptionBudget\n…"
  std::string detail(const std::string& layout, const std::string& node) const;  // with message
  std::string condition(const std::string& layout,
                        const std::string& type) const;  // reason: message
  std::string counts(const std::string& layout) const;   // "selected 8 updated 5 …"
  std::string ledger() const;                            // node names that hold a slot
  std::int64_t offered(const std::string& node, const std::string& resource) const;

  // --- the agent on a node ---
  enum class Fault {
    kNone,
    kFails,          // pending, then failed
    kFailsPaused,    // failed, and the deploy labels stay paused
    kWedges,         // pending for ever, labels paused
    kLies,           // success without devices
    kUnknownConfig,  // failed at once, until the ConfigMap is older than 60 s
  };
  // `times` runs go wrong, then the agent is well. `config` prefix: only for such configs.
  void break_agent(const std::string& node, Fault fault, int times = 1000,
                   const std::string& config = "");

  // The agent finds the label's config in force already, and does nothing.
  void remember_label(const std::string& node);

  // --- time ---
  // Runs every key to a fixed point at each moment at which something is due.
  void run_for(Duration duration);
  // Until `done`, at most `limit`. False if that passes.
  bool run_until(const std::function<bool()>& done, Duration limit = std::chrono::hours(12));
  bool run_until_ready(const std::string& layout) {
    return run_until(
        [this, layout] { return !condition(layout, "Ready").empty() && is_ready(layout); });
  }
  bool is_ready(const std::string& layout) const;
  Snapshot snapshot();
  Plan plan(const std::string& key);

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
  std::vector<std::string> broken;  // invariants, with what broke them
  int count_writes(const std::string& part) const;

  bool plans_twice = true;  // each key, to see that equal snapshots give equal plans
  ClusterState cluster;
  Answers answers;
  Settings settings;
  Time now;
  std::int64_t epoch = 1;

 private:
  struct Agent {
    Fault fault = Fault::kNone;
    int times = 0;
    std::string only_config;
    std::string seen_label;
    std::optional<Time> due;  // of the next step of its run
    int step = 0;
  };
  struct Relabel {
    std::string node, config;
    std::int64_t attempt, seq;
    auto operator<=>(const Relabel&) const = default;
  };

  bool reconcile_all(std::optional<Time>& due);
  bool execute(const std::string& key, const Plan& plan);
  bool run_steps(const ObjectSteps& steps);
  bool guard_holds(const Guard& guard);
  std::optional<Error> refuse_eviction(const ObjectRef& pod);
  std::optional<Error> apply(const Write& write);
  std::optional<Error> patch_node(const Write& write);
  std::optional<Error> merge_node(const Write& write);
  std::optional<Error> write_config_map(const Write& write);
  std::optional<Error> patch_layout(const Write& write);
  void remove_gracefully(const ObjectRef& pod);
  void put_status(const StatusUpdate& update);
  std::string next_version() { return std::to_string(++version_); }

  bool run_agents();
  void run_agent(const Node& node, Agent& agent);
  void offer_layout(Node& node, const std::string& config);
  bool run_pods();
  std::optional<Time> next_due() const;

  void check_node_write(const Node& before, const Node& after, const Write& write);
  void check_capacity(const std::map<std::string, std::int64_t>& before, const Write& write);
  void check_budget();
  void breach(const std::string& what);
  std::map<std::string, std::int64_t> capacity() const;

  std::map<std::string, Agent> agents_;
  std::map<std::string, Time> dying_;  // pod name → when its object goes
  std::set<std::string> persons_cordons_;
  std::set<Relabel> relabels_;
  std::int64_t version_ = 100;
  int spawned_ = 0;
  int crash_in_ = 0;
  bool crash_applied_ = false;
  bool crashed_ = false;
};

}  // namespace berth::test
