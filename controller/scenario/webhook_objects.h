// SPDX-License-Identifier: Apache-2.0
// WebhookObjects: what stands in a cluster whose webhook berth keeps the certificates of: the
// configurations, as the chart installs them, and the Secrets, as old as a scenario wants them.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "apis/time.h"
#include "controller/certificates/key_source.h"

namespace berth {

struct ScenarioCertificates {
  std::chrono::milliseconds check = std::chrono::minutes(1);
  // Since the authority was made and told, and its certificate signed. Unset: there is none yet.
  std::optional<std::chrono::milliseconds> authority_age, leaf_age;
  // Of the authority before, which is still believed.
  std::optional<std::chrono::milliseconds> previous_age;
  bool leaf_of_previous = false;  // that one signed the certificate
};

// As JSON, to be created.
std::vector<std::string> webhook_objects(const ScenarioCertificates& certificates,
                                         const std::string& namespace_, Time now, KeySource& keys);
// The webhooks of a configuration of that kind, as JSON, with this for a caBundle in base64.
std::string webhooks_saying(const std::string& kind, const std::string& bundle);

}  // namespace berth
