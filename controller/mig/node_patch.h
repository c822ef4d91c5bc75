// SPDX-License-Identifier: Apache-2.0
// NodePatch: the one way in which the rollout writes a node. Each patch begins with tests of the
// node's uid and of the rollout annotation's exact text, so a late write of a deposed leader fails;
// what else the decision rested on is tested where it is changed.
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
  // Only if it is still cordoned.
  NodePatch& uncordon();
  // Tests that the node is (still) schedulable or not, as the cache shows it.
  NodePatch& same_cordon();
  // Tests that what mig-manager was told and what it answered are (still) as the cache shows them.
  NodePatch& same_config();
  // Sets nvidia.com/mig.config and takes its state away, so that an old `success` is never taken
  // for a new one.
  NodePatch& label(std::string_view mig_config);
  // What mig-manager left at paused-for-mig-change goes back to "true".
  NodePatch& restore_paused_labels();
  NodePatch& hold(std::string_view why);
  // The record, in this node's name.
  NodePatch& rollout(NodeRollout rollout);
  NodePatch& forget_rollout();

  // The steps, in order: first the annotations map is made sure of where the rollout annotation was
  // never set, since a JSON patch can't test a key of a map that isn't there.
  void plan(Plan& plan, std::string reason, std::optional<Guard> guard = std::nullopt) const;

 private:
  void same_hold();

  const Situation& s_;
  JsonPatch patch_;
  std::optional<NodeRollout> record_;  // that it leaves
};

}  // namespace berth
