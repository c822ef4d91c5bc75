// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/advised_manifests.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "controller/preview/yaml.h"

namespace berth {
namespace {

using Json = nlohmann::ordered_json;

std::string document(const Json& object) { return "---\n" + json_to_yaml(object.dump()); }

Json header(const char* kind, const std::string& name) {
  return {{"apiVersion", "gpu.berth.dev/v1alpha1"}, {"kind", kind}, {"metadata", {{"name", name}}}};
}

std::string print_layout(const advise::ProposedLayout& layout) {
  Json devices = Json::array();
  for (const DeviceLayout& entry : layout.devices) {
    Json device = Json::object();
    if (entry.gpus) device["gpus"] = *entry.gpus;
    device["profiles"] = Json::object();
    for (const auto& [profile, count] : entry.profiles) device["profiles"][profile] = count;
    devices.push_back(std::move(device));
  }
  Json object = header("MIGLayout", layout.name);
  const Json by_name = {
      {"key", "kubernetes.io/hostname"}, {"operator", "In"}, {"values", layout.nodes}};
  object["spec"] = {{"productSelector", {layout.product}},
                    {"nodeSelector", {{"matchExpressions", {by_name}}}},
                    {"devices", std::move(devices)},
                    {"rollout", {{"maxUnavailable", 1}, {"initialBatch", 1}}}};
  return document(object);
}

// The fields to change alone: the rest of the policy is somebody's, and stays as it is.
std::string print_pools(const std::vector<std::string>& pools, const GPUClusterPolicy& policy) {
  if (pools.empty()) return "";
  std::string out =
      fmt::format("# Of GPUClusterPolicy {}, so that pods can ask for the instances by name:\n",
                  policy.meta.name);
  for (const std::string& pool : pools)
    out += fmt::format("#   spec.pools[name={}].migStrategy: mixed\n", pool);
  return out;
}

std::string print_owners(const std::vector<advise::OwnerAdvice>& advices) {
  std::string out;
  for (const advise::OwnerAdvice& advice : advices)
    if (advice.verdict == advise::Verdict::kProfile)
      out += fmt::format("#   {}: {}: {} instead of {}: {}{}\n", advice.owner, advice.instead,
                         advice.instead_each, advice.holds, advice.each, provided(advice));
  return out;
}

}  // namespace

std::string print_manifests(const advise::Proposal& proposal,
                            const std::vector<advise::OwnerAdvice>& advices,
                            const GPUClusterPolicy& policy) {
  if (proposal.layouts.empty())
    return "# No MIG profile is advised to any owner of pods, or no node is free to be cut.\n";
  std::string out =
      "# Look first: berth plan -f FILE says which pods leave, and when.\n"
      "# What pods ask for from then on:\n" +
      print_owners(advices);
  if (!proposal.without_room.empty())
    out += "# Without room, as the pool's other nodes are cut already or have a layout:\n";
  for (const std::string& line : proposal.without_room) out += "#   " + line + "\n";
  out += print_pools(proposal.pools, policy);
  for (const advise::ProposedLayout& layout : proposal.layouts) out += print_layout(layout);
  return out;
}

}  // namespace berth
