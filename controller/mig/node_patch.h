// SPDX-License-Identifier: Apache-2.0
// NodePatch: the only way in which the rollout writes a node. Each patch first tests the node's uid
// and the exact text of the rollout annotation, so a late write of an earlier leader fails. Other
// fields that the decision depended on are tested where they are changed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "controller/core/json_patch.h"
#include "controller/core/plan.h"
#include "controller/mig/situation.h"

namespace berth {

class NodePatch {
 public:
  explicit NodePatch(const Situation& situation);

  NodePatch& cordon();
  // Uncordons the node if it is still cordoned.
  NodePatch& uncordon();
  // Tests that the node is schedulable or not, as the cache shows it.
  NodePatch& same_cordon();
  // Tests that mig-manager's label and its state are as the cache shows them.
  NodePatch& same_config();
  // Sets nvidia.com/mig.config and removes its state, so that an old `success` is not taken for a
  // new one.
  NodePatch& label(std::string_view mig_config);
  // Sets labels that mig-manager left at paused-for-mig-change back to "true".
  NodePatch& restore_paused_labels();
  NodePatch& hold(std::string_view why);
  // Writes the rollout record, with this node's name and uid.
  NodePatch& rollout(NodeRollout rollout);
  NodePatch& forget_rollout();

  // Adds the steps in order. If the rollout annotation was never set, the first step makes sure
  // that the annotations map exists: a JSON patch can't test a key of a missing map.
  void plan(Plan& plan, std::string reason, std::optional<Guard> guard = std::nullopt) const;

 private:
  void same_hold();

  const Situation& s_;
  JsonPatch patch_;
  std::optional<NodeRollout> record_;  // the new record
};

}  // namespace berth
