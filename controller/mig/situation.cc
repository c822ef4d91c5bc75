// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/situation.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/seeded_bugs.h"
#include "controller/core/stop.h"
#include "controller/disruption/rollouts.h"
#include "controller/fleet/node_facts.h"
#include "controller/mig/config_label.h"
#include "controller/mig/preflight.h"

namespace berth {
namespace {

bool is_whole(const NodeLayout& layout) {
  return std::ranges::all_of(layout.per_gpu, [](const ProfileCounts& gpu) { return gpu.empty(); });
}

// Whether each GPU has one profile, with as many instances as it can hold.
bool is_full_of_one(const Target& target) {
  const ProfileCounts& first = target.layout.per_gpu.front();
  if (first.size() != 1) return false;
  const Profile* profile = target.model->find_profile(first.begin()->first);
  return profile != nullptr && profile->max_count == first.begin()->second &&
         std::ranges::all_of(target.layout.per_gpu,
                             [&](const ProfileCounts& gpu) { return gpu == first; });
}

// Whether a node that offers what the target promises can have no other layout. Under strategy
// single, the product label distinguishes instances from whole GPUs. Under strategy none, nothing
// does.
bool is_certain(const Situation& s) {
  if (is_whole(s.target->layout))
    return s.target->strategy != MigStrategy::kNone &&
           label_of(s.node, names::kGpuProduct).find("-MIG-") == std::string_view::npos;
  return s.target->strategy == MigStrategy::kMixed && is_full_of_one(*s.target);
}

// Without a label, mig-manager was never asked for a layout, and does not repartition after a
// reboot.
bool is_whole_without_config(const Situation& s) {
  return s.state().empty() && is_whole(s.target->layout) && is_certain(s) &&
         !seeded(SeededBug::kCompareNames);
}

// The files do not have the config that the label names. If berth has taken the node before, the
// label is contested instead.
bool is_told_by_offer(const Situation& s) {
  return !s.record.rollout && is_certain(s) && !s.view.configs().knows(s.node, s.label()) &&
         !seeded(SeededBug::kCompareNames);
}

}  // namespace

TargetResolver& LayoutView::resolver(const MIGLayout& layout) {
  std::unique_ptr<TargetResolver>& resolver = resolvers_[&layout];
  if (resolver == nullptr) resolver = std::make_unique<TargetResolver>(snapshot_.cluster, layout);
  return *resolver;
}

NamedConfigs& LayoutView::configs() {
  if (!configs_) configs_.emplace(snapshot_);
  return *configs_;
}

const std::vector<const Node*>& LayoutView::failed_nodes(const MIGLayout& layout) {
  auto [entry, is_new] = failed_.try_emplace(&layout);
  if (!is_new) return entry->second;
  for (const Node* node : snapshot_.cluster.view<Rollouts>().with_failures()) {
    const RolloutRecord record = read_rollout(snapshot_.cluster, *node);
    if (!record.rollout || record.rollout->failed_config.empty() || owner_of(*node) != &layout)
      continue;
    if (resolver(layout).resolve(*node).config == record.rollout->failed_config)
      entry->second.push_back(node);
  }
  return entry->second;
}

bool Situation::name_is_taken() const {
  return slot == nullptr && view.ledger().find(node.meta.name) != nullptr;
}

bool Situation::slot_is_ours() const { return slot != nullptr && slot->layout(); }

bool Situation::held() const {
  return node.meta.annotations.contains(names::kHoldAnnotation) && !seeded(SeededBug::kIgnoreHold);
}

std::string_view Situation::label() const { return label_of(node, names::kMigConfig); }

std::string_view Situation::state() const { return label_of(node, names::kMigConfigState); }

bool Situation::gives_target(std::string_view config) const {
  return names_config(config, target->config) ||
         (view.configs().gives(node, config, *target) && !seeded(SeededBug::kCompareNames));
}

bool Situation::is_right() const {
  if (owner == nullptr || !target->ok()) return false;
  const bool says_so =
      label().empty() ? is_whole_without_config(*this)
                      : state() == "success" && (gives_target(label()) || is_told_by_offer(*this));
  return says_so && !view.resolver(*owner).mismatch(*target, node);
}

bool Situation::is_short() const {
  return owner != nullptr && target->ok() && state() == "success" &&
         !names_config(label(), target->config) && gives_target(label()) &&
         view.resolver(*owner).mismatch(*target, node) &&
         view.resolver(*owner).offers_no_more(*target, node);
}

std::optional<RefusedWrite> Situation::refused() const {
  return refused_write(snapshot, ref_of(node), names::kManagerMig);
}

Situation situation_of(const Snapshot& snapshot, LayoutView& view, const Node& node) {
  return situation_of(snapshot, view, node, view.owner_of(node));
}

Situation situation_of(const Snapshot& snapshot, LayoutView& view, const Node& node,
                       const MIGLayout* owner) {
  static const MIGLayoutSpec kDefaults;
  Situation s{snapshot, view, node, read_rollout(snapshot.cluster, node)};
  const Slot* slot = view.ledger().find(node.meta.name);
  if (slot != nullptr && slot->node_uid == node.meta.uid) s.slot = slot;
  s.owner = owner;
  s.rules = &kDefaults;
  if (s.owner != nullptr) {
    s.target = &view.resolver(*s.owner).resolve(node);
    s.rules = &s.owner->spec;
  } else if (s.record.rollout) {
    if (const MIGLayout* taker = find_layout_by_uid(snapshot.cluster, s.record.rollout->layout_uid))
      s.rules = &taker->spec;
  }
  return s;
}

std::optional<Cause> obstacle_on(const Snapshot& snapshot, const Node& node) {
  if (std::string mark = deletion_mark(node); !mark.empty())
    return Cause{reasons::kAutoscalerDeleting,
                 fmt::format("the node is about to be deleted ({}); berth leaves it alone", mark)};
  if (std::string upgrade = driver_upgrade(node); !upgrade.empty())
    return Cause{reasons::kUpgradeInProgress,
                 fmt::format("the GPU operator is upgrading the driver ({}); berth waits for "
                             "upgrade-done",
                             upgrade)};
  if (!label_of(node, names::kDeployDraDriver).empty())
    return Cause{reasons::kDraNode,
                 fmt::format("the node runs NVIDIA's DRA driver, which manages MIG itself; take "
                             "it out of the layout, or remove label {}",
                             names::kDeployDraDriver)};
  if (label_of(node, names::kMigCapable) == "false")
    return Cause{reasons::kMigNotCapable,
                 fmt::format("label {}=false: GPU feature discovery finds GPUs that can't be "
                             "partitioned; take the node out of the layout",
                             names::kMigCapable)};
  std::string_view workload = label_of(node, names::kWorkloadConfig);
  if (!workload.empty() && workload != "container")
    return Cause{reasons::kVirtualMachineNode,
                 fmt::format("label {}={}: the GPUs belong to virtual machines; take the node "
                             "out of the layout",
                             names::kWorkloadConfig, workload)};
  if (!node.ready)
    return Cause{reasons::kNodeNotReady, "the node is not Ready; berth continues once it is"};
  if (!runs_mig_manager(snapshot, node))
    return Cause{reasons::kMigManagerMissing,
                 fmt::format("mig-manager does not run here; label the node {}=true",
                             names::kDeployMigManager)};
  return std::nullopt;
}

std::optional<std::string> reason_to_restore(const Situation& s) {
  if (s.owner == nullptr) return "no MIGLayout selects the node any more";
  if (auto stopped = why_stopped(s.snapshot)) return stopped->message;
  const std::string& layout = s.owner->meta.name;
  if (s.owner->spec.rollout.paused) return fmt::format("MIGLayout {} is paused", layout);
  if (!check_rules(*s.owner).empty()) return fmt::format("MIGLayout {} is not valid", layout);
  if (!s.target->ok())
    return fmt::format("MIGLayout {} can't be laid out here: {}", layout, s.target->cause.message);
  if (s.is_right()) return "the node has what the layout asks for";
  if (s.is_short()) return "its GPUs are as the layout asks, and not all of them are offered now";
  if (s.view.halted(*s.owner))
    return fmt::format("MIGLayout {} is halted by a failed node", layout);
  if (s.record.rollout && s.record.rollout->failed_config == s.target->config)
    return "this config has failed on the node";
  return std::nullopt;
}

}  // namespace berth
