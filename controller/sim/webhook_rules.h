// SPDX-License-Identifier: Apache-2.0
// WebhookRules: what the webhook configurations of berth's chart say
// (helm/berth/templates/webhook-configuration.yaml): which creations berth is asked about, for how
// long the API server waits, and what it does when nobody answers.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

#include "controller/sim/store.h"

namespace berth::sim {

struct WebhookRules {
  enum class FailurePolicy { kFail, kIgnore };
  FailurePolicy failure_policy = FailurePolicy::kFail;
  std::chrono::nanoseconds timeout = std::chrono::seconds(3);
  // Another webhook changes each object after this one (reinvocationPolicy: IfNeeded).
  bool reinvoked = false;
  std::set<std::string> excluded;  // namespaces, beside the cluster's own

  // Whether the namespace is one that its labels opt in.
  bool selects(const Store& store, const std::string& namespace_) const;
};

// matchConditions: whether a pod's spec and metadata, or those of a Job's template, are any of
// berth's business.
bool concerns_gpus(const nlohmann::json& spec, const nlohmann::json& metadata);

// "pods.gpu.berth.dev" or "jobs.gpu.berth.dev"; empty: of no other kind is anything asked.
std::string webhook_of(const ResourceType& type);

}  // namespace berth::sim
