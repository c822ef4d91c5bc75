// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/kube/kube_actors.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "controller/sim/kube/daemon_sets.h"
#include "controller/sim/kube/disruption_budgets.h"
#include "controller/sim/kube/garbage_collector.h"
#include "controller/sim/kube/jobs.h"
#include "controller/sim/kube/kubelet.h"
#include "controller/sim/kube/node_lifecycle.h"
#include "controller/sim/kube/pod_gc.h"
#include "controller/sim/kube/relations.h"
#include "controller/sim/kube/replica_sets.h"
#include "controller/sim/kube/resource_quotas.h"
#include "controller/sim/kube/scheduler.h"
#include "controller/sim/kube/taint_eviction.h"
#include "controller/sim/kube/training_jobs.h"
#include "controller/sim/world/object_state.h"

namespace berth::sim {

struct KubeActors::Parts {
  Parts(Simulation& world, KubeOptions chosen)
      : simulation(world),
        options(chosen),
        relations(simulation.store()),
        scheduler(simulation, options, relations),
        kubelets(simulation, options, relations),
        node_lifecycle(simulation, kubelets, relations),
        taint_eviction(simulation, options, relations),
        pod_gc(simulation, relations),
        replica_sets(simulation, options, relations),
        jobs(simulation, options, relations),
        daemon_sets(simulation, options, relations),
        budgets(simulation, options),
        garbage_collector(simulation, options, relations) {}

  void on_change(const Change& change) {
    relations.on_change(change);
    scheduler.on_change(change);
    kubelets.on_change(change);
    node_lifecycle.on_change(change);
    taint_eviction.on_change(change);
    pod_gc.on_change(change);
    replica_sets.on_change(change);
    jobs.on_change(change);
    daemon_sets.on_change(change);
    budgets.on_change(change);
    garbage_collector.on_change(change);
    count_quotas(change);
    run_training_jobs(change);
  }

  // Actors draw their random seeds in the order in which they start. These start with the first
  // TFJob, so that without one all other actors draw the same numbers as before.
  void run_training_jobs(const Change& change) {
    if (!training_jobs && is(change.key, "tfjobs"))
      training_jobs.emplace(simulation, options, relations);
    if (training_jobs) training_jobs->on_change(change);
  }
  void count_quotas(const Change& change) {
    if (!quotas && is(change.key, "resourcequotas")) quotas.emplace(simulation, options);
    if (quotas) quotas->on_change(change);
  }

  Simulation& simulation;
  const KubeOptions options;
  Relations relations;
  Scheduler scheduler;
  Kubelets kubelets;
  NodeLifecycle node_lifecycle;
  TaintEviction taint_eviction;
  PodGc pod_gc;
  ReplicaSets replica_sets;
  Jobs jobs;
  DaemonSets daemon_sets;
  DisruptionBudgets budgets;
  GarbageCollector garbage_collector;
  std::optional<ResourceQuotas> quotas;
  std::optional<TrainingJobs> training_jobs;
};

namespace {

StoreKey pod_key(const std::string& namespace_, const std::string& name) {
  return {find_resource_type("pods"), namespace_, name};
}

}  // namespace

KubeActors::KubeActors(Simulation& simulation, KubeOptions options)
    : parts_(std::make_unique<Parts>(simulation, options)) {
  // Objects that already exist are new to actors that have just started.
  for (const ResourceType& type : resource_types())
    for (const ObjectPtr& object : simulation.store().list(type))
      parts_->on_change({.kind = Change::Kind::kAdded,
                         .key = key_of(type.plural, *object),
                         .revision = simulation.store().revision(),
                         .before = nullptr,
                         .after = object,
                         .user = ""});
  simulation.store().observe([parts = parts_.get()](const Change& c) { parts->on_change(c); });
}

KubeActors::~KubeActors() = default;

void KubeActors::stop_kubelet(const std::string& node) {
  parts_->kubelets.stop(node);
  parts_->node_lifecycle.watch_silence(node);
}
void KubeActors::start_kubelet(const std::string& node) { parts_->kubelets.start(node); }
bool KubeActors::is_alive(const std::string& node) const {
  return !parts_->kubelets.silent_since(node).has_value();
}
void KubeActors::hang(const std::string& namespace_, const std::string& pod) {
  parts_->kubelets.hang(pod_key(namespace_, pod));
}
void KubeActors::finish(const std::string& namespace_, const std::string& pod, bool succeeded) {
  parts_->kubelets.finish(pod_key(namespace_, pod), succeeded);
}

}  // namespace berth::sim
