// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/explain_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "apis/base/reasons.h"
#include "controller/core/conditions.h"
#include "controller/explain/controller_lease.h"
#include "controller/explain/cordon.h"
#include "controller/mig/rollout_choice.h"
#include "controller/preview/refusals.h"
#include "controller/preview/words.h"

namespace berth {
namespace {

const Condition* condition_of(const MIGLayout& layout, std::string_view type) {
  const auto found = std::ranges::find(layout.status.conditions, type, &Condition::type);
  return found == layout.status.conditions.end() ? nullptr : &*found;
}

// Nodes in the same state, reported once.
struct Standing {
  NodeStanding like;
  std::vector<std::string> nodes;
};

std::vector<Standing> standings_of(const MIGLayout& layout, std::vector<NodeStanding> nodes) {
  std::vector<Standing> out;
  const auto what = [](const NodeStanding& s) {
    return std::tie(s.phase, s.cause.reason, s.cause.message);
  };
  for (NodeStanding& node : nodes) {
    // Only the controller gets refusals.
    if (const NodeDetail* refused = refusal_told(layout, node.node->meta.name);
        refused != nullptr && node.bucket != NodeBucket::kUpdated) {
      node.phase = refused->phase;
      node.cause = {refused->reason, refused->message};
    }
    auto same = std::ranges::find_if(
        out, [&](const Standing& standing) { return what(standing.like) == what(node); });
    if (same == out.end()) same = out.insert(out.end(), {node, {}});
    same->nodes.push_back(node.node->meta.name);
  }
  return out;
}

// What the controller reports about the whole layout.
void note_status(const MIGLayout& layout, Explanation& out) {
  const Condition* ready = condition_of(layout, "Ready");
  const Condition* stalled = condition_of(layout, "Stalled");
  if (ready == nullptr) {
    out.state = "Unknown";
    out.message = "no berth controller has looked at it yet";
    return;
  }
  const bool is_ready = ready->status == "True";
  const bool is_stalled = stalled != nullptr && stalled->status == "True";
  const bool is_going = find_true(layout.status.conditions, "Reconciling") != nullptr;
  out.state = is_ready ? "Ready" : is_stalled ? "Stalled" : is_going ? "Reconciling" : "Suspended";
  out.reason = is_ready ? "" : is_stalled ? stalled->reason : ready->reason;
  out.message = is_stalled ? stalled->message : ready->message;
  if (layout.status.observed_generation < layout.meta.generation)
    out.add("status", "is of an older spec: the controller has not come to the last edit");
}

}  // namespace

Explanation explain_layout(const Snapshot& snapshot, const MIGLayout& layout, const Clues& clues) {
  Explanation out;
  out.subject = ref_of(layout);
  out.rights = missing_rights(clues.unread, RightsFor::kCluster, snapshot.settings);
  note_status(layout, out);
  if (const std::string absence = told_absence(snapshot, clues); !absence.empty())
    out.add("controller", absence, reasons::kNoController);
  if (!clues.knows("nodes")) return out;
  const RolloutChoice choice = decide_rollout(snapshot, layout);
  for (const Standing& standing : standings_of(layout, choice.nodes)) {
    const NodeStanding& like = standing.like;
    out.add(
        "nodes",
        fmt::format("{}{}{}{}", like.phase, like.cause.reason.empty() ? "" : ", ",
                    like.cause.reason, like.cause.message.empty() ? "" : ": " + like.cause.message),
        like.cause.reason, standing.nodes);
    if (like.bucket == NodeBucket::kUpdated || like.cause.reason.empty()) continue;
    const std::string line = line_for(snapshot, layout, like);
    if (!line.empty() &&
        std::ranges::find(out.remedies, line, &Explanation::Remedy::line) == out.remedies.end())
      out.remedies.push_back(
          {fmt::format("add to its spec, for {}", name_some(standing.nodes)), line, {}});
  }
  if (!choice.lost.empty())
    out.add("nodes", "also selected, but owned by a layout of higher precedence",
            reasons::kLayoutConflict, choice.lost);
  if (choice.nodes.empty() && choice.lost.empty())
    out.add("nodes", "none is selected", reasons::kNoNodesSelected);
  return out;
}

}  // namespace berth
