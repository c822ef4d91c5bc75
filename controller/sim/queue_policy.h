// SPDX-License-Identifier: Apache-2.0
// QueuePolicy: what berth's chart has the API server refuse everybody but berth
// (helm/berth/templates/policy-queue.yaml): to let go what a queue holds back, and to write what
// only berth writes; and of policy-admission.yaml, to have a Job replace pods earlier from now on.
// Nobody here has the verb `release`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "controller/sim/store.h"

namespace berth::sim {

class QueuePolicy {
 public:
  explicit QueuePolicy(const Store& store) : store_(store) {}

  // As ApiServer::policy; throws a Refusal.
  void judge(const std::string& user, const StoreKey& key, const nlohmann::json* live,
             const nlohmann::json& next) const;

 private:
  bool is_managed(const std::string& namespace_) const;

  const Store& store_;
};

}  // namespace berth::sim
