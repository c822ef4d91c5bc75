// SPDX-License-Identifier: Apache-2.0
// Outline: add the layouts and the policy. If NVIDIA's node components do not read berth's file,
// note that and assume that they do. Record the present state and the nodes that are already out of
// service. Run to the end and record which nodes are taken out of service and which pods move.
// Record the remaining steps and why.
#include "controller/preview/project.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "controller/core/finalizer.h"
#include "controller/core/stop.h"
#include "controller/disruption/rollouts.h"
#include "controller/disruption/slots.h"
#include "controller/fleet/node_facts.h"
#include "controller/fleet/pools.h"
#include "controller/mig/config_label.h"
#include "controller/mig/preflight.h"
#include "controller/mig/reconcile.h"
#include "controller/mig/rollout_choice.h"
#include "controller/preview/applied.h"
#include "controller/preview/in_hand.h"
#include "controller/preview/policy_summary.h"
#include "controller/preview/refusals.h"
#include "controller/preview/summaries.h"
#include "controller/preview/what_if.h"
#include "controller/reconcilers/reconcile.h"

namespace berth {
namespace {

// A node that is taken a third time will not succeed.
constexpr int kMaxTakes = 2;
// Backoffs and deadlines are timers. After this many in a row without a write, nothing more will
// happen.
constexpr int kMaxIdleTimers = 32;

class Projector {
 public:
  Projector(const ClusterState& cluster, const Settings& settings, Time now, const TimeZones& zones)
      : before_(cluster), settings_(settings), world_(cluster, settings, now, zones) {}

  Projection run(const Given& given);

 private:
  // A layout, or a policy.
  template <class T>
  void put(const std::vector<T>& given);
  template <class T>
  void begin_deletion(const std::string& name);
  void switch_agents();
  void run_to_the_end();
  bool step(const std::string& key);
  void note_in_hand();
  void part_in_hand();
  std::vector<std::string> order_of_taking(const std::string& key) const;
  void note_slots(const std::vector<std::string>& order);
  void take(const std::string& node, const Slot& slot);
  bool is_back(const std::string& node, const SlotLedger& ledger) const;
  void give_back(const std::string& node);
  void note_pod(const PodEvent& event);

  const ClusterState& before_;
  const Settings& settings_;
  WhatIf world_;
  Projection out_;
  std::map<std::string, std::size_t, std::less<>> open_;  // node → its entry in out_.nodes
  std::map<std::string, int> takes_;  // node → how often it was taken out of service
  std::string last_refused_;
  // Pod without a node → indices of its node's entry and of its own.
  std::map<std::string, std::pair<std::size_t, std::size_t>> waiting_;
};

Projection Projector::run(const Given& given) {
  const Time start = world_.now();
  out_.begin = start;
  put(given.policies);
  put(given.layouts);
  for (const ObjectRef& object : given.deletions)
    if (object.kind == kKind<MIGLayout>.kind) begin_deletion<MIGLayout>(object.name);
  std::optional<GPUClusterPolicy> deleted;
  if (const GPUClusterPolicy* policy = find_policy(world_.cluster());
      policy != nullptr && given.deletes(kKind<GPUClusterPolicy>.kind)) {
    deleted = *policy;
    begin_deletion<GPUClusterPolicy>(policy->meta.name);
  }
  switch_agents();
  out_.layouts = summarize_layouts(before_, world_.snapshot(), given.layouts);
  out_.budgets = budgets_in_the_way(world_.snapshot());
  const std::map<std::string, std::int64_t> capacity = world_.capacity();

  note_in_hand();
  run_to_the_end();

  part_in_hand();
  note_end(world_.snapshot(), out_.layouts);
  out_.policy = summarize_policy(before_, world_.snapshot(), start, !given.policies.empty(),
                                 deleted ? &*deleted : nullptr);
  out_.refusals = refusals(world_.snapshot(), out_.layouts);
  out_.objects = changed_config_maps(before_, world_.cluster(), settings_);
  for (ObjectChange& change : changed_policy_objects(before_, world_.cluster(), settings_))
    out_.objects.push_back(std::move(change));
  out_.capacity = capacity_rows(capacity, world_.lowest(), world_.capacity(), world_.cluster());
  return std::move(out_);
}

template <class T>
void Projector::put(const std::vector<T>& given) {
  for (const T& object : given) world_.put(applied(object, world_.cluster(), world_.now()));
}

// Like the API server: the object exists until berth has removed its finalizer.
template <class T>
void Projector::begin_deletion(const std::string& name) {
  const T* standing = world_.cluster().template store<T>().find(name);
  if (standing == nullptr) return;
  T going = *standing;
  going.meta.deletion_timestamp = world_.now();
  if (!has_finalizer(going.meta)) going.meta.finalizers.emplace_back(names::kFinalizer);
  world_.put(std::move(going));
}

void Projector::switch_agents() {
  if (world_.cluster().mig_layouts().size() == 0) return;
  std::optional<std::string> message = agent_not_configured(world_.snapshot());
  if (!message) return;
  AgentSwitch& found = out_.agent_switch.emplace(AgentSwitch{.message = *message});

  std::vector<ClusterPolicy> policies;
  for (const auto& policy : world_.cluster().cluster_policies()) policies.push_back(*policy);
  for (ClusterPolicy& policy : policies) {
    policy.mig_manager_config_map = settings_.mig_config_map;
    found.line = fmt::format("spec.migManager.config.name: {}", settings_.mig_config_map);
    found.object = "ClusterPolicy/" + policy.meta.name;
    world_.put(std::move(policy));
  }
  if (!found.line.empty()) return;
  const DaemonSet* standing = find_mig_manager(world_.snapshot());
  DaemonSet agent = standing != nullptr ? *standing : DaemonSet();
  if (standing == nullptr) {
    agent.meta.namespace_ = settings_.agents_namespace;
    agent.meta.name = settings_.mig_manager_daemon_set;
  }
  agent.config_map_volumes.push_back(settings_.mig_config_map);
  // The line needs an existing object.
  if (standing != nullptr)
    found.line = fmt::format("volumes: [{{name: mig-parted-config, configMap: {{name: {}}}}}]",
                             settings_.mig_config_map);
  found.object = fmt::format("DaemonSet/{}/{}", agent.meta.namespace_.view(), agent.meta.name);
  world_.put(std::move(agent));
}

void Projector::run_to_the_end() {
  const std::size_t limit = 10'000 + 200 * world_.cluster().nodes().size();
  int idle_timers = 0;
  for (std::size_t steps = 0; out_.stopped.empty(); ++steps) {
    if (steps > limit) {
      out_.stopped = fmt::format("it did not finish within {} steps", limit);
    } else if (std::optional<std::string> key = world_.take_due()) {
      if (step(*key)) idle_timers = 0;
    } else if (++idle_timers > kMaxIdleTimers || !world_.pass_time()) {
      break;
    }
  }
  note_slots({});
  if (out_.stopped.empty() && !open_.empty() && !last_refused_.empty())
    out_.stopped = "a write would be refused: " + last_refused_;
  if (const auto why = why_stopped(world_.snapshot()); why && out_.stopped.empty())
    out_.stopped = why->message;
}

// Before the first step. These nodes come first in out_.nodes until the end.
void Projector::note_in_hand() {
  out_.nodes = nodes_in_hand(world_.snapshot());
  for (std::size_t i = 0; i < out_.nodes.size(); ++i) open_[out_.nodes[i].node] = i;
  for (const PodEvent& event : world_.finish_others_work().pods) note_pod(event);
}

void Projector::part_in_hand() {
  for (const auto& [node, entry] : open_) note_what_holds(world_.snapshot(), out_.nodes[entry]);
  const auto taken = std::ranges::stable_partition(
      out_.nodes, [](const NodeChange& change) { return change.in_hand.has_value(); });
  out_.under_way.assign(std::make_move_iterator(out_.nodes.begin()),
                        std::make_move_iterator(taken.begin()));
  out_.nodes.erase(out_.nodes.begin(), taken.begin());
}

// Returns whether anything was written.
bool Projector::step(const std::string& key) {
  const Plan plan = reconcile(world_.snapshot(), key);
  world_.requeue(key, plan.requeue_after);

  const bool slots = std::ranges::any_of(plan.objects, [](const ObjectSteps& object) {
    return object.object.name == names::kSlotsConfigMap;
  });
  const std::vector<std::string> order = slots ? order_of_taking(key) : std::vector<std::string>();
  const WhatIf::Applied applied = world_.apply(plan);
  for (const PodEvent& event : applied.pods) note_pod(event);
  if (!applied.refused.empty()) last_refused_ = applied.refused.back();
  if (slots) note_slots(order);
  return applied.wrote;
}

// The ledger says which nodes are taken, but not the order of those taken together.
std::vector<std::string> Projector::order_of_taking(const std::string& key) const {
  std::vector<std::string> order;
  if (!key.starts_with(kLayoutKeys)) return order;
  const std::string name = key.substr(kLayoutKeys.size());
  auto summary = std::ranges::find(out_.layouts, name, &LayoutSummary::name);
  const MIGLayout* layout = world_.cluster().mig_layouts().find(name);
  if (layout == nullptr || summary == out_.layouts.end() || summary->budget < 2) return order;
  for (const NodeClaim& claim : decide_rollout(world_.snapshot(), *layout).take)
    order.push_back(claim.node->meta.name);
  return order;
}

// Opens and closes entries when slots appear and disappear.
void Projector::note_slots(const std::vector<std::string>& order) {
  const SlotLedger ledger = read_ledger(world_.snapshot());
  std::vector<std::string> back;
  for (const auto& [node, entry] : open_)
    if (is_back(node, ledger)) back.push_back(node);
  for (const std::string& node : back) give_back(node);
  for (const std::string& node : order)
    if (const Slot* slot = ledger.find(node)) take(node, *slot);
  for (const auto& [node, slot] : ledger.slots) take(node, slot);
}

// Gone, or without a slot and in no rollout. A node that was kept out of service has no slot, and a
// node whose slot was lost has none yet.
bool Projector::is_back(const std::string& name, const SlotLedger& ledger) const {
  const Node* node = world_.cluster().nodes().find(name);
  if (node == nullptr) return true;
  const RolloutRecord record = read_rollout(world_.cluster(), *node);
  return ledger.find(name) == nullptr && record.idle() && !(record.kept_out() && node->cordoned());
}

void Projector::take(const std::string& name, const Slot& slot) {
  const Node* node = world_.cluster().nodes().find(name);
  if (node == nullptr || open_.contains(name)) return;
  const RolloutRecord record = read_rollout(world_.cluster(), *node);
  if (record.rollout && record.idle() && record.seq() >= slot.seq) return;  // about to be freed
  if (!slot.layout()) return;
  if (++takes_[name] > kMaxTakes)
    out_.stopped = fmt::format("{} would be started again and again and never finish", name);
  // If a node is taken a second time, its first outcome is dropped.
  auto first = std::ranges::find_if(out_.nodes, [&](const NodeChange& change) {
    return change.node == name && !change.in_hand &&
           change.outcome == NodeChange::Outcome::kPutBack;
  });
  if (first != out_.nodes.end()) {
    open_[name] = static_cast<std::size_t>(first - out_.nodes.begin());
    return;
  }
  open_[name] = out_.nodes.size();
  out_.nodes.push_back({.node = name,
                        .layout = std::string(*slot.layout()),
                        .from = base_config(label_of(*node, names::kMigConfig)),
                        .was_out = node->cordoned() && !record.kept_out()});
}

void Projector::give_back(const std::string& name) {
  NodeChange& change = out_.nodes[open_.at(name)];
  open_.erase(name);
  const Node* node = world_.cluster().nodes().find(name);
  if (node == nullptr) return;
  const RolloutRecord record = read_rollout(world_.cluster(), *node);
  const std::string label = base_config(label_of(*node, names::kMigConfig));
  change.to = record.rollout ? record.rollout->config : label;
  // The label of a node that was already out of service is set from the start.
  const bool relabelled =
      label != change.from || (change.in_hand && change.to == change.in_hand->config);
  const bool done = record.idle() && label == change.to && relabelled &&
                    label_of(*node, names::kMigConfigState) == "success";
  change.outcome = done ? NodeChange::Outcome::kRepartitioned : NodeChange::Outcome::kPutBack;
  if (!done && change.in_hand)
    change.in_hand->cause.message =
        record.rollout && !record.rollout->cause.empty() ? record.rollout->why : std::string();
}

void Projector::note_pod(const PodEvent& event) {
  const std::string key = key_of(event.pod->meta).str();
  if (event.kind == PodEvent::Kind::kPlaced) {
    auto waiting = waiting_.find(key);
    if (waiting == waiting_.end()) return;
    PodMove& move = out_.nodes[waiting->second.first].pods[waiting->second.second];
    move.fate = PodMove::Fate::kFitsLater;
    move.node = event.to;
    waiting_.erase(waiting);
    return;
  }
  auto open = open_.find(event.from);
  if (open == open_.end()) return;
  NodeChange& change = out_.nodes[open->second];
  change.pods.push_back(describe_move(event));
  if (event.kind == PodEvent::Kind::kPending)
    waiting_[key] = {open->second, change.pods.size() - 1};
}

}  // namespace

bool Given::about_queues() const {
  return !queues.empty() || !workloads.empty() || deletes(kKind<GPUQueue>.kind);
}

bool Given::deletes(std::string_view kind) const {
  return std::ranges::any_of(deletions,
                             [&](const ObjectRef& object) { return object.kind == kind; });
}

Projection project(const ClusterState& cluster, const Given& given, const Settings& settings,
                   Time now, const TimeZones& zones) {
  Projection out;
  out.begin = now;
  out.queues_alone = given.about_queues() && given.layouts.empty() && given.policies.empty() &&
                     !given.deletes(kKind<MIGLayout>.kind) &&
                     !given.deletes(kKind<GPUClusterPolicy>.kind);
  if (!out.queues_alone) out = Projector(cluster, settings, now, zones).run(given);
  // Quotas refer to a policy's pools.
  const bool pools_change =
      (!given.policies.empty() || given.deletes(kKind<GPUClusterPolicy>.kind)) &&
      cluster.store<GPUQueue>().size() > 0;
  if (given.about_queues() || pools_change)
    out.queues = foresee_queues(
        cluster, {given.queues, given.policies, given.workloads, given.deletions}, now);
  return out;
}

}  // namespace berth
