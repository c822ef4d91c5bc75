// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/commands/advised_manifests.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "controller/advise/advised_policy.h"
#include "controller/core/plural.h"
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

// The changes of the policy, and the namespaces whose isolation they weaken.
std::string tell_pools(const advise::Proposal& proposal) {
  std::string out = "# The GPUClusterPolicy as it stands, with these changes:\n";
  for (const std::string& pool : proposal.pools)
    out += fmt::format(
        "#   spec.pools[name={}].migStrategy: mixed, so that pods can ask for instances by name\n",
        pool);
  for (const advise::ProposedPool& pool : proposal.shared) {
    out += fmt::format(
        "#   spec.pools[name={}]: {} of pool {}, each GPU for {} pods ({}); memory and faults are "
        "not kept apart there; quotas of queues for pool {} do not count it\n",
        pool.name, plural(static_cast<std::int64_t>(pool.nodes.size()), "node"), pool.from,
        pool.replicas, to_string(pool.strategy), pool.from);
    if (pool.others > 0)
      out += fmt::format("#     {} of others there with whole GPUs have to go elsewhere\n",
                         plural(pool.others, "pod"));
  }
  return out;
}

std::string print_policy(const advise::Proposal& proposal, const std::string& policy) {
  if (proposal.pools.empty() && proposal.shared.empty()) return "";
  const std::string advised = advise::advised_policy(policy, proposal.pools, proposal.shared);
  return "---\n" + tell_pools(proposal) + json_to_yaml(advised);
}

std::string print_owners(const std::vector<advise::OwnerAdvice>& advices) {
  std::string out;
  for (const advise::OwnerAdvice& advice : advices)
    if (advice.verdict == advise::Verdict::kProfile || advice.verdict == advise::Verdict::kShare)
      out += fmt::format("#   {}: {}: {} instead of {}: {}{}\n", advice.owner, advice.instead,
                         advice.instead_each, advice.holds, advice.each, provided(advice));
  return out;
}

}  // namespace

std::string print_manifests(const advise::Proposal& proposal,
                            const std::vector<advise::OwnerAdvice>& advices,
                            const std::string& policy) {
  if (proposal.layouts.empty() && proposal.shared.empty())
    return "# No MIG profile is advised to any owner of pods, or no node is free to be cut.\n";
  std::string out =
      "# Look first: berth plan -f FILE says which pods leave, and when.\n"
      "# What pods ask for from then on:\n" +
      print_owners(advices);
  if (!proposal.without_room.empty())
    out += "# Without room, as the pool's other nodes are cut already or have a layout:\n";
  for (const std::string& line : proposal.without_room) out += "#   " + line + "\n";
  out += print_policy(proposal, policy);
  for (const advise::ProposedLayout& layout : proposal.layouts) out += print_layout(layout);
  return out;
}

}  // namespace berth
