// SPDX-License-Identifier: Apache-2.0
#include "controller/admission/reconcile_bypass.h"

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/admission/bypass.h"
#include "controller/core/seeded_bugs.h"

namespace berth {
namespace {

std::string bypass_key(const Pod& pod) {
  return std::string(kBypassKeys).append(key_of(pod.meta).str());
}

}  // namespace

Plan reconcile_bypass(const Snapshot& snapshot, std::string_view name) {
  Plan plan;
  const std::size_t slash = name.find('/');
  if (slash == name.npos) return plan;
  const Pod* pod = snapshot.cluster.pods().find(name.substr(0, slash), name.substr(slash + 1));
  if (pod == nullptr || pod->finished() || pod->terminating()) return plan;
  const std::optional<std::string> how = slipped_past(*pod, snapshot.cluster, snapshot.settings);
  if (!how || seeded(SeededBug::kForgetBypass)) return plan;
  plan.events.push_back({ref_of(*pod), true, reasons::kSlippedPastAdmission, "Review", *how});
  return plan;
}

std::vector<std::string> bypass_keys_for(const ClusterState& cluster, const Settings&,
                                         const Pod* old, const Pod* now) {
  if (now == nullptr || cluster.gpu_policies().size() == 0 || !uses_gpu(*now)) return {};
  const bool is_new = old == nullptr || old->meta.uid != now->meta.uid;
  const bool is_bound = !now->node_name.empty() && (is_new || old->node_name.empty());
  const bool unmarked = is_new && !now->meta.annotations.contains(names::kMutationsAnnotation);
  if (!unmarked && !(is_bound && closed_pool_of(*now, cluster) != nullptr)) return {};
  return {bypass_key(*now)};
}

std::vector<std::string> bypass_keys_for(const ClusterState& cluster, const Settings& settings,
                                         const Namespace* old, const Namespace* now) {
  const bool news = now != nullptr && (old == nullptr || old->meta.labels != now->meta.labels);
  return news ? all_bypass_keys(cluster, settings, now->meta.name) : std::vector<std::string>();
}

std::vector<std::string> bypass_keys_for(const ClusterState& cluster, const Settings& settings,
                                         const GPUClusterPolicy* old, const GPUClusterPolicy* now) {
  const bool news = now != nullptr && (old == nullptr || old->spec != now->spec);
  return news ? all_bypass_keys(cluster, settings) : std::vector<std::string>();
}

std::vector<std::string> all_bypass_keys(const ClusterState& cluster, const Settings& settings,
                                         std::string_view namespace_) {
  std::vector<std::string> keys;
  if (cluster.gpu_policies().size() == 0) return keys;
  for (const auto& pod : cluster.pods()) {
    if (!namespace_.empty() && pod->meta.namespace_.view() != namespace_) continue;
    if (pod->finished() || pod->terminating()) continue;
    if ((pod->node_name.empty() || closed_pool_of(*pod, cluster) != nullptr) &&
        slipped_past(*pod, cluster, settings))
      keys.push_back(bypass_key(*pod));
  }
  return keys;
}

}  // namespace berth
