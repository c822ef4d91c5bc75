// SPDX-License-Identifier: Apache-2.0
#include "controller/reconcilers/keys.h"

#include "controller/cost/cost_meter.h"
#include "controller/health/reconcile.h"
#include "controller/observe/reconcile.h"
#include "controller/policy/reconcile.h"
#include "controller/queue/reconcile.h"

namespace berth {

std::vector<std::string> all_keys(const ClusterState& cluster, const Settings& settings) {
  std::vector<std::string> keys = all_mig_keys(cluster, settings);
  for (std::string& key : all_policy_keys(cluster)) keys.push_back(std::move(key));
  for (std::string& key : all_bypass_keys(cluster, settings)) keys.push_back(std::move(key));
  for (std::string& key : all_queue_keys(cluster, settings)) keys.push_back(std::move(key));
  return keys;
}

std::vector<std::string> keys_of_samples() {
  return {std::string(kPolicyKey), std::string(kIdleKey),    std::string(kCostKey),
          std::string(kHealthKey), std::string(kReclaimKey), std::string(kAdmissionsKey)};
}

}  // namespace berth
