// SPDX-License-Identifier: Apache-2.0
#include "controller/preview/summaries.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "apis/base/names.h"
#include "apis/codec/decode.h"
#include "controller/disruption/leaving_outlook.h"
#include "controller/fleet/node_facts.h"
#include "controller/mig/agent_config.h"
#include "controller/mig/config_label.h"
#include "controller/mig/overlap.h"
#include "controller/mig/reconcile.h"
#include "controller/mig/rollout_choice.h"
#include "controller/mig/target.h"

namespace berth {
namespace {

NodeCounts count(const RolloutChoice& choice) {
  NodeCounts counts;
  for (const NodeStanding& node : choice.nodes) {
    ++counts.selected;
    if (node.bucket == NodeBucket::kUpdated) ++counts.updated;
    if (node.bucket == NodeBucket::kInProgress) ++counts.in_progress;
    if (node.bucket == NodeBucket::kBlocked) ++counts.blocked;
    if (node.bucket == NodeBucket::kFailed) ++counts.failed;
    if (node.bucket == NodeBucket::kPending) ++counts.pending;
  }
  return counts;
}

std::vector<LayoutSummary::Config> configs_of(const Snapshot& snapshot, const MIGLayout& layout,
                                              const RolloutChoice& choice) {
  std::vector<LayoutSummary::Config> configs;
  TargetResolver resolver(snapshot.cluster, layout);
  for (const NodeStanding& standing : choice.nodes) {
    const Target& target = resolver.resolve(*standing.node);
    if (!target.ok()) continue;
    auto config = std::ranges::find_if(configs, [&](const LayoutSummary::Config& c) {
      return c.name == target.config && c.product == target.product;
    });
    if (config == configs.end())
      config = configs.insert(
          configs.end(),
          {.product = target.product, .name = target.config, .layout = format(target.layout)});
    ++config->nodes;
  }
  return configs;
}

LayoutSummary::Change change_of(const ClusterState& before, const MIGLayout& layout) {
  const MIGLayout* standing = before.mig_layouts().find(layout.meta.name);
  if (standing != nullptr && layout.meta.deletion_timestamp && !standing->meta.deletion_timestamp)
    return LayoutSummary::Change::kDeleted;
  if (standing == nullptr) return LayoutSummary::Change::kCreated;
  return standing->spec == layout.spec ? LayoutSummary::Change::kUnchanged
                                       : LayoutSummary::Change::kEdited;
}

std::string left_by(const MIGLayout& layout) {
  return layout.spec.deletion_policy == DeletionPolicy::kRetain
             ? "deletionPolicy Retain: its nodes keep their MIG configuration"
             : "deletionPolicy DisableMIG: berth drains its nodes and switches MIG off";
}

// For a layout that is being deleted: once it is gone, it selects no node.
RolloutChoice choice_before(const ClusterState& before, const Snapshot& snapshot,
                            const std::string& name) {
  const Snapshot then{.cluster = before,
                      .answers = snapshot.answers,
                      .settings = snapshot.settings,
                      .now = snapshot.now,
                      .epoch = snapshot.epoch,
                      .offline = snapshot.offline,
                      .zones = snapshot.zones};
  return decide_rollout(then, *before.mig_layouts().find(name));
}

std::set<std::string> config_names(const ConfigMap* config_map) {
  std::set<std::string> names;
  if (config_map == nullptr) return names;
  auto file = config_map->data.find(names::kMigPartedKey);
  if (file == config_map->data.end()) return names;
  Result<MigConfigs> configs = parse_file(file->second);
  if (!configs) return names;
  // The file has each config with its aliases, also foreign ones.
  auto is_alias = [&](const std::string& name) {
    const std::size_t dash = name.rfind('-');
    return dash != name.npos && configs->contains(name.substr(0, dash)) &&
           names_config(name, name.substr(0, dash));
  };
  for (const auto& [name, content] : *configs)
    if (!is_alias(name)) names.insert(name);
  return names;
}

}  // namespace

std::vector<LayoutSummary> summarize_layouts(const ClusterState& before, const Snapshot& snapshot,
                                             const std::vector<MIGLayout>& given) {
  std::vector<LayoutSummary> out;
  for (const auto& layout : snapshot.cluster.mig_layouts()) {
    const LayoutSummary::Change change = change_of(before, *layout);
    const bool deleted = change == LayoutSummary::Change::kDeleted;
    const RolloutChoice choice = deleted ? choice_before(before, snapshot, layout->meta.name)
                                         : decide_rollout(snapshot, *layout);
    const MIGLayoutSpec& spec = layout->spec;
    LayoutSummary& summary = out.emplace_back();
    summary.name = layout->meta.name;
    summary.change = change;
    if (deleted) summary.left = left_by(*layout);
    summary.given = std::ranges::any_of(
        given, [&](const MIGLayout& g) { return g.meta.name == layout->meta.name; });
    summary.takes_every_node =
        spec.node_selector && spec.node_selector->empty() && spec.product_selector.empty();
    summary.before = count(choice);
    if (summary.before.selected == 0 && choice.lost.empty())
      summary.selects_none = why_none_selected(*layout, snapshot.cluster);
    summary.budget = choice.budget;
    summary.lost = choice.lost;
    summary.configs = configs_of(snapshot, *layout, choice);
  }
  return out;
}

void note_end(const Snapshot& snapshot, std::vector<LayoutSummary>& layouts) {
  for (LayoutSummary& summary : layouts) {
    const MIGLayout* layout = snapshot.cluster.mig_layouts().find(summary.name);
    if (layout == nullptr) continue;
    summary.after = count(decide_rollout(snapshot, *layout));
    for (StatusUpdate& status : reconcile_mig_layout(snapshot, summary.name).statuses)
      if (Result<MIGLayout> told = decode_object<MIGLayout>(status.body))
        summary.conditions = told->status.conditions;
  }
}

std::vector<BudgetInTheWay> budgets_in_the_way(const Snapshot& snapshot) {
  std::map<std::string, BudgetInTheWay> found;
  for (const auto& layout : snapshot.cluster.mig_layouts()) {
    for (const Node* node : decide_rollout(snapshot, *layout).order) {
      for (const PodVerdict& verdict : pods_leaving(snapshot, *node, layout->spec.drain)) {
        if (!verdict.leaves()) continue;
        if (leaving_outlook(snapshot, verdict).kind != EvictionOutlook::Kind::kNo) continue;
        for (const auto& budget : snapshot.cluster.pod_disruption_budgets()) {
          if (!budget->selects(*verdict.pod)) continue;
          BudgetInTheWay& entry = found[key_of(budget->meta).str()];
          entry.disruptions_allowed = budget->disruptions_allowed;
          if (entry.nodes.empty() || entry.nodes.back() != node->meta.name)
            entry.nodes.push_back(node->meta.name);
          entry.pods.push_back(key_of(verdict.pod->meta).str());
        }
      }
    }
  }
  std::vector<BudgetInTheWay> out;
  for (auto& [name, entry] : found) {
    entry.budget = name;
    out.push_back(std::move(entry));
  }
  return out;
}

std::vector<ObjectChange> changed_config_maps(const ClusterState& before, const ClusterState& after,
                                              const Settings& settings) {
  auto find = [&](const ClusterState& cluster) {
    return cluster.config_maps().find(settings.agents_namespace, settings.mig_config_map);
  };
  const ConfigMap* old = find(before);
  const ConfigMap* now = find(after);
  if (now == nullptr || (old != nullptr && old->data == now->data)) return {};
  ObjectChange change{.object = ref_of(*now).str(), .created = old == nullptr};
  const std::set<std::string> had = config_names(old);
  const std::set<std::string> has = config_names(now);
  for (const std::string& name : has)
    if (!had.contains(name)) change.lines.push_back("adds config " + name);
  for (const std::string& name : had)
    if (!has.contains(name)) change.lines.push_back("removes config " + name);
  return {change};
}

std::vector<CapacityRow> capacity_rows(const ResourceCounts& before, const ResourceCounts& lowest,
                                       const ResourceCounts& after, const ClusterState& cluster) {
  std::map<std::string, CapacityRow> rows;
  for (const auto& [resource, count] : before) rows[resource].before = count;
  for (const auto& [resource, count] : after) rows[resource].after = count;
  for (const auto& layout : cluster.mig_layouts()) {
    const CapacityGuardSpec& guard = layout->spec.capacity_guard;
    for (const auto& [resource, minimum] : guard.min_available) {
      std::optional<std::int64_t>& strictest = rows[resource].min_available;
      strictest = std::max(strictest.value_or(minimum), minimum);
    }
    for (const std::string& resource : guard.retire)
      if (auto row = rows.find(resource); row != rows.end()) row->second.retired = true;
  }
  std::vector<CapacityRow> out;
  for (auto& [resource, row] : rows) {
    row.resource = resource;
    auto low = lowest.find(resource);
    row.lowest = std::min({row.before, row.after, low != lowest.end() ? low->second : row.before});
    if (row.before != 0 || row.after != 0 || row.min_available) out.push_back(std::move(row));
  }
  return out;
}

PodMove describe_move(const PodEvent& event) {
  PodMove move{.pod = key_of(event.pod->meta).str(), .node = event.to, .why = event.why};
  if (const OwnerReference* owner = event.pod->meta.controller())
    move.owner = fmt::format("{}/{}", owner->kind.view(), owner->name.view());
  for (const auto& [resource, quantity] : gpus_in(event.pod->shape->requests))
    move.requests +=
        fmt::format("{}{}: {}", move.requests.empty() ? "" : ", ", resource.view(), quantity.str());
  switch (event.kind) {
    case PodEvent::Kind::kMoved:
      move.fate = PodMove::Fate::kFits;
      break;
    case PodEvent::Kind::kPlaced:
      move.fate = PodMove::Fate::kFitsLater;
      break;
    case PodEvent::Kind::kPending:
      move.fate = PodMove::Fate::kPending;
      break;
    case PodEvent::Kind::kNotRecreated:
      move.fate = PodMove::Fate::kNotRecreated;
      break;
    case PodEvent::Kind::kEnded:
      move.fate = PodMove::Fate::kEnds;
      break;
    case PodEvent::Kind::kRequeued:
      move.fate = PodMove::Fate::kRequeued;
      break;
  }
  return move;
}

}  // namespace berth
