// SPDX-License-Identifier: Apache-2.0
// The fields that decode keeps of nodes, of the small kinds, and of MIGLayouts.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "apis/kinds/resource_quota.h"
#include "tests/apis/wire_objects.h"

namespace berth::test {
namespace {

TEST(DecodeNode, KeepsWhatDecisionsNeed) {
  Result<Node> node = decode<Node>(kNode);
  ASSERT_TRUE(node.has_value()) << describe(node.error());
  EXPECT_TRUE(node->cordoned());
  EXPECT_TRUE(node->ready);
  EXPECT_EQ(node->boot_id, "b-1");
  EXPECT_EQ(node->taints,
            (std::vector<Taint>{{"node.kubernetes.io/unschedulable", "", "NoSchedule"}}));
  EXPECT_EQ(node->allocatable.get("nvidia.com/mig-1g.10gb").as_whole(), 14);
  ASSERT_NE(node->allocatable.find("nvidia.com/gpu"), nullptr) << "a zero count lingers visibly";
  EXPECT_EQ(node->capacity.get("nvidia.com/gpu").as_whole(), 4);
  EXPECT_EQ(node->meta.annotations, (StringMap{{"gpu.berth.dev/mig-rollout", "{\"seq\":1}"}}));

  EXPECT_EQ(decode<Node>(R"({"spec":{}})")->unschedulable, std::nullopt);
  EXPECT_EQ(decode<Node>(R"({"spec":{"unschedulable":false}})")->unschedulable,
            std::optional(false));
  EXPECT_FALSE(
      decode<Node>(R"({"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}})")->ready);
  EXPECT_EQ(node->gpu_conditions, (StringMap{{"AcceleratedHardwareReady", "NvidiaXID79Error"}}))
      << "of GPUs, and bad: DiskPressure is True as well";
  const auto long_winded =
      decode<Node>(R"({"status":{"conditions":[{"reason":")" + std::string(1000, 'x') +
                   R"(","status":"True","type":"GPUMissing"}]}})");
  EXPECT_EQ(long_winded->gpu_conditions.get("GPUMissing").view().size(), 64u);
}

TEST(DecodeSmall, AQuotaIsWhatItBoundsAndWhatIsAskedFor) {
  auto quota = decode<ResourceQuota>(
      R"({"metadata":{"name":"gpus","namespace":"vision"},"spec":{"hard":{"requests.nvidia.com/gpu":"8","pods":10}},
    "status":{"hard":{"requests.nvidia.com/gpu":"6"},"used":{"requests.nvidia.com/gpu":"3","requests.cpu":"1500m"}}})");
  ASSERT_TRUE(quota.has_value()) << describe(quota.error());
  EXPECT_EQ(quota->hard.get("requests.nvidia.com/gpu").as_whole(), 8);
  EXPECT_EQ(quota->hard.get("pods").as_whole(), 10) << "a bare number is a quantity too";
  EXPECT_EQ(quota->used.get("requests.nvidia.com/gpu").as_whole(), 3);
  EXPECT_EQ(quota->used.get("requests.cpu").str(), "1500m");
  EXPECT_TRUE(decode<ResourceQuota>(R"({"spec":{"hard":null}})")->hard.empty());
  const auto bad = decode<ResourceQuota>(R"({"spec":{"hard":{"pods":"many"}}})");
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().where, "spec.hard.pods");
  EXPECT_EQ(decode<ResourceQuota>(R"({"spec":{"hard":{"pods":[]}}})").error().message,
            "must be a quantity, is a list");
}

TEST(DecodeSmall, ReadsTheOtherKinds) {
  auto budget = decode<PodDisruptionBudget>(
      R"({"metadata":{"name":"b","namespace":"n"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"a":"b"},
    "matchExpressions":[{"key":"c","operator":"Exists"}]}},"status":{"disruptionsAllowed":1,"currentHealthy":3,"desiredHealthy":2,"expectedPods":4,"observedGeneration":4}})");
  ASSERT_TRUE(budget.has_value()) << describe(budget.error());
  EXPECT_EQ(format(*budget->selector), "a=b,c");
  EXPECT_EQ(budget->disruptions_allowed, 1);
  EXPECT_EQ(budget->meta.name, "b");
  EXPECT_EQ(budget->current_healthy, 3);
  EXPECT_EQ(budget->desired_healthy, 2);
  EXPECT_EQ(budget->expected_pods, 4);
  EXPECT_EQ(budget->observed_generation, 4);
  EXPECT_FALSE(decode<PodDisruptionBudget>(R"({"spec":{}})")->selector.has_value());
  EXPECT_TRUE(decode<PodDisruptionBudget>(R"({"spec":{"selector":{}}})")->selector->empty());

  auto map = decode<ConfigMap>(
      R"({"metadata":{"annotations":{"any":"kept"}},"data":{"config.yaml":"a\nb"}})");
  EXPECT_EQ(map->data.at("config.yaml"), "a\nb");
  EXPECT_EQ(map->meta.annotations.get("any"), "kept");

  auto set = decode<DaemonSet>(
      R"({"spec":{"template":{"spec":{"volumes":[{"configMap":{"name":"m"}},{"emptyDir":{}}],"nodeSelector":{"a":"b"},
    "tolerations":[{"operator":"Exists"}]}}}})");
  EXPECT_EQ(set->config_map_volumes, std::vector<Text>{"m"});
  EXPECT_EQ(set->node_selector, (StringMap{{"a", "b"}}));
  EXPECT_EQ(set->tolerations.size(), 1u);

  auto policy = decode<ClusterPolicy>(
      R"({"spec":{"mig":{"strategy":"mixed"},"migManager":{"config":{"name":"c"}}}})");
  EXPECT_EQ(policy->mig_strategy, "mixed");
  EXPECT_EQ(policy->mig_manager_config_map, "c");
  EXPECT_EQ(policy->operand_tolerations,
            (std::vector<Toleration>{{"nvidia.com/gpu", "Exists", {}, "NoSchedule"}}))
      << "the GPU operator's own default";
  EXPECT_TRUE(decode<ClusterPolicy>(R"({"spec":{"daemonsets":{"tolerations":[]}}})")
                  ->operand_tolerations.empty());
  policy = decode<ClusterPolicy>(
      R"({"spec":{"daemonsets":{"tolerations":[{"key":"dedicated","operator":"Equal","value":"gpu","effect":"NoExecute"}]},
    "devicePlugin":{"config":{"name":"plugin","default":"any"}}}})");
  EXPECT_EQ(policy->operand_tolerations,
            (std::vector<Toleration>{{"dedicated", "Equal", "gpu", "NoExecute"}}));
  EXPECT_EQ(policy->device_plugin_config_map, "plugin");
  EXPECT_EQ(policy->device_plugin_default_config, "any");

  auto priority = decode<PriorityClass>(
      R"({"metadata":{"name":"high"},"value":-7,"globalDefault":true,"preemptionPolicy":"Never"})");
  EXPECT_EQ(priority->meta.name, "high");
  EXPECT_EQ(priority->value, -7);
  EXPECT_TRUE(priority->global_default);
  EXPECT_EQ(priority->preemption_policy, "Never");

  auto lease = decode<Lease>(
      R"({"spec":{"holderIdentity":"me","leaseDurationSeconds":15,"renewTime":"2026-11-21T14:22:49.123456Z","leaseTransitions":3}})");
  EXPECT_EQ(format_micro_time(*lease->renew_time), "2026-11-21T14:22:49.123456Z");
  EXPECT_FALSE(lease->acquire_time.has_value());

  EXPECT_EQ(decode<ConfigMap>(R"({"data":{"k":1}})").error().where, "data.k");
  EXPECT_EQ(decode<Lease>(R"({"spec":{"leaseTransitions":99999999999}})").error().where,
            "spec.leaseTransitions");
  EXPECT_EQ(decode<Lease>(R"({"spec":{"leaseTransitions":18446744073709551615}})").error().where,
            "spec.leaseTransitions");
}

TEST(DecodeLayout, FillsDefaultsAndNamesFaults) {
  auto layout = decode<MIGLayout>(
      R"({"metadata":{"name":"l","generation":3},"spec":{"future":1,"nodeSelector":{},"devices":[
    {"gpus":[0,1],"profiles":{"3g.40gb":2}},{"profiles":{}}],"rollout":{"maxUnavailable":"10%","order":"Name"},"drain":{"timeout":"90s",
    "waitForCompletion":{"podSelector":{"matchLabels":{"a":"b"}}}},"capacityGuard":{"minAvailable":{"nvidia.com/gpu":2}}},
    "status":{"observedGeneration":2,"nodes":{"selected":8,"inProgress":1},"capacity":{"nvidia.com/gpu":4},"configs":[{"product":"p","name":"n"}],
    "details":[{"node":"n1","phase":"Draining","since":"2026-11-21T14:22:49Z"}],
    "conditions":[{"type":"Ready","status":"False","reason":"r","message":"m","observedGeneration":2,"lastTransitionTime":"2026-11-21T14:22:49Z"}]}})");
  ASSERT_TRUE(layout.has_value()) << describe(layout.error());
  MIGLayoutSpec expected;
  expected.node_selector.emplace();
  expected.devices = {{.gpus = {{0, 1}}, .profiles = {{"3g.40gb", 2}}}, {}};
  expected.rollout.max_unavailable = {10, true};
  expected.rollout.order = RolloutOrder::kName;
  expected.drain.timeout = std::chrono::seconds(90);
  expected.drain.wait_for_completion.emplace().pod_selector.match_labels = {{"a", "b"}};
  expected.capacity_guard.min_available = {{"nvidia.com/gpu", 2}};
  EXPECT_EQ(layout->spec, expected);
  EXPECT_EQ(layout->status.nodes.selected, 8);
  EXPECT_EQ(layout->status.capacity.at("nvidia.com/gpu"), 4);
  ASSERT_EQ(layout->status.conditions.size(), 1u);
  EXPECT_EQ(
      encode_status(layout->status),
      R"({"observedGeneration":2,"configHash":"","configs":[{"product":"p","name":"n"}],"nodes":{"selected":8,"updated":0,"inProgress":1,)"
      R"("blocked":0,"failed":0,"pending":0},"capacity":{"nvidia.com/gpu":4},"details":[{"node":"n1","phase":"Draining","since":"2026-11-21T14:22:49Z"}],)"
      R"("conditions":[{"type":"Ready","status":"False","observedGeneration":2,"lastTransitionTime":"2026-11-21T14:22:49Z","reason":"r","message":"m"}]})");

  EXPECT_EQ(
      decode<MIGLayout>(R"({"spec":{"devices":[{"gpus":[99],"profiles":{}}]}})").error().where,
      "spec.devices[0].gpus[0]");
  EXPECT_EQ(decode<MIGLayout>(R"({"spec":{"devices":[{"profiles":{}}],"drain":{"scope":"Some"}}})")
                .error()
                .where,
            "spec.drain.scope");
  EXPECT_EQ(decode<MIGLayout>(R"({"spec":{"devices":[{"profiles":{}}],"drain":{"timeout":7}}})")
                .error()
                .where,
            "spec.drain.timeout");
}

}  // namespace
}  // namespace berth::test
