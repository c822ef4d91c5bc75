// SPDX-License-Identifier: Apache-2.0
#include "bench/pools.h"

#include "apis/base/names.h"

namespace berth {
namespace {

using nlohmann::json;

constexpr const char* kTiers[] = {"training", "inference", "development", "batch"};
constexpr std::size_t kShared = 2;

}  // namespace

void put_in_tiers(Fleet& fleet) {
  for (std::size_t i = 0; i < fleet.nodes.size(); ++i) {
    const std::size_t tier = i % std::size(kTiers);
    json& labels = fleet.nodes[i]["metadata"]["labels"];
    labels["tier"] = kTiers[tier];
    if (tier == kShared) labels[names::kGpuSharingStrategy] = "time-slicing";
  }
  fleet.cluster_policies[0]["spec"]["devicePlugin"] = {
      {"config", {{"name", "berth-device-plugin-config"}, {"default", "default"}}}};
}

json make_policy() {
  json pools = json::array();
  for (const char* tier : kTiers) {
    const json taint = {{"key", "nvidia.com/gpu"}, {"value", tier}, {"effect", "NoSchedule"}};
    pools.push_back({{"name", tier},
                     {"nodeSelector", {{"matchLabels", {{"tier", tier}}}}},
                     {"labels", {{"example.com/cost-centre", tier}}},
                     {"taints", json::array({taint})}});
  }
  pools[kShared]["sharing"] = {{"strategy", "TimeSlicing"}, {"replicas", 4}};
  const json priority_class = {{"name", "training-batch"}, {"value", 1000}};
  const json nights = {{"schedule", "0 20 * * 1-5"}, {"duration", "8h"}};
  const json holidays = {{"schedule", "0 0 24 12 *"}, {"duration", "72h"}};
  const json disruption = {{"windows", json::array({nights})},
                           {"blackouts", json::array({holidays})}};
  return {{"apiVersion", "gpu.berth.dev/v1alpha1"},
          {"kind", "GPUClusterPolicy"},
          {"metadata",
           {{"name", "cluster"}, {"uid", "policy"}, {"resourceVersion", "1"}, {"generation", 1}}},
          {"spec",
           {{"pools", pools},
            {"priorityClasses", json::array({priority_class})},
            {"admission", {{"defaults", {{"sharedMemory", "64Gi"}}}}},
            {"disruption", disruption}}}};
}

}  // namespace berth
