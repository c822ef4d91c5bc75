// SPDX-License-Identifier: Apache-2.0
// QueuePolicy: the admission policies of berth's chart that restrict all users but berth.
// helm/berth/templates/policy-queue.yaml forbids the release of queued workloads and writes of
// berth's own fields. policy-admission.yaml forbids a change of a Job so that it replaces pods
// earlier. No user in the simulation has the verb `release`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "controller/sim/world/store.h"

namespace berth::sim {

class QueuePolicy {
 public:
  explicit QueuePolicy(const Store& store) : store_(store) {}

  // For ApiServer::policy; throws a Refusal.
  void judge(const std::string& user, const StoreKey& key, const nlohmann::json* live,
             const nlohmann::json& next) const;

 private:
  bool is_managed(const std::string& namespace_) const;

  const Store& store_;
};

}  // namespace berth::sim
