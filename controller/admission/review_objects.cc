// SPDX-License-Identifier: Apache-2.0
#include "controller/admission/review_objects.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "apis/codec/decode.h"
#include "apis/codec/pick_json.h"
#include "apis/kinds/gpu_cluster_policy.h"
#include "apis/kinds/gpu_queue.h"
#include "apis/kinds/gpu_queue_fields.h"
#include "apis/kinds/layout_fields.h"
#include "apis/kinds/mig_layout.h"
#include "apis/kinds/policy_fields.h"
#include "controller/admission/gpu_offers.h"
#include "controller/admission/review_queue.h"
#include "controller/core/empty_selection.h"
#include "controller/core/plural.h"
#include "controller/fleet/pools.h"
#include "controller/mig/layout_check.h"
#include "controller/mig/overlap.h"
#include "controller/mig/target.h"
#include "controller/policy/forbidden_keys.h"
#include "controller/policy/nodes_to_come.h"

namespace berth {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kNodesNamed = 4;  // items of a list in a message

void refuse_all(const std::vector<Error>& errors, ReviewFindings& findings) {
  for (const Error& error : errors) findings.refuse(error.where, error.message);
}

// --- MIGLayout ---

// The layout must fit each product that it names and that berth knows.
void check_named_products(const MIGLayout& layout, ReviewFindings& findings) {
  const MIGLayoutSpec& spec = layout.spec;
  const std::int32_t gpus = gpus_meant(spec.devices);
  for (std::size_t i = 0; i < spec.product_selector.size(); ++i) {
    const std::string& name = spec.product_selector[i];
    Result<const Product*> product = require_product(name);
    if (!product) {
      findings.warn(fmt::format("spec.productSelector[{}]", i), product.error().message);
      continue;
    }
    Result<NodeLayout> resolved = resolve_layout(spec.devices, **product, gpus);
    if (!resolved)
      findings.refuse(resolved.error().where,
                      fmt::format("on {}: {}", shorten(name), resolved.error().message));
  }
  if (spec.product_selector.empty() && models_that_fit(spec.devices, gpus).empty())
    findings.refuse("spec.devices",
                    "no product that berth knows can hold this layout; berth validate "
                    "--list-layouts PRODUCT prints those it can hold");
}

// Judges the selected nodes as the layout's reconciler does.
void check_nodes(const MIGLayout& layout, const std::vector<const Node*>& nodes,
                 const ClusterState& cluster, ReviewFindings& findings) {
  TargetResolver resolver(cluster, layout);
  std::size_t misfits = 0, judged = 0;
  std::string example, problem;
  for (const Node* node : nodes) {
    const Target& target = resolver.resolve(*node);
    const bool known = inventory_of(*node) && strategy_of(cluster, *node);
    if (known) ++judged;
    if (target.ok()) continue;
    if (problem.empty()) {
      example = node->meta.name;
      problem = target.cause.message;
    }
    if (known) ++misfits;
  }
  if (problem.empty()) return;
  const std::string message =
      fmt::format("node {}: {}{}", example, problem,
                  misfits > 1 ? fmt::format(" (and {} more nodes)", misfits - 1) : "");
  if (misfits > 0 && misfits == judged && judged == nodes.size())
    findings.refuse("spec.devices", message);
  else
    findings.warn("spec.devices", message);
}

// The layout with the higher priority keeps the nodes; with equal priorities, the older one.
bool gives_way_to(const MIGLayout& layout, const MIGLayout& other) {
  if (other.spec.priority != layout.spec.priority)
    return other.spec.priority > layout.spec.priority;
  // A new object has no creation timestamp yet.
  return layout.meta.creation_timestamp == Time() ||
         other.meta.creation_timestamp <= layout.meta.creation_timestamp;
}

void check_overlaps(const MIGLayout& layout, const std::vector<const Node*>& nodes,
                    const ClusterState& cluster, ReviewFindings& findings) {
  for (const auto& other : cluster.mig_layouts()) {
    if (other->meta.name == layout.meta.name || other->meta.deletion_timestamp) continue;
    std::vector<std::string> both;
    for (const Node* node : nodes)
      if (selects(*other, *node)) both.push_back(node->meta.name);
    if (both.empty()) continue;
    findings.warn("spec.nodeSelector",
                  fmt::format("MIGLayout {} selects {} of the same nodes ({}), and {} them: the "
                              "higher spec.priority wins, then the older layout",
                              other->meta.name, both.size(), list_first(both, kNodesNamed),
                              gives_way_to(layout, *other) ? "keeps" : "loses"));
  }
}

void check_layout(const MIGLayout& layout, const ClusterState& cluster, ReviewFindings& findings) {
  refuse_all(check_rules(layout), findings);
  if (findings.refused()) return;
  check_named_products(layout, findings);
  if (findings.refused()) return;
  std::vector<const Node*> nodes;
  for (const auto& node : cluster.nodes())
    if (selects(layout, *node)) nodes.push_back(node.get());
  if (nodes.empty()) {
    findings.warn(layout.spec.node_selector ? "spec.nodeSelector" : "spec.productSelector",
                  why_none_selected(layout, cluster));
    return;
  }
  check_nodes(layout, nodes, cluster, findings);
  check_overlaps(layout, nodes, cluster, findings);
}

// --- GPUClusterPolicy ---

// The cost to match one node with all pools' selectors, in label look-ups.
std::size_t work_of(const GPUClusterPolicy& policy) {
  constexpr std::size_t kValuesAtOnce = 16;  // about one look-up's time
  std::size_t work = 0;
  for (const PoolSpec& pool : policy.spec.pools) {
    work += pool.node_selector.match_labels.size();
    for (const SelectorRequirement& r : pool.node_selector.match_expressions)
      work += 1 + r.values.size() / kValuesAtOnce;
  }
  return work;
}

void check_pools(const GPUClusterPolicy& policy, const ClusterState& cluster,
                 ReviewFindings& findings) {
  // Four million look-ups take some thirty milliseconds, and block all other requests.
  constexpr std::size_t kMaxWork = 4'000'000;
  if (work_of(policy) * cluster.nodes().size() > kMaxWork)
    return findings.warn("spec.pools",
                         "their selectors are too long to compare with every node here: berth did "
                         "not check whether two select the same node or one selects none");
  std::map<std::vector<const PoolSpec*>, std::vector<std::string>> shared;
  std::set<const PoolSpec*> selecting;
  for (const auto& node : cluster.nodes()) {
    std::vector<const PoolSpec*> pools = pools_selecting(policy, *node);
    selecting.insert(pools.begin(), pools.end());
    if (pools.size() > 1) shared[std::move(pools)].push_back(node->meta.name);
  }
  for (const auto& [pools, nodes] : shared) {
    std::vector<std::string> names;
    for (const PoolSpec* pool : pools) names.push_back(pool->name);
    findings.warn(
        "spec.pools",
        fmt::format(
            "pools {} select the same nodes ({}); {} owns them, being the first in the list",
            fmt::join(names, " and "), list_first(nodes, kNodesNamed), names.front()));
  }
  constexpr std::size_t kExplained = 4;  // each explanation reads all nodes
  std::size_t empty = 0;
  for (std::size_t i = 0; i < policy.spec.pools.size(); ++i) {
    const PoolSpec& pool = policy.spec.pools[i];
    if (selecting.contains(&pool) || pool.elastic) continue;  // an autoscaler adds its nodes
    const std::string why =
        empty++ < kExplained ? ": " + why_none_matches(pool.node_selector, cluster) : "";
    findings.warn(fmt::format("spec.pools[{}].nodeSelector", i),
                  fmt::format("pool {} selects no node of this cluster{}", pool.name, why));
  }
}

// Warns of each field, then shows the one command that allows berth to write all of them.
void check_node_keys(const GPUClusterPolicy& policy, const WritableKeys& keys,
                     ReviewFindings& findings) {
  const ForbiddenKeys forbidden = forbidden_by_spec(policy, keys);
  constexpr std::size_t kKeysNamed = 3;
  for (std::size_t i = 0; i < std::min(forbidden.size(), kKeysNamed); ++i)
    findings.warn(forbidden[i].field,
                  fmt::format("the chart does not allow berth to write {} on nodes",
                              forbidden[i].item.is_label() ? "this label" : "this taint"));
  if (forbidden.empty()) return;
  findings.warn("", "run " + line_that_allows(forbidden, keys));
}

// Whether nodes that an autoscaler adds may offer the resource once this policy is in force.
bool may_come(const GPUClusterPolicy& policy, std::string_view resource,
              const ClusterState& cluster, const GpuOffers& offers) {
  const std::vector<std::string> known = offers.resources();
  const std::set<std::string> offered(known.begin(), known.end());
  return std::ranges::any_of(policy.spec.pools, [&](const PoolSpec& pool) {
    return pool.elastic &&
           resources_to_come(cluster, pool, offered).contains(std::string(resource));
  });
}

// Whether the nodes will offer the shared resource once this policy is in force.
bool will_be_shared(const GPUClusterPolicy& policy, std::string_view resource,
                    const GpuOffers& offers) {
  if (!is_shared_resource(resource)) return false;
  return offers.find(unshared_resource(resource)) != nullptr &&
         std::ranges::any_of(policy.spec.pools,
                             [&](const PoolSpec& pool) { return shares(pool, resource); });
}

void check_catalog(const GPUClusterPolicy& policy, const ClusterState& cluster,
                   ReviewFindings& findings) {
  const GpuOffers& offers = offers_of(cluster);
  for (std::size_t i = 0; i < policy.spec.resource_catalog.size(); ++i) {
    const CatalogEntry& entry = policy.spec.resource_catalog[i];
    const GpuOffer* offer = offers.find(entry.resource);
    if ((offer == nullptr || !offer->is_known()) &&
        !will_be_shared(policy, entry.resource, offers) &&
        !may_come(policy, entry.resource, cluster, offers))
      findings.warn(fmt::format("spec.resourceCatalog[{}].resource", i),
                    fmt::format("no node or MIGLayout offers {} yet", entry.resource));
  }
}

void check_policy(const GPUClusterPolicy& policy, const ClusterState& cluster,
                  const WritableKeys& keys, ReviewFindings& findings) {
  refuse_all(check_rules(policy), findings);
  if (findings.refused()) return;
  check_pools(policy, cluster, findings);
  check_catalog(policy, cluster, findings);
  check_node_keys(policy, keys, findings);
}

template <class T, class Judge>
Result<void> check(const Json& object, Judge&& judge) {
  Result<T> decoded = decode_document<T>(object);
  if (!decoded) return decoded.error();
  if (!decoded->meta.deletion_timestamp) judge(*decoded);
  return {};
}

}  // namespace

Result<void> check_object(std::string_view kind,
                          const std::optional<simdjson::dom::element>& object,
                          const std::optional<simdjson::dom::element>& old,
                          const ClusterState& cluster, const WritableKeys& keys,
                          ReviewFindings& findings) {
  const bool layout = kind == kKind<MIGLayout>.kind, policy = kind == kKind<GPUClusterPolicy>.kind,
             queue = kind == kKind<GPUQueue>.kind;
  if (!layout && !policy && !queue) return {};
  if (!object) return decode_error("", "is required");
  const Field& spec = layout   ? layout_spec_field()
                      : policy ? policy_spec_field()
                               : queue_spec_field();
  const Result<Json> now = pick_object(*object, spec);
  if (!now) return now.error();
  if (old) {
    const Result<Json> before = pick_object(*old, spec);
    if (before && before->value("spec", Json()) == now->value("spec", Json())) return {};
  }
  if (layout)
    return check<MIGLayout>(*now,
                            [&](const MIGLayout& read) { check_layout(read, cluster, findings); });
  if (queue)
    return check<GPUQueue>(*now,
                           [&](const GPUQueue& read) { check_queue(read, cluster, findings); });
  return check<GPUClusterPolicy>(
      *now, [&](const GPUClusterPolicy& read) { check_policy(read, cluster, keys, findings); });
}

}  // namespace berth
