// SPDX-License-Identifier: Apache-2.0
// Outline: first what the node is (offer, pool, layout), then what happens to it (rollout, cordon,
// hold), then what would stand in the way of a drain (windows, the capacity guard, pods), at last
// what would change it.
#include "controller/preview/why_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "apis/names.h"
#include "controller/core/disruption_calendar.h"
#include "controller/core/pools.h"
#include "controller/core/refused_write.h"
#include "controller/mig/capacity_guard.h"
#include "controller/mig/drain.h"
#include "controller/mig/node_facts.h"
#include "controller/mig/overlap.h"
#include "controller/mig/reasons.h"
#include "controller/mig/rollout_annotation.h"
#include "controller/mig/rollout_choice.h"
#include "controller/mig/slots.h"
#include "controller/policy/policy_reasons.h"
#include "controller/policy/pool_change.h"
#include "controller/policy/pool_intent.h"
#include "controller/policy/pool_keys.h"
#include "controller/preview/refusals.h"
#include "controller/preview/words.h"

namespace berth {
namespace {

// Pods beyond these are counted.
constexpr std::size_t kEachPod = 10;

std::string told(const PoolItem& item, const Text& value) {
  return item.is_label() ? fmt::format("label {}={}", item.key.view(), value.view())
                         : "taint " + format(Taint{item.key, value, item.effect});
}

const char* told_phase(RolloutPhase phase) {
  switch (phase) {
    case RolloutPhase::kCordoned:
      return "being drained";
    case RolloutPhase::kApplying:
      return "being repartitioned";
    case RolloutPhase::kRollingBack:
      return "being rolled back";
    case RolloutPhase::kIdle:
    case RolloutPhase::kFailed:
      break;
  }
  return "out";
}

// Of a node that berth has taken and whose record is gone.
std::optional<Slot> lost_slot(const Snapshot& snapshot, const Node& node) {
  const Ledger ledger = read_ledger(snapshot);
  const Slot* slot = ledger.find(node.meta.name);
  if (slot == nullptr || slot->node_uid != node.meta.uid ||
      !is_record_lost(*slot, read_rollout(node)))
    return std::nullopt;
  return *slot;
}

// What the layout's status says of a write that the API server refuses, or nullptr.
const NodeDetail* refusal_told(const MIGLayout& layout, std::string_view node) {
  const auto told = std::ranges::find_if(layout.status.details, [&](const NodeDetail& detail) {
    return detail.node == node && detail.reason == reasons::kWriteRefused;
  });
  return told == layout.status.details.end() ? nullptr : &*told;
}

class NodeWhy {
 public:
  NodeWhy(const Snapshot& snapshot, const Node& node) : snapshot_(snapshot), node_(node) {}
  Explanation explain();

 private:
  void note_offer();
  void note_pool();
  void note_pool_keys(const PoolSpec& pool);
  void note_layout();
  void note_rollout();
  void note_cordon();
  void note_window();
  void note_guard();
  void note_drain();
  void conclude();
  void advise();
  void advise_on(std::string_view reason);

  bool differs() const { return standing_ && standing_->bucket != NodeBucket::kUpdated; }
  // Its GPUs will be cut anew, and its pods still have to go.
  bool to_be_drained() const {
    return standing_ && (standing_->phase == "Waiting" || standing_->phase == "Cordoned" ||
                         standing_->phase == "Draining");
  }
  void remedy(std::string message, std::string line = {}) {
    out_.remedies.push_back({std::move(message), std::move(line), {}});
  }

  const Snapshot& snapshot_;
  const Node& node_;
  const MIGLayout* owner_ = nullptr;
  std::optional<NodeStanding> standing_;  // in its owner's rollout
  std::size_t place_ = 0;                 // in the owner's order, from 1; 0: not in it
  std::size_t queue_ = 0;
  std::vector<PodVerdict> stuck_;  // pods that may not go
  Explanation out_;
};

Explanation NodeWhy::explain() {
  out_.subject = ref_of(node_);
  note_offer();
  note_pool();
  note_layout();
  note_rollout();
  note_cordon();
  note_window();
  note_guard();
  note_drain();
  conclude();
  advise();
  return std::move(out_);
}

void NodeWhy::note_offer() {
  std::string offered;
  ResourceList held;
  for (const Tenant& tenant : snapshot_.cluster.tenants_of(node_.meta.name))
    each_demand(tenant, [&](const Text& resource, std::int64_t count) {
      held[resource] += Quantity::whole(count);
    });
  for (const auto& [resource, count] : node_.allocatable)
    if (is_gpu_resource(resource) && !count.is_zero())
      offered += fmt::format("{}{}: {} ({} held)", offered.empty() ? "" : ", ", resource.view(),
                             count.str(), held.get(resource).str());
  const std::optional<Inventory> inventory = inventory_of(node_);
  std::string text =
      inventory ? fmt::format("{} × {}; ", inventory->count, inventory->product) : "";
  text += offered.empty() ? "no GPU resource is offered" : offered;
  out_.add("offers", text, offered.empty() ? "NoGPUsOffered" : "");
}

void NodeWhy::note_pool() {
  const GPUClusterPolicy* policy = find_policy(snapshot_.cluster);
  const std::string_view label = label_of(node_, names::kPoolLabel);
  if (policy == nullptr) {
    if (!label.empty())
      out_.add("pool", fmt::format("labelled {}={}, but there is no GPUClusterPolicy",
                                   names::kPoolLabel, label));
    return;
  }
  const std::vector<const PoolSpec*> pools = pools_selecting(*policy, node_);
  if (pools.empty()) {
    out_.add("pool", fmt::format("none: no pool's nodeSelector takes it{}",
                                 label.empty() ? ""
                                               : fmt::format("; label {}={} is about to go",
                                                             names::kPoolLabel, label)));
    return;
  }
  const PoolSpec& pool = *pools.front();
  out_.add("pool",
           fmt::format("{}: its nodeSelector is {}", pool.name, format(pool.node_selector)));
  if (pools.size() > 1) {
    std::vector<std::string> others;
    for (std::size_t i = 1; i < pools.size(); ++i) others.push_back(pools[i]->name);
    out_.add("pool",
             fmt::format("{} would take it too; the first in the policy's list has it: narrow a "
                         "nodeSelector",
                         name_some(others, "pool")),
             "PoolConflict");
  }
  note_pool_keys(pool);
}

// What of the pool the node shows, by berth's own record, and what not.
void NodeWhy::note_pool_keys(const PoolSpec& pool) {
  const PoolIntent intent = intent_of(pool, agent_tolerations(snapshot_));
  const PoolChange change = compute_pool_change(node_, &intent);
  std::vector<std::string> put, due, others, held_back;
  if (const Text* record = node_.meta.annotations.find(names::kPoolKeysAnnotation))
    if (const auto keys = decode_pool_keys(record->view()))
      for (const auto& [item, value] : keys->items) put.push_back(told(item, value));
  if (std::string_view config = label_of(node_, names::kDevicePluginConfig); !config.empty())
    put.push_back(fmt::format("label {}={}", names::kDevicePluginConfig, config));
  for (const PoolEdit& edit : change.edits)
    due.push_back(edit.to ? told(edit.item, *edit.to) : "no " + edit.item.str());
  for (const std::vector<PoolItem>* items : {&change.contested, &change.foreign})
    for (const PoolItem& item : *items) others.push_back(item.str());
  for (const Taint& taint : intent.held_back) held_back.push_back("taint " + format(taint));
  if (!put.empty()) out_.add("pool", fmt::format("berth has put there {}", fmt::join(put, ", ")));
  if (!due.empty())
    out_.add("pool", fmt::format("still to be put there: {}", fmt::join(due, ", ")));
  if (!others.empty())
    out_.add("pool", fmt::format("left as somebody else set it: {}", fmt::join(others, ", ")),
             reasons::kKeysContested);
  if (!held_back.empty())
    out_.add(
        "pool",
        fmt::format("held back, since NVIDIA's agents do not tolerate it: {}; let ClusterPolicy's "
                    "spec.daemonsets.tolerations do so",
                    fmt::join(held_back, ", ")),
        reasons::kOperandsNotTolerant);
}

void NodeWhy::note_layout() {
  const LayoutOwners owners(snapshot_.cluster);
  owner_ = owners.owner_of(node_);
  std::vector<std::string> others;
  for (const auto& layout : snapshot_.cluster.mig_layouts())
    if (layout.get() != owner_ && selects(*layout, node_)) others.push_back(layout->meta.name);
  if (owner_ == nullptr) {
    if (snapshot_.cluster.mig_layouts().size() > 0)
      out_.add("layout", "none: no MIGLayout selects it");
    return;
  }
  out_.add("layout",
           fmt::format("MIGLayout/{}, priority {}", owner_->meta.name, owner_->spec.priority));
  if (!others.empty())
    out_.add(
        "layout",
        fmt::format("{} would take it too, and gives way: the higher priority wins, then the older",
                    name_some(others, "layout")),
        "LayoutConflict");
}

void NodeWhy::note_rollout() {
  if (owner_ == nullptr) return;
  RolloutChoice choice = decide_rollout(snapshot_, *owner_);
  for (NodeStanding& standing : choice.nodes)
    if (standing.node == &node_) standing_ = std::move(standing);
  if (!standing_) return;
  // Only the controller hears of refusals: what it tells of the node stands in for what is seen
  // here.
  if (const NodeDetail* refused = refusal_told(*owner_, node_.meta.name); refused && differs()) {
    standing_->phase = refused->phase;
    standing_->reason = refused->reason;
    standing_->message = refused->message;
  }
  const auto place = std::ranges::find(choice.order, &node_);
  queue_ = choice.order.size();
  if (place != choice.order.end())
    place_ = static_cast<std::size_t>(place - choice.order.begin()) + 1;

  std::string text = standing_->phase;
  if (!standing_->reason.empty()) text += fmt::format(", {}", standing_->reason);
  if (standing_->since) text += fmt::format("; since {}", format_time(*standing_->since));
  out_.add("rollout", text, standing_->reason);
  const std::string_view now = label_of(node_, names::kMigConfig);
  if (differs() && !standing_->config.empty() && now != standing_->config)
    out_.add("rollout", fmt::format("{} is {} and is to be {}", names::kMigConfig,
                                    now.empty() ? "not set" : now, standing_->config));
  if (place_ > 0)
    out_.add(
        "rollout",
        fmt::format("number {} of {} still to go; at most {} may be unavailable, {} {}", place_,
                    queue_, choice.budget, choice.out, choice.out == 1 ? "is" : "are"));
}

void NodeWhy::note_cordon() {
  if (const Text* hold = node_.meta.annotations.find(names::kHoldAnnotation))
    out_.add("hold",
             fmt::format("a person keeps berth away by annotation {}={}", names::kHoldAnnotation,
                         hold->view()),
             reasons::kHeld);
  if (std::string cordon = told_cordon(snapshot_, node_); !cordon.empty())
    out_.add("cordon", cordon, "Cordoned");
  if (!node_.ready) out_.add("ready", "the node is not Ready", reasons::kNodeNotReady);
  if (std::string mark = deletion_mark(node_); !mark.empty())
    out_.add("others", "about to be deleted: " + mark, reasons::kAutoscalerDeleting);
  if (std::string upgrade = driver_upgrade(node_); !upgrade.empty())
    out_.add("others", "its driver is being upgraded: " + upgrade, reasons::kUpgradeInProgress);
}

void NodeWhy::note_window() {
  if (!has_gpus(node_)) return;
  const GPUClusterPolicy* policy = find_policy(snapshot_.cluster);
  if (policy == nullptr) return;
  const DisruptionSpec& spec = policy->spec.disruption;
  if (spec.windows.empty() && spec.blackouts.empty()) return;
  const DisruptionStatus status = DisruptionCalendar(spec, snapshot_.zones).at(snapshot_.now);
  if (status.open)
    out_.add("window", status.closes ? fmt::format("open: disruption is allowed until {}",
                                                   format_time(*status.closes))
                                     : "open");
  else
    out_.add(
        "window",
        status.next_opening
            ? fmt::format("closed: no disruption is allowed before {}",
                          format_time(*status.next_opening))
            : "closed, and it does not open again: see spec.disruption of GPUClusterPolicy/cluster",
        reasons::kDisruptionWindow);
}

void NodeWhy::note_guard() {
  if (!to_be_drained() || standing_->phase != "Waiting") return;
  if (standing_->reason == reasons::kLastProvider || standing_->reason == reasons::kCapacityGuard)
    return;  // told already
  const Ledger ledger = read_ledger(snapshot_);
  const CapacityGuard guard(snapshot_, ledger, owner_->spec.capacity_guard);
  if (auto refusal = guard.refuse(node_)) out_.add("guard", refusal->message, refusal->reason);
}

void NodeWhy::note_drain() {
  if (!has_gpus(node_)) return;
  const DrainSpec drain = owner_ != nullptr ? owner_->spec.drain : DrainSpec();
  std::vector<std::string> free, ending;
  std::size_t told = 0;
  for (PodVerdict& verdict : pods_leaving(snapshot_, node_, drain)) {
    const std::string name = key_of(verdict.pod->meta).str();
    if (verdict.fate == PodFate::kTerminating || verdict.fate == PodFate::kAwaited)
      ending.push_back(name);
    if (verdict.fate == PodFate::kEvict) {
      const EvictionOutlook outlook = eviction_outlook(snapshot_, *verdict.pod);
      if (outlook.kind != EvictionOutlook::Kind::kNo) {
        free.push_back(name);
        continue;
      }
      verdict = {verdict.pod, PodFate::kBlocked, outlook.reason, outlook.message};
    }
    if (verdict.fate != PodFate::kBlocked) continue;
    if (++told <= kEachPod) out_.add("drain", verdict.message, verdict.reason);
    stuck_.push_back(std::move(verdict));
  }
  if (told > kEachPod)
    out_.add("drain",
             fmt::format("and {} more may not be evicted", plural(told - kEachPod, "pod")));
  if (!ending.empty())
    out_.add("drain",
             fmt::format("waited for until {} end{}: {}", ending.size() == 1 ? "it" : "they",
                         ending.size() == 1 ? "s" : "", name_some(ending, "pod")));
  if (!free.empty()) out_.add("drain", fmt::format("would be evicted: {}", name_some(free, "pod")));
  if (stuck_.empty() && ending.empty() && free.empty())
    out_.add("drain", "no pod has to leave before its GPUs are repartitioned");
}

void NodeWhy::conclude() {
  if (standing_) {
    out_.state = standing_->phase;
    out_.reason = standing_->reason;
    if (!differs())
      out_.message = fmt::format("it is as MIGLayout/{} says", owner_->meta.name);
    else
      out_.message = fmt::format("MIGLayout/{} will repartition its GPUs: {}", owner_->meta.name,
                                 standing_->message.empty() ? "under way" : standing_->message);
    if (differs()) return;
  } else {
    out_.state = in_service(node_) ? "InService" : "OutOfService";
    out_.message = "no MIGLayout is at work on it";
  }
  if (in_service(node_)) return;
  out_.reason = node_.ready ? "Cordoned" : reasons::kNodeNotReady;
  out_.message += fmt::format("; it takes no pods: {}",
                              node_.ready ? told_cordon(snapshot_, node_) : "it is not Ready");
}

void NodeWhy::advise() {
  if (differs()) advise_on(standing_->reason);
  for (const PodVerdict& verdict : stuck_)
    if (to_be_drained() && verdict.reason != standing_->reason) advise_on(verdict.reason);
  const RolloutRecord record = read_rollout(node_);
  if (node_.cordoned() && record.kept_out())
    remedy(
        "let a MIGLayout select it whose change succeeds here, or uncordon it once its GPUs are "
        "in order",
        fmt::format("kubectl uncordon {}", node_.meta.name));
  const bool by_berth =
      (record.rollout && record.rollout->berth_cordoned) || lost_slot(snapshot_, node_).has_value();
  if (node_.cordoned() && !by_berth && !(standing_ && standing_->reason == reasons::kHeld))
    remedy("uncordon it, if whoever cordoned it is done",
           fmt::format("kubectl uncordon {}", node_.meta.name));
}

// What reasons.md tells, for this node.
void NodeWhy::advise_on(std::string_view reason) {
  NodeStanding asked = *standing_;
  asked.reason = reason;
  const std::string name = node_.meta.name;
  const std::string owner = owner_->meta.name;
  const std::string line = line_for(snapshot_, *owner_, asked);
  const auto told = [&](const Explanation::Remedy& r) { return !line.empty() && r.line == line; };
  if (std::ranges::any_of(out_.remedies, told)) return;
  if (reason == reasons::kHeld && node_.meta.annotations.contains(names::kHoldAnnotation))
    remedy("let it go", fmt::format("kubectl annotate node {} {}-", name, names::kHoldAnnotation));
  if (reason == reasons::kMigManagerMissing)
    remedy("let mig-manager run there",
           fmt::format("kubectl label node {} {}=true", name, names::kDeployMigManager));
  if (reason == reasons::kMaxUnavailable)
    remedy(fmt::format("wait for its turn, number {} of {}, or allow more unavailable nodes: add "
                       "to spec of MIGLayout/{}",
                       place_, queue_, owner),
           "rollout: {maxUnavailable: N}");
  if (reason == reasons::kWriteRefused)
    remedy("change what refuses the write, as the server's words say; berth continues by itself");
  if (reason == reasons::kPodDisruptionBudget)
    remedy(
        "run one replica more of what the budget covers, or relax the budget; berth continues by "
        "itself");
  if (reason == reasons::kDisruptionWindow)
    remedy(
        "wait for the next opening, or edit the windows: spec.disruption of "
        "GPUClusterPolicy/cluster");
  if (!line.empty()) remedy(fmt::format("add to spec of MIGLayout/{}", owner), line);
}

}  // namespace

Explanation explain_node(const Snapshot& snapshot, const Node& node) {
  return NodeWhy(snapshot, node).explain();
}

std::string told_cordon(const Snapshot& snapshot, const Node& node) {
  if (!node.cordoned()) return {};
  const RolloutRecord record = read_rollout(node);
  const std::optional<Slot> slot = lost_slot(snapshot, node);
  if (slot && *slot->berth_cordoned)
    return fmt::format(
        "cordoned by berth for {}; annotation {} is gone, and berth continues from its ledger",
        slot->holder, names::kRolloutAnnotation);
  if (record.kept_out())
    return fmt::format(
        "cordoned by berth for MIGLayout/{}, which failed here: {}; it stays so "
        "until another change succeeds or somebody uncordons it",
        record.rollout->layout, record.rollout->why);
  if (record.idle() || !record.rollout->berth_cordoned) {
    if (record.idle() && !slot)
      return "cordoned, and not by berth: it stays so until somebody uncordons it";
    return "cordoned before berth took it: it stays so until somebody uncordons it";
  }
  const NodeRollout& rollout = *record.rollout;
  const MIGLayout* layout = find_layout_by_uid(snapshot.cluster, rollout.layout_uid);
  std::string text = fmt::format("cordoned by berth for MIGLayout/{}", rollout.layout);
  if (rollout.phase == RolloutPhase::kFailed)
    return text +
           ", which failed here: it stays out until the layout is edited or the agent mended";
  text += fmt::format(", {} since {}", told_phase(rollout.phase), format_time(rollout.since));
  if (layout == nullptr) return text;
  if (refusal_told(*layout, node.meta.name) != nullptr)
    return text + "; it stays so until the API server allows berth to write to it";
  const Time latest =
      rollout.since + layout->spec.rollout.progress_deadline +
      (rollout.phase == RolloutPhase::kCordoned ? layout->spec.drain.timeout : Duration::zero());
  return fmt::format("{}; {} {}", text,
                     latest < snapshot.now ? "overdue since" : "back by itself, at the latest by",
                     format_time(latest));
}

}  // namespace berth
