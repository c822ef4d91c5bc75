// SPDX-License-Identifier: Apache-2.0
// Situation: one node with all that decides its next step: what berth remembers of it, its slot,
// the layout it belongs to and what that means on it. Valid as long as the snapshot and the
// LayoutView it was made from.
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

// The layouts as one reconcile sees them: who owns which node, and what each means where.
class LayoutView {
 public:
  explicit LayoutView(const Snapshot& snapshot)
      : snapshot_(snapshot), ledger_(read_ledger(snapshot)), owners_(snapshot.cluster) {}

  const SlotLedger& ledger() const { return ledger_; }
  const MIGLayout* owner_of(const Node& node) const { return owners_.owner_of(node); }
  TargetResolver& resolver(const MIGLayout& layout);
  NamedConfigs& configs();

  // Owned nodes on which berth has given the layout's present config up. At rollout.maxFailures no
  // further node is touched.
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
  std::optional<NamedConfigs> configs_;  // most reconciles ask for no name but berth's own
  std::map<const MIGLayout*, std::vector<const Node*>> failed_;
};

struct Situation {
  const Snapshot& snapshot;
  LayoutView& view;
  const Node& node;
  RolloutRecord record;
  const Slot* slot = nullptr;        // of this very node (uid), whoever holds it
  const MIGLayout* owner = nullptr;  // the layout that wants the node; none: nobody
  const Target* target = nullptr;    // what it means here; set with owner
  // Whose rules hold for what is under way: the owner, else the layout that took the node, else
  // defaults.
  const MIGLayoutSpec* rules = nullptr;

  // The ledger has a slot of another node under its name: of one that is gone, or of one that the
  // cache has not heard of yet. reconcile_slots finds out which.
  bool name_is_taken() const;
  // A rollout claims the slot; other holders' are none of our business.
  bool slot_is_ours() const;
  // What berth remembers of the node is in its slot alone.
  bool record_is_lost() const { return slot_is_ours() && is_record_lost(*slot, record); }
  bool held() const;
  std::string_view label() const;  // nvidia.com/mig.config
  std::string_view state() const;  // nvidia.com/mig.config.state
  bool agent_at_work() const { return state() == "pending" || state() == "rebooting"; }
  // Whether the config of this name is the target's, or another one that makes the same of the
  // node's GPUs.
  bool gives_target(std::string_view config) const;
  // The label, the agent and allocatable all say that the GPUs are as the target has them.
  bool is_right() const;
  // Under another name than the target's the label and the agent say so, and the node offers less.
  bool is_short() const;
  // Not before the process looked: allocatable has stood as it does since then.
  Time right_since() const { return snapshot.cluster.allocatable_since(node.meta.name); }
  // The rollout's last write of the node, if the API server would not have it.
  std::optional<RefusedWrite> refused() const;
};
Situation situation_of(const Snapshot& snapshot, LayoutView& view, const Node& node);
// Where the owner is known already.
Situation situation_of(const Snapshot& snapshot, LayoutView& view, const Node& node,
                       const MIGLayout* owner);

// Why the agent can't be set to work on the node now, or nothing: not ready, under driver upgrade,
// about to be deleted, without mig-manager, …
std::optional<Cause> obstacle_on(const Snapshot& snapshot, const Node& node);

// Why a node that was taken and not yet relabelled has to be put back, as the end of "restored: …";
// nothing if it goes on.
std::optional<std::string> reason_to_restore(const Situation& situation);

}  // namespace berth
