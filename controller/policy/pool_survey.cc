// SPDX-License-Identifier: Apache-2.0
#include "controller/policy/pool_survey.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "controller/disruption/health_record.h"
#include "controller/fleet/node_facts.h"

namespace berth {
namespace {

constexpr std::size_t kMaxDisputed = 5;

const char* strategy_label(const PoolFacts& facts) {
  switch (facts.pool->sharing.strategy) {
    case SharingStrategy::kTimeSlicing:
      return "time-slicing";
    case SharingStrategy::kMPS:
      return "mps";
    case SharingStrategy::kNone:
      break;
  }
  return "none";
}

class Surveyor {
 public:
  Surveyor(const Snapshot& snapshot, const GPUClusterPolicy& policy)
      : snapshot_(snapshot), policy_(policy) {
    if (policy.meta.deletion_timestamp) return;
    const AgentTolerations agents = agent_tolerations(snapshot);
    for (const PoolSpec& pool : policy.spec.pools) {
      PoolFacts facts{
          .pool = &pool, .intent = intent_of(pool, agents), .plugin = render_plugin_config(pool)};
      records_.push_back(
          encode_pool_keys({.pool = pool.name, .items = facts.intent.items, .corrections = 0}));
      out_.pools.push_back(std::move(facts));
    }
  }

  PoolSurvey run() {
    const std::vector<CatalogEntry>& catalog = policy_.spec.resource_catalog;
    for (std::size_t i = 0; i < catalog.size(); ++i) out_.unoffered.push_back(i);
    for (const auto& node : snapshot_.cluster.nodes()) look_at(*node);
    return std::move(out_);
  }

 private:
  void look_at(const Node& node) {
    if (carries_policy(node)) ++out_.carrying;
    PoolFacts* facts = may_join_pools(node) ? place(node) : nullptr;
    if (facts != nullptr) count(node, *facts);
    std::erase_if(out_.unoffered, [&](std::size_t i) {
      return offers(node, facts, policy_.spec.resource_catalog[i].resource);
    });
    look_at_labels(node, facts);
    look_at_plugin(node, facts);
  }

  // Whether the node offers the resource now. Resources that a layout or a pool's sharing will
  // create do not count yet.
  static bool offers(const Node& node, const PoolFacts* facts, std::string_view resource) {
    const Quantity* count = node.allocatable.find(resource);
    if (count != nullptr && *count > Quantity()) return true;
    return facts != nullptr && facts->pool->sharing.rename_by_default &&
           facts->pool->sharing.strategy != SharingStrategy::kNone && is_shared_resource(resource);
  }

  // Returns the node's pool, and records a conflict if several pools select the node.
  PoolFacts* place(const Node& node) {
    PoolFacts* first = nullptr;
    std::vector<std::string> names;
    for (PoolFacts& facts : out_.pools) {
      if (!facts.pool->node_selector.matches(node.meta.labels)) continue;
      if (first == nullptr) first = &facts;
      names.push_back(facts.pool->name);
    }
    if (names.size() > 1) {
      ++out_.conflict_count;
      if (out_.conflicts.size() < limits::kMaxConflicts)
        out_.conflicts.push_back({node.meta.name, std::move(names)});
    }
    return first;
  }

  void count(const Node& node, PoolFacts& facts) {
    ++facts.nodes;
    facts.gpus += gpus_of(*facts.pool, node);
    for (const Occupant& occupant : snapshot_.cluster.occupants_of(node.meta.name))
      each_demand(occupant, [&](const Text&, std::int64_t count) { facts.allocated += count; });
  }

  void look_at_labels(const Node& node, const PoolFacts* facts) {
    const Text* record = node.meta.annotations.find(names::kPoolKeysAnnotation);
    const bool labelled = node.meta.labels.contains(names::kPoolLabel);
    if (facts == nullptr && record == nullptr) {
      if (labelled) add_stray(node);
      return;
    }
    if (facts != nullptr && record != nullptr && in_place(node, *facts, record->view())) return;
    const PoolIntent* intent = facts != nullptr ? &facts->intent : nullptr;
    const WritableKeys& may = snapshot_.settings.node_keys;
    const PoolChange change =
        compute_pool_change(node, intent, may, intent ? Retreat::kLater : Retreat::kNow);
    if (intent != nullptr && !change.empty()) ++out_.changing;
    if (intent == nullptr && !change.empty()) out_.retreats.push_back({&node, change});
    if (change.empty() && !change.kept.empty())
      out_.retreats.push_back({&node, compute_pool_change(node, intent, may)});
    dispute(node, change.contested);
    dispute(node, change.foreign);
    if (!change.forbidden.empty()) forbid(change.forbidden, facts, record);
  }

  void add_stray(const Node& node) {
    if (out_.strays++ == 0)
      out_.stray = fmt::format("{} ({}={})", node.meta.name, names::kPoolLabel,
                               label_of(node, names::kPoolLabel));
  }

  void forbid(const std::vector<PoolItem>& items, const PoolFacts* facts, const Text* record) {
    std::optional<PoolKeys> put;
    if (record != nullptr) put = decode_pool_keys(record->view());
    for (const PoolItem& item : items) {
      const bool wanted = facts != nullptr && facts->intent.items.contains(item);
      add_forbidden({.pool = wanted ? facts->pool->name
                             : put  ? put->pool
                                    : std::string(),
                     .field = {},
                     .item = item,
                     .leaving = !wanted,
                     .nodes = 1},
                    out_.forbidden);
    }
  }

  // Checks the usual case without parsing the record.
  bool in_place(const Node& node, const PoolFacts& facts, std::string_view record) const {
    return record == records_[static_cast<std::size_t>(&facts - out_.pools.data())] &&
           std::ranges::all_of(facts.intent.items, [&](const auto& entry) {
             return shown(node, entry.first) == entry.second;
           });
  }

  void dispute(const Node& node, const std::vector<PoolItem>& items) {
    for (const PoolItem& item : items) {
      ++out_.disputed_count;
      if (out_.disputed.size() < kMaxDisputed)
        out_.disputed.push_back(fmt::format("{}: {}", node.meta.name, item.str()));
    }
  }

  void look_at_plugin(const Node& node, const PoolFacts* facts) {
    const std::string_view standing = label_of(node, names::kDevicePluginConfig);
    const bool ours = is_berths_plugin_key(standing);
    if (!standing.empty()) out_.plugin_keys.insert(std::string(standing));
    const bool wants = facts != nullptr && facts->plugin;
    const std::string_view wanted = wants ? std::string_view(facts->plugin->key) : "";
    if (standing == wanted) {
      if (wants && !shows(node, *facts)) out_.plugin_settling.push_back(&node);
      if (!wants && shows_sharing(node) && carries_policy(node))
        out_.plugin_ending.push_back(&node);
      return;
    }
    // If berth wants nothing here, the configs of other users stay.
    if (!wants && !ours) return;
    const bool foreign = !standing.empty() && !ours && standing != kDefaultPluginConfig;
    out_.plugin_due.push_back({&node, facts, std::string(standing), foreign});
    if (foreign) dispute(node, {{Text(names::kDevicePluginConfig), {}}});
  }

  // Whether the node shows the pool's sharing, as far as GPU feature discovery says for whole GPUs.
  // Partitioned GPUs have no replicas label of their own.
  static bool shows(const Node& node, const PoolFacts& facts) {
    const std::vector<std::string>& shared = facts.pool->sharing.resources;
    if (!shared.empty() && std::ranges::find(shared, kGpuResource) == shared.end()) return true;
    const std::string_view strategy = label_of(node, names::kGpuSharingStrategy);
    return strategy.empty() || label_of(node, names::kGpuReplicas) == "0" ||
           strategy == strategy_label(facts);
  }

  static bool shows_sharing(const Node& node) {
    const std::string_view strategy = label_of(node, names::kGpuSharingStrategy);
    return !strategy.empty() && strategy != "none" && label_of(node, names::kGpuReplicas) != "0";
  }

  const Snapshot& snapshot_;
  const GPUClusterPolicy& policy_;
  std::vector<std::string> records_;  // by pool, the record of a node that is in order
  PoolSurvey out_;
};

}  // namespace

bool carries_policy(const Node& node) {
  return node.meta.annotations.contains(names::kPoolKeysAnnotation) ||
         is_berths_plugin_key(label_of(node, names::kDevicePluginConfig)) ||
         is_out_for_health(node);
}

PoolSurvey survey_pools(const Snapshot& snapshot, const GPUClusterPolicy& policy) {
  return Surveyor(snapshot, policy).run();
}

}  // namespace berth
