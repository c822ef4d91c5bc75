// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/layout_status.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "apis/base/cut.h"
#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/cause.h"
#include "controller/core/conditions.h"
#include "controller/core/json_patch.h"
#include "controller/core/refused_write.h"
#include "controller/core/seeded_bugs.h"
#include "controller/core/stop.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/disruption/rollouts.h"
#include "controller/fleet/node_facts.h"
#include "controller/mig/agent_config.h"
#include "controller/mig/agent_file.h"
#include "controller/mig/layout_events.h"
#include "controller/mig/layout_reasons.h"
#include "controller/mig/overlap.h"

namespace berth {
namespace {

// Worst first: nodes that need a user, nodes out of service before nodes in service, then nodes in
// progress, then waiting ones.
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

// A node that this plan claims counts as in progress already. So a user who looks for unavailable
// nodes, for example before removing berth, sees it before the cordon. A node that was taken and
// has left the layout counts too, until it is back, because no other layout may select it. A layout
// that is being deleted owns no nodes and names these instead.
NodeCounts count(const MIGLayout& layout, const RolloutChoice& choice) {
  NodeCounts counts;
  counts.selected = static_cast<std::int32_t>(choice.nodes.size());
  if (!layout.meta.deletion_timestamp) counts.in_progress = choice.left_out;
  for (const NodeStanding& node : choice.nodes) switch (node.bucket) {
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
        ++(node.cause.reason == reasons::kClaiming ? counts.in_progress : counts.pending);
        break;
    }
  return counts;
}

const std::string& reason_of(const NodeStanding* node) { return node->cause.reason; }

// Returns the nodes that are not up to date, worst first, then by name.
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
    // metav1.Time has whole seconds, so finer times would differ from what the API server returns.
    std::optional<Time> since;
    if (node->since) since = std::chrono::floor<std::chrono::seconds>(*node->since);
    details.push_back({node->node->meta.name, node->phase, node->cause.reason,
                       cut_before_advice(node->cause.message, limits::kMaxMessage), since});
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

// Hashes what the layout asks for, independent of product names.
std::string hash_of(const RolloutChoice& choice) {
  std::set<std::string> contents;
  for (const NodeConfig& config : choice.configs) contents.insert(config.content);
  return contents.empty() ? "" : combined_hash({contents.begin(), contents.end()});
}

void add_capacity(const Node& node, std::map<std::string, std::int64_t>& capacity) {
  for (const auto& [resource, quantity] : gpus_in(node.allocatable))
    capacity[resource.str()] += quantity.as_whole().value_or(0);
}

// Whether a slot is about to be freed. An unavailable node that is in service has just been
// returned, or is being returned for another layout: berth frees its slot next. A stuck node or one
// out of service always counts as unavailable.
bool awaits_slot(const RolloutChoice& choice) {
  return choice.out > std::ranges::count_if(choice.nodes, [](const NodeStanding& node) {
           return node.stuck || !in_service(*node.node);
         });
}

// Returns why the file will not get what the layout asks for.
std::optional<std::string> no_room_in_file(const Snapshot& snapshot, const MIGLayout& layout,
                                           const std::vector<const NodeStanding*>& worst) {
  // Computes the whole file only if something is missing from it.
  if (std::ranges::find(worst, reasons::kConfigNotRendered, reason_of) == worst.end())
    return std::nullopt;
  const Result<AgentFile> file = compute_agent_file(snapshot);
  if (!file) return file.error().message;
  const AgentFile::LeftOut* left_out = file->find_left_out(layout);
  return left_out != nullptr ? std::optional(left_out->why) : std::nullopt;
}

// What happens to the nodes that are not up to date if no user acts.
struct Prospects {
  bool moves = false;                   // berth works on one of them, or is about to
  const NodeStanding* waits = nullptr;  // the worst of those that others or time can unblock
  std::optional<Cause> shut;            // why none may be taken until a user changes something
  std::optional<std::string> no_room;   // in the mig-parted file
};

std::string name_node(const NodeStanding& node) {
  return fmt::format("{}: {}", node.node->meta.name, node.cause.message);
}

// Whether only a user can bring the node back.
bool is_lost(const NodeStanding* node) {
  return node->stuck || node->bucket == NodeBucket::kFailed;
}

// Returns what blocks all nodes: a cause that applies to all of them, or lost nodes that use up the
// budget.
std::optional<Cause> shut_for_all(const RolloutChoice& choice,
                                  const std::vector<const NodeStanding*>& worst) {
  const auto kept = std::ranges::count_if(
      worst, [](const NodeStanding* node) { return is_lost(node) && node->out; });
  if (kept > 0 && kept >= choice.budget)
    return Cause{worst.front()->cause.reason, name_node(*worst.front())};
  if (!choice.closed || outlook_of(choice.closed->reason) != Outlook::kStalled) return std::nullopt;
  const auto told = std::ranges::find(worst, choice.closed->reason, reason_of);
  return Cause{choice.closed->reason,
               told != worst.end() ? name_node(**told) : choice.closed->message};
}

// Returns the outlook for a waiting node. Usually its reason decides.
Outlook outlook_for(const Snapshot& snapshot, const MIGLayout& layout, const RolloutChoice& choice,
                    const NodeStanding& node, const std::vector<const NodeStanding*>& worst) {
  if (node.cause.reason == reasons::kInitialBatch && is_lost(worst.front()))
    return Outlook::kStalled;
  // No maintenance window will open again.
  if (node.cause.reason == reasons::kDisruptionWindow && !choice.calendar_changes_at)
    return Outlook::kStalled;
  // If allocatable is not back after progressDeadline, a user has to repair the node.
  if (node.cause.reason == reasons::kAllocatableMismatch &&
      snapshot.now - snapshot.cluster.allocatable_since(node.node->meta.name) <
          layout.spec.rollout.progress_deadline)
    return Outlook::kReconciling;
  return outlook_of(node.cause.reason);
}

// Whether berth or time brings a waiting node forward: it has its config already, or it may be
// taken next.
bool comes_by_itself(const RolloutChoice& choice, const Prospects& prospects,
                     const NodeStanding& node) {
  if (node.bucket != NodeBucket::kPending) return false;
  if (node.cause.reason == reasons::kAgentPending ||
      node.cause.reason == reasons::kAllocatableMismatch)
    return true;
  if (prospects.shut || (choice.closed && choice.closed->reason != reasons::kClaiming))
    return false;
  return node.cause.reason == reasons::kAskingPods || node.cause.reason == reasons::kBackingOff ||
         node.cause.reason == reasons::kClaiming ||
         node.cause.reason == reasons::kConfigNotRendered;
}

Prospects prospects_of(const Snapshot& snapshot, const MIGLayout& layout,
                       const RolloutChoice& choice, const std::vector<const NodeStanding*>& worst) {
  Prospects prospects;
  prospects.moves = awaits_slot(choice);
  prospects.shut = shut_for_all(choice, worst);
  prospects.no_room = no_room_in_file(snapshot, layout, worst);
  for (const NodeStanding* node : worst) {
    if (node->bucket == NodeBucket::kInProgress) {
      prospects.moves |= !node->stuck;
    } else if (node->bucket != NodeBucket::kFailed) {
      if (node->cause.reason == reasons::kConfigNotRendered && prospects.no_room) continue;
      if (outlook_for(snapshot, layout, choice, *node, worst) == Outlook::kStalled) continue;
      prospects.moves |= comes_by_itself(choice, prospects, *node);
      if (prospects.waits == nullptr) prospects.waits = node;
    }
  }
  return prospects;
}

// Returns what only a user can solve. Returns nothing while a node makes or may make progress,
// unless the layout as a whole is wrong.
std::optional<Cause> stalled(const Snapshot& snapshot, const MIGLayout& layout,
                             const Prospects& prospects,
                             const std::vector<const NodeStanding*>& worst) {
  const bool going = layout.meta.deletion_timestamp.has_value();
  if (std::vector<Error> errors = check_rules(layout); !errors.empty() && !going)
    return Cause{reasons::kInvalidSpec, describe(errors.front())};
  if (const auto refused = refused_write(snapshot, ref_of(layout), names::kManagerMig))
    return Cause{reasons::kWriteRefused, refused->message};
  if (prospects.moves || worst.empty()) return std::nullopt;
  if (prospects.waits != nullptr && !prospects.shut) return std::nullopt;
  if (worst.front()->bucket == NodeBucket::kFailed)
    return Cause{reasons::kNodeFailed, name_node(*worst.front())};
  if (prospects.no_room) return Cause{reasons::kAgentConfigTooLarge, *prospects.no_room};
  if (prospects.shut) return prospects.shut;
  return Cause{worst.front()->cause.reason, name_node(*worst.front())};
}

std::string progress_of(const NodeCounts& counts) {
  return fmt::format("{} of {} nodes are up to date", counts.updated, counts.selected);
}

// A layout that is being deleted owns no nodes, unless it has to switch MIG off. It still waits for
// the nodes that it has taken.
std::vector<const Node*> nodes_on_their_way(const Snapshot& snapshot, const MIGLayout& layout) {
  std::vector<const Node*> nodes;
  for (const Node* node : nodes_under_way(snapshot.cluster)) {
    const RolloutRecord record = read_rollout(snapshot.cluster, *node);
    if (!record.idle() && record.rollout->layout_uid == layout.meta.uid) nodes.push_back(node);
  }
  return nodes;
}

std::string told_going(const Snapshot& snapshot, const MIGLayout& layout, const NodeCounts& counts,
                       const std::vector<const NodeStanding*>& worst) {
  std::vector<std::string> nodes;
  for (const Node* node : nodes_on_their_way(snapshot, layout))
    nodes.push_back(fmt::format("{} ({})", node->meta.name,
                                to_string(read_rollout(snapshot.cluster, *node).rollout->phase)));
  if (!nodes.empty()) return fmt::format("waiting for {}", fmt::join(nodes, ", "));
  if (worst.empty()) return "waiting for the nodes in progress";
  return fmt::format("MIG is off on {} of {} nodes; {}", counts.updated, counts.selected,
                     name_node(*worst.front()));
}

// The nodes of a layout that is being deleted are no longer among its nodes, so nothing else
// reports them.
std::optional<Cause> stuck_going(const Snapshot& snapshot, const MIGLayout& layout) {
  if (!layout.meta.deletion_timestamp) return std::nullopt;
  for (const Node* node : nodes_on_their_way(snapshot, layout))
    if (const auto refused = refused_write(snapshot, ref_of(*node), names::kManagerMig))
      return Cause{reasons::kWriteRefused,
                   fmt::format("{}: {}", node->meta.name, refused->message)};
  return std::nullopt;
}

Cause not_ready(const Snapshot& snapshot, const MIGLayout& layout, const RolloutChoice& choice,
                const NodeCounts& counts, const std::vector<const NodeStanding*>& worst) {
  if (layout.meta.deletion_timestamp)
    return {reasons::kDeleting, told_going(snapshot, layout, counts, worst)};
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
  return {first.cause.reason.empty() ? reasons::kRollingOut : first.cause.reason,
          fmt::format("{}; {}", progress_of(counts), name_node(first))};
}

// Returns the cause of Reconciling, in addition to Ready=False, if nothing is stalled. Nothing if a
// user has paused the layout or stopped berth.
std::optional<Cause> reconciling(const MIGLayout& layout, const Prospects& prospects,
                                 const Cause& not_ready) {
  if (not_ready.reason == reasons::kDeleting || not_ready.reason == reasons::kNoNodesSelected)
    return not_ready;
  if (prospects.moves) return Cause{reasons::kRollingOut, not_ready.message};
  if (layout.spec.rollout.paused || prospects.waits == nullptr) return std::nullopt;
  if (prospects.waits->cause.reason == reasons::kOperationsStopped) return std::nullopt;
  return Cause{prospects.waits->cause.reason, name_node(*prospects.waits)};
}

std::vector<Condition> conditions_of(const Snapshot& snapshot, const MIGLayout& layout,
                                     const RolloutChoice& choice, const NodeCounts& counts,
                                     const std::vector<const NodeStanding*>& worst) {
  std::vector<Condition> conditions;
  auto add = [&](const char* type, const char* status, const Cause& verdict) {
    std::string lost;
    if (type == std::string_view("Ready") && !choice.lost.empty())
      lost = cut(fmt::format("; {} more belong to other layouts: {}{}", choice.lost.size(),
                             choice.lost.front(), choice.lost.size() > 1 ? ", …" : ""),
                 limits::kMaxMessage / 3);
    conditions.push_back(
        {type, status, verdict.reason,
         cut_before_advice(verdict.message, limits::kMaxMessage - lost.size()) + lost,
         layout.meta.generation, snapshot.now});
  };
  const Prospects prospects = prospects_of(snapshot, layout, choice, worst);
  std::optional<Cause> stuck = stalled(snapshot, layout, prospects, worst);
  if (!stuck) stuck = stuck_going(snapshot, layout);
  if (stuck) {
    add("Ready", "False", *stuck);
    add("Stalled", "True", *stuck);
    return conditions;
  }
  if (counts.selected > 0 && counts.updated == counts.selected && !layout.meta.deletion_timestamp) {
    add("Ready", "True", {reasons::kAllNodesUpdated, progress_of(counts)});
    return conditions;
  }
  const Cause why = not_ready(snapshot, layout, choice, counts, worst);
  add("Ready", "False", why);
  if (auto going_on = reconciling(layout, prospects, why)) add("Reconciling", "True", *going_on);
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
  status.nodes = count(layout, choice);
  for (const NodeStanding& node : choice.nodes) add_capacity(*node.node, status.capacity);
  status.details = details_of(worst);
  std::vector<Condition> conditions = conditions_of(snapshot, layout, choice, status.nodes, worst);
  add_stopped(snapshot, layout.meta.generation, conditions);
  status.conditions =
      merge_conditions(layout.status.conditions, std::move(conditions), snapshot.now);

  StatusUpdate update;
  update.object = ref_of(layout);
  const bool first_out = status.nodes.in_progress > 0 && layout.status.nodes.in_progress == 0;
  update.urgent = first_out || !same_verdicts(status.conditions, layout.status.conditions);
  update.differs = status != layout.status;
  update.body = encode_status_patch(layout, status);
  if (update.differs) update.events = layout_events(layout, status, choice);
  return update;
}

}  // namespace berth
