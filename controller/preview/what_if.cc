// SPDX-License-Identifier: Apache-2.0
#include "controller/preview/what_if.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "apis/codec/decode.h"
#include "controller/core/plural.h"
#include "controller/disruption/capacity_guard.h"
#include "controller/disruption/drain.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/disruption/rollouts.h"
#include "controller/disruption/slots.h"
#include "controller/fleet/node_facts.h"
#include "controller/mig/config_label.h"
#include "controller/preview/agents.h"
#include "controller/preview/patched.h"
#include "controller/queue/recall/requeue.h"
#include "controller/reconcilers/key_families.h"
#include "controller/reconcilers/keys.h"

namespace berth {

WhatIf::WhatIf(const ClusterState& cluster, const Settings& settings, Time now,
               const TimeZones& zones)
    : cluster_(cluster), settings_(settings), zones_(zones), now_(now), fit_(cluster_) {
  for (const auto& node : cluster_.nodes()) recount(nullptr, *node);
  lowest_ = capacity_;
  for (std::string& key : all_keys(cluster_, settings_)) due_.insert(std::move(key));
  // The copy acts as the present leader, or as the first one if there is none yet.
  const ConfigMap* ledger =
      cluster_.config_maps().find(settings_.berth_namespace, names::kSlotsConfigMap);
  epoch_ = read_ledger(ledger).epoch;
  if (ledger == nullptr) {
    const EpochClaim claim = claim_epoch(nullptr, settings_);
    Applied applied;
    if (perform(claim.write, applied)) epoch_ = claim.epoch;
  }
}

Snapshot WhatIf::snapshot() const {
  return {.cluster = cluster_,
          .answers = answers_,
          .settings = settings_,
          .now = now_,
          .epoch = epoch_,
          .offline = true,
          .zones = zones_};
}

template <class T>
void WhatIf::put(T object) {
  object.meta.resource_version = next_version();
  auto stored = cluster_.upsert(std::move(object), now_);
  if constexpr (std::is_same_v<T, Node>) {
    recount(stored.old.get(), *stored.current);
    fit_.node_changed(*stored.current);
  }
  if (stored.change == StoreChange::kUnchanged) return;
  for (std::string& key : keys_for(cluster_, settings_, stored.old.get(), stored.current.get()))
    due_.insert(std::move(key));
}
template void WhatIf::put(MIGLayout);
template void WhatIf::put(GPUClusterPolicy);
template void WhatIf::put(ClusterPolicy);
template void WhatIf::put(DaemonSet);

WhatIf::Applied WhatIf::apply(const Plan& plan) {
  Applied applied;
  for (const ObjectSteps& object : plan.objects) {
    for (const Step& step : object.steps) {
      // Offline the API server can't be asked; the budgets' status has already been checked.
      if (std::holds_alternative<Ask>(step)) continue;
      const auto* guard = std::get_if<Guard>(&step);
      const bool done =
          guard != nullptr ? admits(*guard, applied) : perform(std::get<Write>(step), applied);
      if (!done) break;
    }
  }
  return applied;
}

WhatIf::Applied WhatIf::finish_others_work() {
  Applied applied;
  std::vector<std::string> under_way;  // put() changes the set of nodes in progress
  for (const Node* node : nodes_under_way(cluster_)) under_way.push_back(node->meta.name);
  for (const std::string& name : under_way) {
    finish_agents_work(*cluster_.nodes().find(name));
    let_pods_end(name, applied);
  }
  return applied;
}

// A state `failed` stays: berth handles it.
void WhatIf::finish_agents_work(const Node& node) {
  const RolloutRecord record = read_rollout(cluster_, node);
  if (!record.rollout || (record.rollout->phase != RolloutPhase::kApplying &&
                          record.rollout->phase != RolloutPhase::kRollingBack))
    return;
  const std::string_view state = label_of(node, names::kMigConfigState);
  if (state == "failed" || !names_config(label_of(node, names::kMigConfig), record.rollout->config))
    return;
  Node done = node;
  done.ready = node.ready || state == "rebooting";
  done.meta.labels.erase(names::kMigConfigState);
  done = answer_of_agents(snapshot(), node, std::move(done));
  // If no layout has the config any more, only its name is known.
  done.meta.labels.set(names::kMigConfigState, "success");
  put(std::move(done));
}

bool WhatIf::admits(const Guard& guard, Applied& applied) {
  const Node* node = cluster_.nodes().find(guard.node.name);
  if (node == nullptr) return guard.yes_if_gone;
  std::vector<Pod> pods;
  for (const Pod* pod : cluster_.pods_on(guard.node.name)) pods.push_back(*pod);
  std::optional<std::string> refusal = guard.refuse(*node, pods);
  if (refusal) applied.refused.push_back(fmt::format("{}: {}", guard.node.str(), *refusal));
  return !refusal;
}

bool WhatIf::perform(const Write& write, Applied& applied) {
  const ObjectRef& object = write.object;
  bool done = false;
  if (object.kind == "Node") done = perform_on_node(write, applied);
  if (object.kind == "ConfigMap") done = perform_on_config_map(write, applied);
  if (object.kind == "Job") done = perform_on_job(write, applied);
  if (object.kind == "MIGLayout") done = perform_on_ours<MIGLayout>(write, applied);
  if (object.kind == "GPUClusterPolicy") done = perform_on_ours<GPUClusterPolicy>(write, applied);
  if (object.kind == "PriorityClass") done = perform_on_priority_class(write, applied);
  if (object.kind == "Pod") {
    const Pod* pod = cluster_.pods().find(object.namespace_, object.name);
    done = pod != nullptr && pod->meta.uid == object.uid;
    if (done) recreate(*pod, applied);
  }
  applied.wrote |= done;
  return done;
}

bool WhatIf::perform_on_node(const Write& write, Applied& applied) {
  const Node* node = cluster_.nodes().find(write.object.name);
  if (node == nullptr) return false;
  Result<Node> next =
      write.verb == Verb::kMergePatch ? merged(*node, write.body) : patched(*node, write.body);
  if (!next) {
    applied.refused.push_back(fmt::format("{}: {}", write.object.str(), describe(next.error())));
    return false;
  }
  next->meta.resource_version = next_version();
  const std::string name = next->meta.name;
  put(answer_of_agents(snapshot(), *node, std::move(*next)));
  let_pods_end(name, applied);
  fill(name, applied);
  return true;
}

bool WhatIf::perform_on_config_map(const Write& write, Applied& applied) {
  const ConfigMap* old = cluster_.config_maps().find(write.object.namespace_, write.object.name);
  std::string body = write.body;
  const bool create = write.verb == Verb::kCreate;
  if (create == (old != nullptr)) {
    applied.refused.push_back(
        fmt::format("{}: {}", write.object.str(), create ? "already exists" : "is not there"));
    return false;
  }
  Result<ConfigMap> next = create ? decode_object<ConfigMap>(body) : merged(*old, write.body);
  if (!next) {
    applied.refused.push_back(fmt::format("{}: {}", write.object.str(), describe(next.error())));
    return false;
  }
  if (create) next->meta.uid = "what-if-" + write.object.str();
  put(std::move(*next));
  return true;
}

// The rollout does not wait for the queue to release the Job again.
bool WhatIf::perform_on_job(const Write& write, Applied& applied) {
  const Job* job = cluster_.jobs().find(write.object.namespace_, write.object.name);
  if (job == nullptr) return false;
  Result<Job> next = merged(*job, write.body);
  if (!next) {
    applied.refused.push_back(fmt::format("{}: {}", write.object.str(), describe(next.error())));
    return false;
  }
  const std::vector<const Pod*> pods = queue::bound_pods(cluster_, *job);
  const std::string why = fmt::format("{} is suspended with {}, and waits in its queue again",
                                      write.object.str(), plural(std::ssize(pods), "pod"));
  put(std::move(*next));
  for (const Pod* pod : pods) {
    const auto gone = std::make_shared<const Pod>(*pod);
    applied.pods.push_back({PodEvent::Kind::kRequeued, gone, gone->node_name.str(), {}, why});
    remove_pod(*pod);
    change_budgets(*gone, -1);
  }
  return true;
}

bool WhatIf::perform_on_priority_class(const Write& write, Applied& applied) {
  const bool stands = cluster_.priority_classes().find(write.object.name) != nullptr;
  const bool create = write.verb == Verb::kCreate;
  Result<PriorityClass> next = PriorityClass();
  std::string body = write.body;
  if (create) next = decode_object<PriorityClass>(body);
  if (create == stands || !next) {
    applied.refused.push_back(fmt::format("{}: {}", write.object.str(),
                                          !next    ? describe(next.error())
                                          : stands ? "already exists"
                                                   : "is not there"));
    return false;
  }
  if (create) {
    next->meta.uid = "what-if-" + write.object.str();
    put(std::move(*next));
  } else {
    remove<PriorityClass>(write.object.name);
  }
  return true;
}

template <class T>
bool WhatIf::perform_on_ours(const Write& write, Applied& applied) {
  const T* old = cluster_.store<T>().find(write.object.name);
  if (old == nullptr) return false;
  Result<T> next = merged(*old, write.body);
  if (!next) {
    applied.refused.push_back(fmt::format("{}: {}", write.object.str(), describe(next.error())));
    return false;
  }
  if (next->meta.deletion_timestamp && next->meta.finalizers.empty())
    remove<T>(next->meta.name);
  else
    put(std::move(*next));
  return true;
}

// For cluster-scoped kinds.
template <class T>
void WhatIf::remove(const std::string& name) {
  auto gone = cluster_.erase<T>("", name);
  for (std::string& key : keys_for(cluster_, settings_, gone.get(), static_cast<const T*>(nullptr)))
    due_.insert(std::move(key));
}

// On a node that berth has cordoned: terminating pods are gone, and pods that the drain waits for
// have ended.
void WhatIf::let_pods_end(const std::string& node_name, Applied& applied) {
  const Node* node = cluster_.nodes().find(node_name);
  const RolloutRecord record = read_rollout(cluster_, *node);
  if (!record.rollout || record.rollout->phase != RolloutPhase::kCordoned) return;
  const MIGLayout* layout = cluster_.mig_layouts().find(record.rollout->layout);
  const DrainSpec drain = layout != nullptr ? layout->spec.drain : DrainSpec();
  std::vector<const Pod*> ending;
  for (const PodVerdict& verdict : pods_leaving(snapshot(), *node, drain))
    if (verdict.fate == PodFate::kTerminating || verdict.fate == PodFate::kAwaited)
      ending.push_back(verdict.pod);
  for (const Pod* pod : ending) {
    if (!pod->terminating())
      applied.pods.push_back(
          {PodEvent::Kind::kEnded, std::make_shared<const Pod>(*pod), node_name, {}, {}});
    remove_pod(*pod);
  }
}

void WhatIf::remove_pod(const Pod& pod) {
  fit_.pod_left(pod);
  auto gone = cluster_.erase<Pod>(pod.meta.namespace_.str(), pod.meta.name);
  for (std::string& key :
       keys_for(cluster_, settings_, gone.get(), static_cast<const Pod*>(nullptr)))
    due_.insert(std::move(key));
}

// Evicts the pod; its controller re-creates it at once.
void WhatIf::recreate(const Pod& pod, Applied& applied) {
  Pod next = pod;
  auto old = std::make_shared<const Pod>(pod);
  const std::string from = pod.node_name.str();
  remove_pod(pod);
  if (old->meta.controller() == nullptr) {
    applied.pods.push_back({PodEvent::Kind::kNotRecreated, old, from, {}, {}});
    return;
  }
  next.meta.uid += "+";
  next.node_name = Text();
  next.phase = PodPhase::kPending;
  const Node* node = next.shape->claims_devices() ? nullptr : fit_.place(next);
  if (node != nullptr) {
    next.node_name = node->meta.name;
    next.phase = PodPhase::kRunning;
    applied.pods.push_back({PodEvent::Kind::kMoved, old, from, node->meta.name, {}});
    fit_.pod_bound(next);
  } else {
    const std::string why = next.shape->claims_devices()
                                ? "it claims devices (DRA), which berth does not place"
                                : fit_.explain(next);
    applied.pods.push_back({PodEvent::Kind::kPending, old, from, {}, why});
    if (!next.shape->claims_devices())
      waiting_[Fit::gpu_resource_of(next)].push_back(std::make_shared<const Pod>(next));
    change_budgets(next, -1);
  }
  put(std::move(next));
}

// The node may have more free capacity.
void WhatIf::fill(const std::string& node, Applied& applied) {
  const ResourceList offered = cluster_.nodes().find(node)->allocatable;
  for (const auto& [resource, count] : offered) fill(node, resource, applied);
  fill(node, Text(), applied);
}

void WhatIf::fill(const std::string& node, const Text& resource, Applied& applied) {
  auto waiting = waiting_.find(resource);
  if (waiting == waiting_.end()) return;
  std::vector<std::shared_ptr<const Pod>>& pods = waiting->second;
  for (auto it = pods.begin();
       it != pods.end() && (resource.empty() || fit_.has_room(node, resource));) {
    if (!fit_.fits(**it, node)) {
      ++it;
      continue;
    }
    Pod pod = **it;
    it = pods.erase(it);
    pod.node_name = node;
    pod.phase = PodPhase::kRunning;
    applied.pods.push_back(
        {PodEvent::Kind::kPlaced, std::make_shared<const Pod>(pod), {}, node, {}});
    fit_.pod_bound(pod);
    change_budgets(pod, 1);
    put(std::move(pod));
  }
}

// Like the disruption controller, for a pod that is not healthy now.
void WhatIf::change_budgets(const Pod& pod, int by) {
  std::vector<PodDisruptionBudget> changed;
  for (const auto& budget : cluster_.pod_disruption_budgets()) {
    if (!budget->selects(pod)) continue;
    changed.push_back(*budget);
    changed.back().current_healthy += by;
    changed.back().disruptions_allowed = std::max(0, budget->disruptions_allowed + by);
  }
  for (PodDisruptionBudget& budget : changed) put(std::move(budget));
}

void WhatIf::recount(const Node* old, const Node& now) {
  const Capacity before = old != nullptr && in_service(*old) ? gpu_capacity(*old) : Capacity();
  for (const auto& [resource, count] : before) capacity_[std::string(resource)] -= count;
  if (in_service(now))
    for (const auto& [resource, count] : gpu_capacity(now))
      capacity_[std::string(resource)] += count;
  for (const auto& [resource, count] : before) {
    std::int64_t& lowest = lowest_[std::string(resource)];
    lowest = std::min(lowest, capacity_[std::string(resource)]);
  }
}

// Node keys are cheap and come first. Keys that read every node wait while a node is about to need
// a step. The mig-parted file is rendered at the start. Later changes only make entries
// superfluous, so its key comes last.
int WhatIf::rank_of(const std::string& key) const {
  const KeyFamily& family = family_of(key);
  if (family.urgent) return 0;
  if (family.tidies) return rendered_ ? 3 : 1;
  // One pass over all nodes covers the changes of several node keys.
  return family.interval.count() > 0 ? 2 : 1;
}

std::optional<std::string> WhatIf::take_due() {
  auto key =
      std::ranges::min_element(due_, {}, [this](const std::string& k) { return rank_of(k); });
  if (key == due_.end()) return std::nullopt;
  if (rank_of(*key) > 0) {
    const Time moments = now_ + settings_.settle + settings_.verify_for;
    const bool soon = std::ranges::any_of(timers_, [&](const auto& timer) {
      return family_of(timer.first).urgent && timer.second <= moments;
    });
    if (soon) return std::nullopt;
  }
  std::string out = *key;
  due_.erase(key);
  if (family_of(out).tidies) rendered_ = true;
  return out;
}

void WhatIf::requeue(const std::string& key, std::optional<Duration> after) {
  if (after)
    timers_[key] = now_ + *after;
  else
    timers_.erase(key);
}

bool WhatIf::pass_time() {
  if (timers_.empty()) return false;
  auto next = std::ranges::min_element(timers_, {}, [](const auto& timer) { return timer.second; });
  now_ = std::max(now_, next->second);
  std::erase_if(timers_, [&](const auto& timer) {
    if (timer.second > now_) return false;
    due_.insert(timer.first);
    return true;
  });
  return true;
}

}  // namespace berth
