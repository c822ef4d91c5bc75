// SPDX-License-Identifier: Apache-2.0
#include "controller/preview/in_hand.h"

#include <optional>
#include <string_view>

#include "controller/fleet/node_facts.h"
#include "controller/mig/config_label.h"
#include "controller/mig/situation.h"
#include "controller/mig/standing.h"

namespace berth {
namespace {

// Taken and not yet back: claimed, in progress, failed, or kept out of service after a failure
// although its layout is right by now.
bool is_in_hand(const Situation& s) {
  if (!s.record.idle()) return true;
  if (s.slot_is_ours()) return s.record_is_lost() || s.slot->seq > s.record.seq();
  return s.record.kept_out() && s.node.cordoned() && s.is_right();
}

std::string_view holder_of(const Situation& s) {
  if (s.slot_is_ours()) return *s.slot->layout();
  return s.record.rollout ? std::string_view(s.record.rollout->layout) : std::string_view();
}

// Another user or controller set its cordon, or is about to.
bool was_out(const Situation& s) {
  if (s.record_is_lost()) return !*s.slot->berth_cordoned;
  if (!s.record.idle()) return !s.record.rollout->berth_cordoned;
  return s.node.cordoned() && !s.record.kept_out();
}

// The node's config before the present label was written.
std::string config_before(const Situation& s) {
  const std::string label = base_config(s.label());
  if (!s.record.rollout) return label;
  switch (s.record.rollout->phase) {
    case RolloutPhase::kApplying:
    case RolloutPhase::kFailed:
      return s.record.rollout->previous;
    case RolloutPhase::kRollingBack:
      return s.record.rollout->failed_config;
    case RolloutPhase::kIdle:
    case RolloutPhase::kCordoned:
      break;
  }
  return label;
}

// The config that the node will get; for a claimed node, that of its layout.
std::string config_ahead(const Situation& s) {
  if (s.record.rollout && !s.record.idle()) return s.record.rollout->config;
  return s.target != nullptr && s.target->ok() ? s.target->config : std::string();
}

Time since(const Situation& s, const NodeStanding& standing) {
  if (standing.since) return *standing.since;
  if (s.slot != nullptr) return s.slot->since;
  return s.record.rollout ? s.record.rollout->since : Time{};
}

}  // namespace

std::vector<NodeChange> nodes_in_hand(const Snapshot& snapshot) {
  LayoutView view(snapshot);
  std::vector<NodeChange> out;
  for (const auto& node : snapshot.cluster.nodes()) {
    const Situation s = situation_of(snapshot, view, *node);
    if (!is_in_hand(s)) continue;
    const std::optional<NodeStanding> standing = standing_of(s);
    if (!standing || standing->bucket == NodeBucket::kUpdated) continue;
    NodeChange& change = out.emplace_back();
    change.node = node->meta.name;
    change.layout = holder_of(s);
    change.from = config_before(s);
    change.to = config_ahead(s);
    change.was_out = was_out(s);
    change.in_hand = {standing->phase, since(s, *standing), change.to, standing->cause};
  }
  return out;
}

void note_what_holds(const Snapshot& snapshot, NodeChange& change) {
  const Node* node = snapshot.cluster.nodes().find(change.node);
  if (node == nullptr || !change.in_hand) return;
  LayoutView view(snapshot);
  const std::optional<NodeStanding> standing = standing_of(situation_of(snapshot, view, *node));
  if (!standing) return;
  change.in_hand->cause = standing->cause;
}

}  // namespace berth
