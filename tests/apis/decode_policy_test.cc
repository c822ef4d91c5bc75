// SPDX-License-Identifier: Apache-2.0
// Decode reads every field of a GPUClusterPolicy into the right member.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "apis/codec/decode.h"
#include "apis/kinds/gpu_cluster_policy.h"

namespace berth {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

GPUClusterPolicy policy_from(const std::string& part, const std::string& json) {
  std::string body =
      part == "spec" ? R"({"spec":)" + json + "}" : R"({"spec":{},")" + part + "\":" + json + "}";
  Result<GPUClusterPolicy> policy = decode_object<GPUClusterPolicy>(body);
  EXPECT_TRUE(policy.has_value()) << describe(policy.error());
  return policy ? *policy : GPUClusterPolicy();
}

LabelSelector labelled(const Text& key, const Text& value) {
  return {.match_labels = {{key, value}}};
}

TEST(DecodePolicySpec, ReadsPoolsAndWhereTheAgentsAre) {
  const GPUClusterPolicySpec spec = policy_from("spec", R"({
      "agents":{"namespace":"nvidia","migManagerConfigMap":"parted","extraMigConfigs":{"name":"others"},
                "devicePluginConfigMap":"plugin"},
      "pools":[{"name":"lab","nodeSelector":{"matchLabels":{"tier":"lab"}},
                "sharing":{"strategy":"TimeSlicing","replicas":4,"resources":["nvidia.com/gpu"],
                           "renameByDefault":true,"failRequestsGreaterThanOne":false},
                "migStrategy":"mixed","labels":{"a":"b"},
                "taints":[{"key":"k","value":"v","effect":"NoExecute"}],
                "price":{"perGPUHour":"1.5","currency":"EUR"},
                "eligibleNamespaces":{"matchLabels":{"team":"risk"}},"elastic":{"maxNodes":9}}]})")
                                        .spec;
  EXPECT_EQ(spec.agents, (AgentsSpec{.namespace_ = "nvidia",
                                     .mig_manager_config_map = "parted",
                                     .extra_mig_configs = "others",
                                     .device_plugin_config_map = "plugin"}));
  const PoolSpec lab{.name = "lab",
                     .node_selector = labelled("tier", "lab"),
                     .sharing = {.strategy = SharingStrategy::kTimeSlicing,
                                 .replicas = 4,
                                 .resources = {"nvidia.com/gpu"},
                                 .rename_by_default = true,
                                 .fail_requests_greater_than_one = false},
                     .mig_strategy = PluginMigStrategy::kMixed,
                     .labels = {{"a", "b"}},
                     .taints = {{"k", "v", "NoExecute"}},
                     .price = PriceSpec{.per_gpu_hour = "1.5", .currency = "EUR"},
                     .eligible_namespaces = labelled("team", "risk"),
                     .elastic = ElasticSpec{.max_nodes = 9}};
  ASSERT_EQ(spec.pools.size(), 1u);
  EXPECT_EQ(spec.pools[0], lab);
}

TEST(DecodePolicySpec, ReadsPricesClassesAndTheCatalog) {
  const GPUClusterPolicySpec spec = policy_from("spec", R"({
      "prices":[{"instanceType":"p4d","product":"NVIDIA-A100-SXM4-40GB","capacityType":"Reserved",
                 "perGPUHour":"2","currency":"EUR"},{"perNodeHour":"9.85"}],
      "topologyLevels":["zone","rack"],
      "resourceCatalog":[{"name":"small","resource":"nvidia.com/mig-1g.10gb",
                          "eligibleNamespaces":{"matchLabels":{"team":"risk"}},"description":"d"}],
      "priorityClasses":[{"name":"high","value":7}]})")
                                        .spec;
  EXPECT_EQ(spec.prices, (std::vector<PriceRow>{{.instance_type = "p4d",
                                                 .product = "NVIDIA-A100-SXM4-40GB",
                                                 .capacity_type = CapacityType::kReserved,
                                                 .per_gpu_hour = "2",
                                                 .currency = "EUR"},
                                                {.per_node_hour = "9.85"}}));
  EXPECT_EQ(spec.topology_levels, (std::vector<std::string>{"zone", "rack"}));
  EXPECT_EQ(spec.resource_catalog,
            (std::vector<CatalogEntry>{{.name = "small",
                                        .resource = "nvidia.com/mig-1g.10gb",
                                        .eligible_namespaces = labelled("team", "risk"),
                                        .description = "d"}}));
  EXPECT_EQ(spec.priority_classes, (std::vector<PriorityClassSpec>{{.name = "high", .value = 7}}));
}

TEST(DecodePolicySpec, ReadsWhatIsAddedToPodsAndWhenTheyMayBeDisturbed) {
  const GPUClusterPolicySpec spec = policy_from("spec", R"({
      "admission":{"enforcement":"Warn","namespaceSelector":{"matchLabels":{"gpus":"yes"}},
                   "defaults":{"tolerations":false,"poolAffinity":false,"sharedMemory":"8Gi",
                               "securityContext":true,"priorityClassName":"high"},
                   "requireQueue":true,"daemonSets":"Allow","resourceClaims":"Allow",
                   "podReplacementPolicy":"Any","maxTerminationGracePeriod":"5m"},
      "disruption":{"maxUnavailable":3,
                    "windows":[{"schedule":"0 22 * * *","duration":"4h","timeZone":"Europe/Berlin"}],
                    "blackouts":[{"schedule":"0 0 24 12 *","duration":"24h"}]}})")
                                        .spec;
  const AdmissionSpec admission{.enforcement = Enforcement::kWarn,
                                .namespace_selector = labelled("gpus", "yes"),
                                .defaults = {.tolerations = false,
                                             .pool_affinity = false,
                                             .shared_memory = Quantity::parse("8Gi").value(),
                                             .security_context = true,
                                             .priority_class_name = "high"},
                                .require_queue = true,
                                .daemon_sets = Permission::kAllow,
                                .resource_claims = Permission::kAllow,
                                .pod_replacement_policy = PodReplacement::kAny,
                                .max_termination_grace_period = minutes(5)};
  EXPECT_EQ(spec.admission, admission);
  const DisruptionSpec disruption{
      .max_unavailable = {3, false},
      .windows = {{.schedule = "0 22 * * *", .duration = hours(4), .time_zone = "Europe/Berlin"}},
      .blackouts = {{.schedule = "0 0 24 12 *", .duration = hours(24)}}};
  EXPECT_EQ(spec.disruption, disruption);
}

TEST(DecodePolicySpec, ReadsWhatIsMeasuredAndWhatFollowsFromIt) {
  const GPUClusterPolicySpec spec = policy_from("spec", R"({
      "idle":{"utilizationThreshold":7,"gracePeriod":"1h","warnAfter":"5m","policy":"Notify",
              "excludeSelector":{"matchLabels":{"keep":"me"}}},
      "metrics":{"interval":"1m","prometheus":{"url":"https://prometheus:9090","caBundle":"QQ==",
                 "bearerTokenSecretRef":{"name":"reader","key":"bearer"},
                 "matchLabels":{"job":"dcgm"}}}})")
                                        .spec;
  EXPECT_EQ(spec.idle, (IdleSpec{.utilization_threshold = 7,
                                 .grace_period = hours(1),
                                 .warn_after = minutes(5),
                                 .policy = IdlePolicy::kNotify,
                                 .exclude_selector = labelled("keep", "me")}));
  const MetricsSpec metrics{
      .prometheus =
          PrometheusSpec{.url = "https://prometheus:9090",
                         .bearer_token_secret_ref = SecretKeyRef{.name = "reader", .key = "bearer"},
                         .ca_bundle = "QQ==",
                         .match_labels = {{"job", "dcgm"}}},
      .interval = minutes(1)};
  EXPECT_EQ(spec.metrics, metrics);
  EXPECT_EQ(policy_from("spec", R"({"metrics":{"interval":"1m"}})").spec.metrics.prometheus,
            std::nullopt);
}

TEST(DecodePolicyStatus, IsWrittenInTheWordsInWhichItWasRead) {
  for (const char* json :
       {R"({"observedGeneration":2,"totals":{"pools":1,"nodes":4,"gpus":16,"allocated":12,)"
        R"("idleGPUs":2,"reclaimed":3,"unhealthyNodes":1,"cordonedNodes":2,)"
        R"("conflicts":1,"monthlyWaste":"37 USD"},)"
        R"("pools":[{"name":"lab","nodes":4,"gpus":16,"allocated":12,"sharedBy":8,)"
        R"("utilization":91,"idleGPUs":2,"monthlyWaste":"37"}],)"
        R"("conflicts":[{"node":"n7","pools":["lab","b"]}],)"
        R"("disruption":{"open":false,"nextOpening":"2026-11-21T22:00:00Z"},)"
        R"("conditions":[{"type":"Ready","status":"False","observedGeneration":2,)"
        R"("lastTransitionTime":"2026-11-21T14:22:49Z","reason":"Progressing","message":"m"}]})",
        R"({"observedGeneration":1,"totals":{"pools":0,"nodes":0,"gpus":0,"allocated":0,)"
        R"("conflicts":0},"pools":[],"conflicts":[],)"
        R"("disruption":{"open":true,"closes":"2026-11-22T02:00:00Z"},"conditions":[]})"})
    EXPECT_EQ(encode_status(policy_from("status", json).status), json);
}

}  // namespace
}  // namespace berth
