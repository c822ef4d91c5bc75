// SPDX-License-Identifier: Apache-2.0
// WebhookConfigurations: defaults and validation of admissionregistration.k8s.io/v1 configurations.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "controller/sim/server/status.h"
#include "controller/sim/world/resource_type.h"

namespace berth::sim {

bool configures_webhooks(const ResourceType& type);

void default_webhooks(const ResourceType& type, nlohmann::json& configuration);
void check_webhooks(const nlohmann::json& configuration, std::vector<Cause>& causes);
// The first member of a wrong type; empty if there is none.
std::string find_wrong_webhook(const nlohmann::json& configuration);

}  // namespace berth::sim
