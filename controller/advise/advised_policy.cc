// SPDX-License-Identifier: Apache-2.0
#include "controller/advise/advised_policy.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apis/base/names.h"

namespace berth::advise {
namespace {

using Json = nlohmann::ordered_json;

Json pool_like(const Json& source, const ProposedPool& proposed) {
  Json pool = source;
  pool["name"] = proposed.name;
  pool["nodeSelector"] = {{"matchExpressions", Json::array({{{"key", names::kHostnameLabel},
                                                             {"operator", "In"},
                                                             {"values", proposed.nodes}}})}};
  pool["sharing"] = {{"strategy", to_string(proposed.strategy)},
                     {"replicas", proposed.replicas},
                     {"renameByDefault", true},
                     {"failRequestsGreaterThanOne", true}};
  pool.erase("migStrategy");  // MPS requires migStrategy none
  pool.erase("elastic");      // an autoscaler adds no node with these names
  return pool;
}

Json pools_of(const Json& standing, const std::vector<std::string>& mixed,
              const std::vector<ProposedPool>& proposed) {
  Json pools = Json::array();
  for (const Json& source : standing) {
    const std::string name = source.value("name", std::string());
    for (const ProposedPool& pool : proposed)
      if (pool.from == name) pools.push_back(pool_like(source, pool));
    pools.push_back(source);
    if (std::ranges::find(mixed, name) != mixed.end()) pools.back()["migStrategy"] = "mixed";
  }
  return pools;
}

}  // namespace

std::string advised_policy(std::string_view standing, const std::vector<std::string>& mixed,
                           const std::vector<ProposedPool>& proposed) {
  const Json policy = Json::parse(standing);
  Json out = {{"apiVersion", policy.at("apiVersion")}, {"kind", policy.at("kind")}};
  for (const char* field : {"name", "labels", "annotations"})
    if (policy.at("metadata").contains(field)) out["metadata"][field] = policy["metadata"][field];
  out["spec"] = policy.at("spec");
  out["spec"]["pools"] = pools_of(policy["spec"].value("pools", Json::array()), mixed, proposed);
  return out.dump();
}

}  // namespace berth::advise
