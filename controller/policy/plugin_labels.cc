// SPDX-License-Identifier: Apache-2.0
#include "controller/policy/plugin_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/json_patch.h"
#include "controller/core/seeded_bugs.h"
#include "controller/disruption/rollouts.h"
#include "controller/fleet/node_facts.h"
#include "controller/policy/pool_patch.h"

namespace berth {
namespace {

// The plan after this one's writes takes further nodes.
constexpr std::size_t kMostAtOnce = 50;

bool holds_gpus(const Snapshot& snapshot, const Node& node) {
  return std::ranges::any_of(
      snapshot.cluster.occupants_of(node.meta.name),
      [](const Occupant& occupant) { return occupant.uses_gpu && !occupant.stays; });
}

class Chooser {
 public:
  Chooser(const Snapshot& snapshot, const PluginFile& file, const std::optional<Cause>& unread,
          DisruptionBudgets& budgets)
      : snapshot_(snapshot), file_(file), unread_(unread), budgets_(budgets) {}

  void consider(const PluginLabelDue& due) {
    if (due.foreign) return;
    if (std::optional<Cause> why = obstacle(due)) {
      ++out_.waiting;
      if (!out_.why) out_.why = std::move(why);
      return;
    }
    if (holds_gpus(snapshot_, *due.node)) budgets_.take(*due.node);
    out_.take.push_back(&due);
  }
  void consider(const RetreatDue& due) {
    if (std::optional<Cause> why = obstacle(due)) {
      ++out_.waiting;
      if (!out_.why) out_.why = std::move(why);
      return;
    }
    if (holds_gpus(snapshot_, *due.node)) budgets_.take(*due.node);
    out_.retreat.push_back(&due);
  }
  void settle(const Node& node) {
    budgets_.take(node);
    out_.settling.push_back(&node);
  }
  const std::vector<const Node*>& settling() const { return out_.settling; }
  PluginLabels result() { return std::move(out_); }

 private:
  std::optional<Cause> obstacle(const PluginLabelDue& due) {
    const Node& node = *due.node;
    if (budgets_.stopped()) return budgets_.stopped();
    if (out_.take.size() >= kMostAtOnce)
      return Cause{reasons::kPluginRollout, "other nodes are labelled first"};
    const bool asks = due.pool != nullptr && due.pool->plugin;
    if (asks && unread_) return unread_;
    if (asks && !file_.serves(*due.pool->plugin))
      return Cause{reasons::kPluginRollout,
                   "the device plugin's ConfigMap has to reach the nodes first"};
    if (in_others_hands(node) || nodes_under_way(snapshot_.cluster).contains(&node))
      return Cause{reasons::kPluginRollout,
                   fmt::format("{} is being repartitioned or upgraded", node.meta.name)};
    return asks ? refused_by_budgets(node) : refused_to_lose(node);
  }
  std::optional<Cause> obstacle(const RetreatDue& due) {
    if (budgets_.stopped()) return budgets_.stopped();
    if (out_.retreat.size() >= kMostAtOnce)
      return Cause{reasons::kLabelling, "other nodes come first"};
    if (due.change.edits.empty()) return std::nullopt;  // only its record is out of date
    return refused_to_lose(*due.node);
  }
  std::optional<Cause> refused_to_lose(const Node& node) {
    return seeded(SeededBug::kStripAtOnce) ? std::nullopt : refused_by_budgets(node);
  }
  std::optional<Cause> refused_by_budgets(const Node& node) {
    if (!holds_gpus(snapshot_, node)) return std::nullopt;
    if (budgets_.closed()) return budgets_.closed();
    return budgets_.refuse(node);
  }

  const Snapshot& snapshot_;
  const PluginFile& file_;
  const std::optional<Cause>& unread_;
  DisruptionBudgets& budgets_;
  PluginLabels out_;
};

}  // namespace

PluginLabels decide_plugin_labels(const Snapshot& snapshot, const PoolSurvey& survey,
                                  const PluginFile& file, const std::optional<Cause>& unread,
                                  DisruptionBudgets& budgets) {
  Chooser chooser(snapshot, file, unread, budgets);
  for (const Node* node : survey.plugin_settling) chooser.settle(*node);
  if (file.ends_sharing())
    for (const Node* node : survey.plugin_ending) chooser.settle(*node);
  std::set<const Node*> changing(chooser.settling().begin(), chooser.settling().end());
  for (const PluginLabelDue& due : survey.plugin_due)
    if (!due.foreign) changing.insert(due.node);
  // Retreats come before new nodes take their place in the budget.
  for (const RetreatDue& due : survey.retreats)
    if (!changing.contains(due.node)) chooser.consider(due);
  for (const PluginLabelDue& due : survey.plugin_due) chooser.consider(due);
  return chooser.result();
}

void plan_plugin_label(const PluginLabelDue& due, Plan& plan) {
  const std::string path = label_path(names::kDevicePluginConfig);
  JsonPatch patch;
  patch.test("/metadata/uid", due.node->meta.uid);
  patch.test_optional(path, due.standing.empty() ? std::nullopt : std::optional(due.standing));
  Write write;
  write.verb = Verb::kJsonPatch;
  write.object = ref_of(*due.node);
  write.field_manager = names::kManagerPolicy;
  if (due.pool != nullptr && due.pool->plugin) {
    patch.set(path, due.pool->plugin->key);
    write.reason =
        fmt::format("the device plugin uses the config of pool {}", due.pool->intent.pool);
  } else {
    patch.remove(path);
    write.reason = "the device plugin goes back to its default: no pool asks for a config";
  }
  write.body = patch.str();
  plan.add(ref_of(*due.node), std::move(write));
}

void plan_retreat(const RetreatDue& due, Plan& plan) {
  plan_pool_patch(*due.node, due.change,
                  "no pool asks for it any more: remove what berth put there", plan);
}

}  // namespace berth
