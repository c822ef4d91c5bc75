// SPDX-License-Identifier: Apache-2.0
// WebhookRules: the webhook configurations of berth's chart
// (helm/berth/templates/webhook-configuration.yaml): which creations the API server asks berth
// about, how long it waits, and what it does without an answer.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

#include "controller/sim/world/store.h"

namespace berth::sim {

struct WebhookRules {
  enum class FailurePolicy { kFail, kIgnore };
  FailurePolicy failure_policy = FailurePolicy::kFail;
  std::chrono::nanoseconds timeout = std::chrono::seconds(3);
  // Another webhook changes each object after this one (reinvocationPolicy: IfNeeded).
  bool reinvoked = false;
  std::set<std::string> excluded;  // namespaces, in addition to the cluster's own

  // Whether the namespace's labels opt it in.
  bool selects(const Store& store, const std::string& namespace_) const;
};

// matchConditions: whether the spec and metadata of a pod, or of a Job's template, concern GPUs.
bool concerns_gpus(const nlohmann::json& spec, const nlohmann::json& metadata);

// "pods.gpu.berth.dev" or "jobs.gpu.berth.dev"; empty: no webhook for the kind.
std::string webhook_of(const ResourceType& type);

}  // namespace berth::sim
