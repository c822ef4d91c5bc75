// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/yielding.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "controller/queue/cluster_index.h"
#include "controller/queue/named.h"

namespace berth::queue {

std::string encode_yields(const Yields& yields) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [owner, taker] : yields)
    json[owner] = {{"to", taker.workload}, {"uid", taker.uid}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Yields decode_yields(std::string_view text) {
  Yields yields;
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return yields;
  for (const auto& [owner, taker] : json.items()) {
    if (!taker.is_object()) continue;
    const auto to = taker.find("to"), uid = taker.find("uid");
    if (to == taker.end() || uid == taker.end() || !to->is_string() || !uid->is_string()) continue;
    yields.emplace(owner, Taker{to->get<std::string>(), uid->get<std::string>()});
  }
  return yields;
}

std::string remaker_uid(const ClusterState& cluster, const Workload& workload) {
  if (workload.job) return workload.job->uid;
  for (const berth::Pod* pod : pods_of(cluster, cluster.view<ClusterIndex>(), *workload.name))
    if (const OwnerReference* owner = pod->meta.controller()) return owner->uid.str();
  return "";
}

bool is_there(const FactsIndex& facts, const Taker& taker) {
  const Workload* workload = facts.find(taker.workload);
  if (workload == nullptr) return false;
  if (workload->job) return workload->job->uid == taker.uid && workload->job->wanted > 0;
  return workload->pods && std::ranges::any_of(workload->pods->all, [&](const Pod* pod) {
           return *pod->uid == taker.uid || (pod->admitted && pod->admitted->uid == taker.uid) ||
                  taker.workload.starts_with("PodGroup/");
         });
}

}  // namespace berth::queue
