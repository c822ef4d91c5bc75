// SPDX-License-Identifier: Apache-2.0
// `berth webhook`: answers AdmissionReviews from the API server.
#pragma once

#include <string>

#include "controller/cmd/line/flags.h"
#include "controller/server/webhook.h"

namespace berth {

struct WebhookFlags {
  ConfigFlags connection;
  WebhookOptions options;
  LogFlags log;
  std::string webhook_bind_address = ":9443";
  std::string certificate_folder = "/etc/berth/webhook-certificate";
  std::string client_ca_file;
  std::string client_cert_name;
  Duration certificate_poll = std::chrono::seconds(10);
  Duration shutdown_delay = std::chrono::seconds(10);
  int max_requests = 256;
  ProbeFlags probes;
  bool print_config = false;
};
FlagTable webhook_flags(WebhookFlags& flags);
Result<void> validate(const WebhookFlags& flags);

int run_webhook(WebhookFlags flags);

}  // namespace berth
