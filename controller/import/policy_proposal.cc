// SPDX-License-Identifier: Apache-2.0
#include "controller/import/policy_proposal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apis/kinds/gpu_cluster_policy.h"
#include "controller/import/verdict.h"

namespace berth {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson policy_of(const OrderedJson& spec) {
  OrderedJson policy;
  policy["apiVersion"] = api_version(kKind<GPUClusterPolicy>);
  policy["kind"] = kKind<GPUClusterPolicy>.kind;
  policy["metadata"]["name"] = limits::kPolicyName;
  policy["spec"] = spec;
  return policy;
}

class PolicyImport {
 public:
  PolicyImport(const PoolNames& pools, const FlavorUses& uses, const std::string& domain,
               ImportReport& report)
      : pools_(pools), uses_(uses), domain_(domain), report_(report) {}

  // Orders the flavors from most labels to fewest, since more labels select fewer nodes. A node
  // belongs to the first pool that selects it.
  void add_pools(const std::vector<ResourceFlavor>& flavors) {
    std::vector<const ResourceFlavor*> used;
    for (const ResourceFlavor& flavor : flavors) {
      if (!uses_.contains(flavor.name))
        report_.lose(*flavor.source, "", "no quota that a GPUQueue holds names it");
      else if (!flavor.node_labels.empty())
        used.push_back(&flavor);
    }
    std::ranges::sort(used, [](const ResourceFlavor* a, const ResourceFlavor* b) {
      return std::pair(b->node_labels.size(), a->name) < std::pair(a->node_labels.size(), b->name);
    });
    for (const ResourceFlavor* flavor : used) add(*flavor);
    for (const auto& [flavor, use] : uses_)
      if (pools_.find(flavor) == nullptr)
        report_.ask(*use.source, use.path,
                    fmt::format("ResourceFlavor {} is not among the files; write pool {} with its "
                                "nodeSelector into the GPUClusterPolicy",
                                flavor, pools_.of(flavor)));
  }

  void add_levels(const std::vector<Topology>& topologies,
                  const std::vector<ResourceFlavor>& flavors) {
    for (const Topology& topology : topologies) {
      if (topology.levels.empty()) continue;
      if (spec_.contains("topologyLevels") && spec_["topologyLevels"] != topology.levels) {
        report_.lose(*topology.source, "spec.levels",
                     "a GPUClusterPolicy has one list of topologyLevels, and another Topology has "
                     "given it");
        continue;
      }
      take("topologyLevels", topology.levels, *topology.source, "spec.levels");
    }
    for (const ResourceFlavor& flavor : flavors) {
      const auto named = [&](const Topology& topology) { return topology.name == flavor.topology; };
      if (!flavor.topology.empty() && std::ranges::none_of(topologies, named))
        report_.lose(
            *flavor.source, "spec.topologyName",
            "this Topology is not among the files; write its levels into topologyLevels of "
            "the GPUClusterPolicy");
    }
  }

  void add_class(const WorkloadPriorityClass& priority) {
    const std::int64_t value =
        std::clamp(priority.value, -limits::kMaxPriority, limits::kMaxPriority);
    if (value != priority.value)
      report_.alter(*priority.source, "value",
                    fmt::format("a value is from {} to {}; {} is written", -limits::kMaxPriority,
                                limits::kMaxPriority, value));
    append("priorityClasses", limits::kMaxPriorityClasses,
           {{"name", priority.name}, {"value", value}}, *priority.source);
  }

  PolicyProposal take() {
    if (spec_.is_null()) return {};
    return {policy_of(spec_).dump(), std::move(sources_)};
  }

 private:
  void add(const ResourceFlavor& flavor) {
    const std::string pool = pools_.of(flavor.name);
    OrderedJson entry;
    entry["name"] = pool;
    std::map<std::string, std::string> labels, moving;
    for (const auto& [key, value] : flavor.node_labels)
      (is_fixed(key, value) ? labels : moving).emplace(key, value);
    if (!moving.empty()) {
      labels[domain_ + "/pool"] = pool;
      tell_moving(flavor, moving, pool);
    }
    entry["nodeSelector"]["matchLabels"] = labels;
    append("pools", limits::kMaxPools, entry, *flavor.source);
    if (pool != flavor.name)
      report_.ask(
          *flavor.source, "metadata.name",
          fmt::format("becomes pool {}: a pool's name is one label of at most {} characters", pool,
                      limits::kMaxPoolName));
  }

  // Whether a pool may select by the label. berth changes some labels with a pool or a layout, and
  // nodes would then leave the pool.
  static bool is_fixed(const std::string& key, const std::string& value) {
    OrderedJson spec;
    spec["pools"] = OrderedJson::array(
        {{{"name", "any"}, {"nodeSelector", {{"matchLabels", {{key, value}}}}}}});
    return first_fault(policy_of(spec).dump()).empty();
  }

  void tell_moving(const ResourceFlavor& flavor, const std::map<std::string, std::string>& moving,
                   const std::string& pool) {
    std::vector<std::string> terms, keys;
    for (const auto& [key, value] : flavor.node_labels) terms.push_back(key + "=" + value);
    for (const auto& [key, value] : moving) keys.push_back(key);
    report_.ask(
        *flavor.source, "spec.nodeLabels",
        fmt::format("{} would change under the pool's nodes, so pool {} selects {}/pool={}: "
                    "kubectl label node -l {} {}/pool={}",
                    fmt::join(keys, ", "), pool, domain_, pool, fmt::join(terms, ","), domain_,
                    pool));
  }

  void append(const char* list, std::int64_t most, OrderedJson entry, const Source& source) {
    OrderedJson entries = spec_.contains(list) ? spec_[list] : OrderedJson::array();
    if (std::cmp_greater_equal(entries.size(), most))
      return report_.lose(source, "",
                          fmt::format("a GPUClusterPolicy has at most {} {}", most, list));
    entries.push_back(std::move(entry));
    take(list, std::move(entries), source, "");
  }

  // Adds the value to the policy. If the policy became invalid, the report gets the value instead.
  void take(const char* field, OrderedJson value, const Source& source, const char* path) {
    OrderedJson tried = spec_;
    tried[field] = std::move(value);
    if (const std::string fault = first_fault(policy_of(tried).dump()); !fault.empty())
      return report_.lose(source, path, "a GPUClusterPolicy refuses it: " + fault);
    spec_ = std::move(tried);
    sources_.push_back(&source);
  }

  const PoolNames& pools_;
  const FlavorUses& uses_;
  const std::string& domain_;
  ImportReport& report_;
  OrderedJson spec_;
  std::vector<const Source*> sources_;
};

}  // namespace

PolicyProposal propose_policy(const KueueObjects& kueue, const PoolNames& pools,
                              const FlavorUses& uses, const std::string& label_domain,
                              ImportReport& report) {
  PolicyImport policy(pools, uses, label_domain, report);
  policy.add_pools(kueue.flavors);
  policy.add_levels(kueue.topologies, kueue.flavors);
  std::vector<const WorkloadPriorityClass*> classes;
  for (const WorkloadPriorityClass& priority : kueue.priority_classes) classes.push_back(&priority);
  std::ranges::sort(classes, [](const auto* a, const auto* b) {
    return std::pair(b->value, a->name) < std::pair(a->value, b->name);
  });
  for (const WorkloadPriorityClass* priority : classes) policy.add_class(*priority);
  return policy.take();
}

}  // namespace berth
