// SPDX-License-Identifier: Apache-2.0
// Situation: one node with everything that decides its next step: its record, its slot, the layout
// that owns it, and what the layout means for it. Valid as long as its snapshot and LayoutView.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "controller/core/cause.h"
#include "controller/core/refused_write.h"
#include "controller/core/snapshot.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/disruption/slots.h"
#include "controller/mig/named_configs.h"
#include "controller/mig/overlap.h"
#include "controller/mig/target.h"

namespace berth {

// The layouts in one reconcile: which layout owns which node, and what each means for it.
class LayoutView {
 public:
  explicit LayoutView(const Snapshot& snapshot)
      : snapshot_(snapshot), ledger_(read_ledger(snapshot)), owners_(snapshot.cluster) {}

  const SlotLedger& ledger() const { return ledger_; }
  const MIGLayout* owner_of(const Node& node) const { return owners_.owner_of(node); }
  TargetResolver& resolver(const MIGLayout& layout);
  NamedConfigs& configs();

  // Returns the owned nodes on which berth has given up the layout's current config. If they reach
  // rollout.maxFailures, berth takes no further node.
  const std::vector<const Node*>& failed_nodes(const MIGLayout& layout);
  bool halted(const MIGLayout& layout) {
    return static_cast<std::int64_t>(failed_nodes(layout).size()) >=
           layout.spec.rollout.max_failures;
  }

 private:
  const Snapshot& snapshot_;
  const SlotLedger& ledger_;
  LayoutOwners owners_;
  std::map<const MIGLayout*, std::unique_ptr<TargetResolver>> resolvers_;
  std::optional<NamedConfigs> configs_;  // most reconciles need only berth's own config names
  std::map<const MIGLayout*, std::vector<const Node*>> failed_;
};

struct Situation {
  const Snapshot& snapshot;
  LayoutView& view;
  const Node& node;
  RolloutRecord record;
  const Slot* slot = nullptr;        // the slot of the node's uid, of any layout
  const MIGLayout* owner = nullptr;  // the layout that owns the node; null: none
  const Target* target = nullptr;    // what it means for the node; set together with owner
  // The rules for the current rollout: those of the owner, or of the layout that took the node, or
  // defaults.
  const MIGLayoutSpec* rules = nullptr;

  // Whether the ledger has a slot of another node with this name: one that is gone, or one that the
  // cache does not know yet. reconcile_slots finds out which.
  bool name_is_taken() const;
  // Whether a rollout holds the node's slot. Slots of other holders do not concern it.
  bool slot_is_ours() const;
  // Whether only the slot has what berth recorded about the node.
  bool record_is_lost() const { return slot_is_ours() && is_record_lost(*slot, record); }
  bool held() const;
  std::string_view label() const;  // nvidia.com/mig.config
  std::string_view state() const;  // nvidia.com/mig.config.state
  bool agent_at_work() const { return state() == "pending" || state() == "rebooting"; }
  // Whether the config of this name is the target's, or another one with the same result for the
  // node's GPUs.
  bool gives_target(std::string_view config) const;
  // Whether the label, the mig-manager and allocatable all say that the GPUs have the target's
  // layout.
  bool is_right() const;
  // Whether the label and the mig-manager say so under another config name, and the node offers
  // less.
  bool is_short() const;
  // Returns since when allocatable has been as it is, but not before this process first saw it.
  Time right_since() const { return snapshot.cluster.allocatable_since(node.meta.name); }
  // Returns the rollout's last write of the node if the API server refused it.
  std::optional<RefusedWrite> refused() const;
};
Situation situation_of(const Snapshot& snapshot, LayoutView& view, const Node& node);
// For a known owner.
Situation situation_of(const Snapshot& snapshot, LayoutView& view, const Node& node,
                       const MIGLayout* owner);

// Returns why mig-manager can't work on the node now; nothing if it can. For example the node is
// not ready, the driver is being upgraded, or mig-manager is missing.
std::optional<Cause> obstacle_on(const Snapshot& snapshot, const Node& node);

// Returns why a node that was taken and not relabelled has to be restored, as the end of "restored:
// …"; nothing if the rollout continues.
std::optional<std::string> reason_to_restore(const Situation& situation);

}  // namespace berth
