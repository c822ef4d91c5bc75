// SPDX-License-Identifier: Apache-2.0
// WebhookObjects: objects of a cluster in which berth manages the webhook's certificates: the
// webhook configurations, as the chart installs them, and the Secrets, with the scenario's ages.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "apis/base/time.h"
#include "controller/certificates/key_source.h"

namespace berth {

struct ScenarioCertificates {
  std::chrono::milliseconds check = std::chrono::minutes(1);
  // Since the authority was created and published, and its certificate signed. Unset: none yet.
  std::optional<std::chrono::milliseconds> authority_age, leaf_age;
  // Age of the previous authority, which is still trusted.
  std::optional<std::chrono::milliseconds> previous_age;
  bool leaf_of_previous = false;  // the previous authority signed the certificate
};

// As JSON, to be created.
std::vector<std::string> webhook_objects(const ScenarioCertificates& certificates,
                                         const std::string& namespace_, Time now, KeySource& keys);
// The webhooks of a configuration of that kind, as JSON, with this caBundle in base64.
std::string webhooks_saying(const std::string& kind, const std::string& bundle);

}  // namespace berth
