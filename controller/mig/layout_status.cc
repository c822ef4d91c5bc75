// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/layout_status.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "apis/names.h"
#include "controller/core/conditions.h"
#include "controller/core/json_patch.h"
#include "controller/core/refused_write.h"
#include "controller/core/seeded_bugs.h"
#include "controller/mig/agent_config.h"
#include "controller/mig/agent_file.h"
#include "controller/mig/node_facts.h"
#include "controller/mig/overlap.h"
#include "controller/mig/reasons.h"
#include "controller/mig/rollout_annotation.h"

namespace berth {
namespace {

struct Verdict {
  std::string reason;
  std::string message;
};

// Worst first: what somebody must look at, nodes that are out before those in service, then what
// moves, then what waits.
int rank(const NodeStanding& node) {
  if (node.stuck) return 1;
  switch (node.bucket) {
    case NodeBucket::kFailed:
      return 0;
    case NodeBucket::kBlocked:
      return 2;
    case NodeBucket::kInProgress:
      return 3;
    case NodeBucket::kPending:
      return 4;
    case NodeBucket::kUpdated:
      return 5;
  }
  return 5;
}

// What is claimed with this very plan counts as out already: whoever looks for nodes that are out,
// as who uninstalls berth does, finds it before the cordon.
NodeCounts count(const std::vector<NodeStanding>& nodes) {
  NodeCounts counts;
  counts.selected = static_cast<std::int32_t>(nodes.size());
  for (const NodeStanding& node : nodes) switch (node.bucket) {
      case NodeBucket::kUpdated:
        ++counts.updated;
        break;
      case NodeBucket::kInProgress:
        ++counts.in_progress;
        break;
      case NodeBucket::kBlocked:
        ++counts.blocked;
        break;
      case NodeBucket::kFailed:
        ++counts.failed;
        break;
      case NodeBucket::kPending:
        ++(node.reason == reasons::kClaiming ? counts.in_progress : counts.pending);
        break;
    }
  return counts;
}

// Nodes that are not up to date, worst first, by name within.
std::vector<const NodeStanding*> by_urgency(const std::vector<NodeStanding>& nodes) {
  std::vector<const NodeStanding*> sorted;
  for (const NodeStanding& node : nodes)
    if (node.bucket != NodeBucket::kUpdated) sorted.push_back(&node);
  std::ranges::stable_sort(sorted, {}, [](const NodeStanding* n) { return rank(*n); });
  return sorted;
}

std::vector<NodeDetail> details_of(const std::vector<const NodeStanding*>& nodes) {
  std::vector<NodeDetail> details;
  for (const NodeStanding* node : nodes) {
    if (details.size() == limits::kMaxDetails) break;
    // metav1.Time has seconds: anything finer would differ from what comes back.
    std::optional<Time> since;
    if (node->since) since = std::chrono::floor<std::chrono::seconds>(*node->since);
    details.push_back({node->node->meta.name, node->phase, node->reason,
                       truncate_before_advice(node->message, limits::kMaxMessage), since});
  }
  return details;
}

std::vector<RenderedConfig> configs_of(const RolloutChoice& choice) {
  std::vector<RenderedConfig> configs;
  for (const NodeConfig& config : choice.configs) configs.push_back({config.product, config.name});
  std::ranges::sort(configs, {},
                    [](const RenderedConfig& c) { return std::tie(c.product, c.name); });
  auto [end, last] = std::ranges::unique(configs);
  configs.erase(end, last);
  return configs;
}

// Of what is asked for, whatever the products are called.
std::string hash_of(const RolloutChoice& choice) {
  std::set<std::string> contents;
  for (const NodeConfig& config : choice.configs) contents.insert(config.content);
  return contents.empty() ? "" : combined_hash({contents.begin(), contents.end()});
}

void add_capacity(const Node& node, std::map<std::string, std::int64_t>& capacity) {
  for (const auto& [resource, quantity] : node.allocatable)
    if (is_gpu_resource(resource.view()) && !quantity.is_zero())
      capacity[resource.str()] += quantity.as_whole().value_or(0);
}

std::string name_node(const NodeStanding& node) {
  return fmt::format("{}: {}", node.node->meta.name, node.message);
}

// A node in service that counts as out has just been returned, and one of `out` that is not among
// the nodes is being returned for another layout: berth frees their slots next.
bool awaits_slot(const RolloutChoice& choice) {
  return choice.out > std::ranges::count_if(choice.nodes, [](const NodeStanding& node) {
           return node.out && (node.stuck || !in_service(*node.node));
         });
}

// Why the agents' file will not come to hold what the layout asks for.
std::optional<std::string> no_room_in_file(const Snapshot& snapshot, const MIGLayout& layout,
                                           const std::vector<const NodeStanding*>& worst) {
  // The whole file is looked at only while something is missing from it.
  if (std::ranges::find(worst, reasons::kConfigNotRendered, &NodeStanding::reason) == worst.end())
    return std::nullopt;
  const Result<AgentFile> file = compute_agent_file(snapshot);
  if (!file) return file.error().message;
  const AgentFile::LeftOut* left_out = file->find_left_out(layout);
  return left_out != nullptr ? std::optional(left_out->why) : std::nullopt;
}

// Whether anything goes on by itself: a node on its way or about to be taken, or one that waits for
// nothing but time. Nodes that wait for others' places move only as those do.
bool moves(const RolloutChoice& choice, const std::vector<const NodeStanding*>& worst) {
  return awaits_slot(choice) || std::ranges::any_of(worst, [&](const NodeStanding* node) {
           if (node->bucket == NodeBucket::kInProgress) return !node->stuck;
           if (node->bucket != NodeBucket::kPending || choice.halted) return false;
           if (node->reason == reasons::kDisruptionWindow)
             return choice.calendar_changes_at.has_value();
           return node->reason == reasons::kAskingPods || node->reason == reasons::kClaiming ||
                  node->reason == reasons::kBackingOff ||
                  node->reason == reasons::kUpgradeInProgress;
         });
}

// What only a person can solve; nothing while anything still moves by itself, unless the layout as
// a whole is wrong.
std::optional<Verdict> stalled(const Snapshot& snapshot, const MIGLayout& layout,
                               const RolloutChoice& choice, const NodeCounts& counts,
                               const std::vector<const NodeStanding*>& worst) {
  if (std::vector<Error> errors = check_rules(layout); !errors.empty())
    return Verdict{reasons::kInvalidSpec, describe(errors.front())};
  if (const auto refused = refused_write(snapshot, ref_of(layout), names::kManagerMig))
    return Verdict{reasons::kWriteRefused, refused->message};
  if (moves(choice, worst)) return std::nullopt;
  if (counts.failed > 0) return Verdict{reasons::kNodeFailed, name_node(*worst.front())};
  auto hopeless = std::ranges::find_if(worst, [](const NodeStanding* node) {
    return node->reason == reasons::kInvalidLayout || node->reason == reasons::kUnknownProduct ||
           node->reason == reasons::kContested ||
           (node->reason == reasons::kAgentFailed && node->bucket == NodeBucket::kPending);
  });
  if (hopeless != worst.end()) return Verdict{(*hopeless)->reason, name_node(**hopeless)};
  if (auto why = no_room_in_file(snapshot, layout, worst))
    return Verdict{reasons::kAgentConfigTooLarge, *why};
  // Allocatable that does not come back to what it was is somebody's to mend.
  auto lost = std::ranges::find_if(worst, [&](const NodeStanding* node) {
    return node->reason == reasons::kAllocatableMismatch && node->bucket == NodeBucket::kPending &&
           snapshot.now - snapshot.cluster.allocatable_since(node->node->meta.name) >=
               layout.spec.rollout.progress_deadline;
  });
  if (lost != worst.end()) return Verdict{(*lost)->reason, name_node(**lost)};

  if (worst.empty() || layout.spec.rollout.paused) return std::nullopt;
  if (counts.blocked > 0 || worst.front()->stuck)
    return Verdict{worst.front()->reason, name_node(*worst.front())};
  // Nodes that are out, and not by berth, take the whole budget.
  if (worst.front()->reason == reasons::kMaxUnavailable)
    return Verdict{worst.front()->reason, name_node(*worst.front())};
  return std::nullopt;
}

std::string progress_of(const NodeCounts& counts) {
  return fmt::format("{} of {} nodes are up to date", counts.updated, counts.selected);
}

// A layout that goes owns no node any more, and still waits for those that it has taken.
std::string nodes_on_their_way(const Snapshot& snapshot, const MIGLayout& layout) {
  std::vector<std::string> nodes;
  for (const Node* node : snapshot.cluster.nodes_under_way()) {
    const RolloutRecord record = read_rollout(*node);
    if (record.idle() || record.rollout->layout_uid != layout.meta.uid) continue;
    nodes.push_back(fmt::format("{} ({})", node->meta.name, to_string(record.rollout->phase)));
  }
  return nodes.empty() ? "the nodes in progress" : fmt::format("{}", fmt::join(nodes, ", "));
}

Verdict not_ready(const Snapshot& snapshot, const MIGLayout& layout, const RolloutChoice& choice,
                  const NodeCounts& counts, const std::vector<const NodeStanding*>& worst) {
  if (layout.meta.deletion_timestamp)
    return {reasons::kDeleting, "waiting for " + nodes_on_their_way(snapshot, layout)};
  if (counts.selected == 0)
    return {reasons::kNoNodesSelected,
            choice.lost.empty()
                ? why_none_selected(layout, snapshot.cluster) +
                      "; label the nodes, or edit spec.nodeSelector or spec.productSelector"
                : "other MIGLayouts own every selected node: " + choice.lost.front() +
                      "; the higher priority wins, then the older layout"};
  if (layout.spec.rollout.paused)
    return {reasons::kPaused, progress_of(counts) + "; spec.rollout.paused is set"};
  const NodeStanding& first = *worst.front();
  return {first.reason.empty() ? reasons::kRollingOut : first.reason,
          fmt::format("{}; {}", progress_of(counts), name_node(first))};
}

std::vector<Condition> conditions_of(const Snapshot& snapshot, const MIGLayout& layout,
                                     const RolloutChoice& choice, const NodeCounts& counts,
                                     const std::vector<const NodeStanding*>& worst) {
  std::vector<Condition> conditions;
  auto add = [&](const char* type, const char* status, const Verdict& verdict) {
    std::string lost;
    if (type == std::string_view("Ready") && !choice.lost.empty())
      lost = truncate(fmt::format("; {} more belong to other layouts: {}{}", choice.lost.size(),
                                  choice.lost.front(), choice.lost.size() > 1 ? ", …" : ""),
                      limits::kMaxMessage / 3);
    conditions.push_back(
        {type, status, verdict.reason,
         truncate_before_advice(verdict.message, limits::kMaxMessage - lost.size()) + lost,
         layout.meta.generation, snapshot.now});
  };
  const std::optional<Verdict> stuck = stalled(snapshot, layout, choice, counts, worst);
  const bool ready = !stuck && counts.selected > 0 && counts.updated == counts.selected &&
                     !layout.meta.deletion_timestamp;
  if (ready) {
    add("Ready", "True", {reasons::kAllNodesUpdated, progress_of(counts)});
    return conditions;
  }
  const Verdict why = stuck ? *stuck : not_ready(snapshot, layout, choice, counts, worst);
  add("Ready", "False", why);
  if (stuck)
    add("Stalled", "True", *stuck);
  else if (counts.selected > 0 && !layout.spec.rollout.paused)
    add("Reconciling", "True", {reasons::kRollingOut, why.message});
  return conditions;
}

}  // namespace

StatusUpdate compute_layout_status(const Snapshot& snapshot, const MIGLayout& layout,
                                   const RolloutChoice& choice) {
  const std::vector<const NodeStanding*> worst = by_urgency(choice.nodes);
  MIGLayoutStatus status;
  status.observed_generation =
      layout.meta.generation + (seeded(SeededBug::kFutureGeneration) ? 1 : 0);
  status.configs = configs_of(choice);
  status.config_hash = hash_of(choice);
  status.nodes = count(choice.nodes);
  for (const NodeStanding& node : choice.nodes) add_capacity(*node.node, status.capacity);
  status.details = details_of(worst);
  status.conditions =
      merge_conditions(layout.status.conditions,
                       conditions_of(snapshot, layout, choice, status.nodes, worst), snapshot.now);

  StatusUpdate update;
  update.object = ref_of(layout);
  const bool first_out = status.nodes.in_progress > 0 && layout.status.nodes.in_progress == 0;
  update.urgent = first_out || !same_verdicts(status.conditions, layout.status.conditions);
  update.differs = status != layout.status;
  update.body = encode_status_patch(layout, status);
  return update;
}

}  // namespace berth
