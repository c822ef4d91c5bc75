// SPDX-License-Identifier: Apache-2.0
#include "apis/kinds/policy_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "apis/base/cron.h"
#include "apis/base/names.h"
#include "apis/kinds/gpu_cluster_policy.h"

namespace berth {
namespace {

constexpr std::string_view kNamespaceName = "kubernetes.io/metadata.name";

bool is_own(std::string_view key) { return key.starts_with("gpu.berth.dev/"); }

// Labels whose value depends on the node's pool.
bool changes_with_pool(std::string_view label) {
  return is_own(label) || changes_with_layout(label) || label == names::kGpuSharingStrategy ||
         label == "nvidia.com/mps.capable" || label == "nvidia.com/device-plugin.config";
}

bool is_foreign_label(std::string_view key) {
  return is_own(key) || key.starts_with("nvidia.com/mig") || key.starts_with("nvidia.com/gpu.") ||
         key == "nvidia.com/device-plugin.config" || key.starts_with("kubernetes.io/") ||
         key.starts_with("node.kubernetes.io/") || key.starts_with("topology.kubernetes.io/");
}

bool is_foreign_taint(std::string_view key) {
  return is_own(key) || key.starts_with("node.kubernetes.io/");
}

class Rules {
 public:
  explicit Rules(std::vector<Error>& errors) : errors_(errors) {}

  void require(bool good, std::string where, const char* message) {
    if (!good) errors_.push_back(invalid_spec(std::move(where), message));
  }

  void check(const AgentsSpec& agents) {
    require(agents.mig_manager_config_map != agents.device_plugin_config_map,
            "spec.agents.devicePluginConfigMap", rules::kTwoFiles);
    require(agents.extra_mig_configs != agents.mig_manager_config_map,
            "spec.agents.extraMigConfigs.name", rules::kExtraIsOwn);
  }

  void check(const PoolSpec& pool, const std::string& path) {
    check_expressions(pool.node_selector, path + ".nodeSelector", errors_);
    check_labels(pool.node_selector, changes_with_pool, rules::kSelectorMoves,
                 path + ".nodeSelector", errors_);
    check(pool.sharing, path + ".sharing");
    require(pool.sharing.strategy != SharingStrategy::kMPS ||
                pool.mig_strategy.value_or(PluginMigStrategy::kNone) == PluginMigStrategy::kNone,
            path + ".migStrategy", rules::kMpsWithMig);
    check_pool_labels(pool, path + ".labels");
    for (std::size_t i = 0; i < pool.taints.size(); ++i) {
      const std::string taint = fmt::format("{}.taints[{}]", path, i);
      require(!is_foreign_taint(pool.taints[i].key.view()), taint + ".key", rules::kForeignTaint);
      require(pool.taints[i].effect != "NoExecute", taint + ".effect", rules::kNoExecute);
    }
    check_selector(pool.eligible_namespaces, path + ".eligibleNamespaces");
  }

  void check(const PriceRow& row, const std::string& path) {
    require(row.per_gpu_hour.empty() != row.per_node_hour.empty(), path, rules::kOnePrice);
    require(!row.instance_type.empty() || !row.product.empty(), path, rules::kPriceOfWhat);
  }

  void check_levels(const std::vector<std::string>& levels) {
    bool differ = true;
    for (auto it = levels.begin(); it != levels.end(); ++it)
      differ = differ && std::find(levels.begin(), it, *it) == it;
    require(differ, "spec.topologyLevels", rules::kLevelTwice);
    const bool hostname =
        std::find(levels.begin(), levels.end(), names::kHostnameLabel) != levels.end();
    require(!hostname || levels.back() == names::kHostnameLabel, "spec.topologyLevels",
            rules::kHostnameLast);
  }

  void check(const AdmissionSpec& admission) {
    const std::string path = "spec.admission.namespaceSelector";
    check_selector(admission.namespace_selector, path);
    if (!admission.namespace_selector) return;
    const Text* name = admission.namespace_selector->match_labels.find(kNamespaceName);
    require(name == nullptr || *name != "kube-system", path + ".matchLabels", rules::kKubeSystem);
  }

  void check_windows(const std::vector<WindowSpec>& windows, std::string_view path) {
    for (std::size_t i = 0; i < windows.size(); ++i) {
      Result<CronSchedule> schedule = parse_cron(windows[i].schedule);
      if (schedule) continue;
      errors_.push_back(
          invalid_spec(fmt::format("{}[{}].schedule", path, i), schedule.error().message));
    }
  }

  void check_selector(const std::optional<LabelSelector>& selector, const std::string& path) {
    if (selector) check_expressions(*selector, path, errors_);
  }

 private:
  void check(const SharingSpec& sharing, const std::string& path) {
    const bool shared = sharing.strategy != SharingStrategy::kNone;
    const bool mps = sharing.strategy == SharingStrategy::kMPS;
    require(!shared || sharing.replicas > 0, path + ".replicas", rules::kReplicasNeeded);
    require(shared || sharing.replicas == 0, path + ".replicas", rules::kReplicasForNone);
    require(!mps || sharing.replicas <= limits::kMaxMpsReplicas, path + ".replicas",
            rules::kMpsReplicas);
    require(
        !mps || std::all_of(sharing.resources.begin(), sharing.resources.end(),
                            [](const std::string& resource) { return resource == kGpuResource; }),
        path + ".resources", rules::kMpsResources);
    for (std::size_t i = 0; i < sharing.resources.size(); ++i) {
      require(!is_shared_resource(sharing.resources[i]), fmt::format("{}.resources[{}]", path, i),
              rules::kSharedName);
    }
  }

  void check_pool_labels(const PoolSpec& pool, const std::string& path) {
    const auto any = [&](auto&& is) {
      return std::any_of(pool.labels.begin(), pool.labels.end(),
                         [&](const auto& label) { return is(label.first.view()); });
    };
    require(!any(is_foreign_label), path, rules::kForeignLabel);
    require(!any([&](std::string_view key) {
      const auto& expressions = pool.node_selector.match_expressions;
      return pool.node_selector.match_labels.contains(key) ||
             std::any_of(expressions.begin(), expressions.end(),
                         [&](const SelectorRequirement& r) { return r.key == key; });
    }),
            path, rules::kSelectsOwnLabel);
  }

  std::vector<Error>& errors_;
};

}  // namespace

std::vector<Error> check_rules(const GPUClusterPolicy& policy) {
  std::vector<Error> errors;
  Rules checks(errors);
  const GPUClusterPolicySpec& spec = policy.spec;
  checks.require(policy.meta.name == limits::kPolicyName, "metadata.name", rules::kPolicyName);
  checks.check(spec.agents);
  for (std::size_t i = 0; i < spec.pools.size(); ++i)
    checks.check(spec.pools[i], fmt::format("spec.pools[{}]", i));
  for (std::size_t i = 0; i < spec.prices.size(); ++i)
    checks.check(spec.prices[i], fmt::format("spec.prices[{}]", i));
  checks.check_levels(spec.topology_levels);
  for (std::size_t i = 0; i < spec.resource_catalog.size(); ++i) {
    checks.check_selector(spec.resource_catalog[i].eligible_namespaces,
                          fmt::format("spec.resourceCatalog[{}].eligibleNamespaces", i));
  }
  for (std::size_t i = 0; i < spec.priority_classes.size(); ++i) {
    checks.require(!spec.priority_classes[i].name.starts_with("system-"),
                   fmt::format("spec.priorityClasses[{}].name", i), rules::kSystemPriority);
  }
  checks.check(spec.admission);
  checks.check_windows(spec.disruption.windows, "spec.disruption.windows");
  checks.check_windows(spec.disruption.blackouts, "spec.disruption.blackouts");
  checks.check_selector(spec.idle.exclude_selector, "spec.idle.excludeSelector");
  if (const auto& prometheus = spec.metrics.prometheus) {
    checks.require(prometheus->ca_bundle.empty() || prometheus->url.starts_with("https://"),
                   "spec.metrics.prometheus.caBundle", rules::kCaWithoutTls);
  }
  return errors;
}

}  // namespace berth
