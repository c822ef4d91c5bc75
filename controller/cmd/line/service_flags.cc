// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/line/service_flags.h"

#include "controller/server/http_server.h"

namespace berth {

FlagTable probe_flags(ProbeFlags& flags) {
  return {
      text_flag("--metrics-bind-address", flags.metrics_address,
                "where /metrics is served; 0: nowhere"),
      switch_flag("--metrics-authorization", flags.authorization,
                  "serve /metrics by HTTPS, and only to those who show a bearer token whose owner "
                  "may get /metrics in the cluster"),
      text_flag("--metrics-cert-dir", flags.certificate_folder,
                "folder with tls.crt and tls.key for /metrics, as a Secret is mounted; without it "
                "the process makes a certificate that clients can't verify"),
      text_flag("--health-probe-bind-address", flags.health_address,
                "where /healthz and /readyz are served; 0: nowhere; may equal the metrics address"),
  };
}

Result<void> validate(const ProbeFlags& flags) {
  if (Result<void> addresses =
          require_addresses({{"--metrics-bind-address", flags.metrics_address},
                             {"--health-probe-bind-address", flags.health_address}});
      !addresses.has_value())
    return addresses;
  if (flags.authorization && enabled(flags.metrics_address) &&
      flags.metrics_address == flags.health_address)
    return invalid_spec("--metrics-authorization",
                        "needs a --metrics-bind-address of its own: probes show no token");
  if (!flags.certificate_folder.empty() && !flags.authorization)
    return invalid_spec("--metrics-cert-dir", "needs --metrics-authorization: else it is not used");
  return {};
}

Flag print_config_flag(bool& field) {
  return switch_flag("--print-config", field, "print every setting with its value, and exit");
}

bool enabled(const std::string& address) { return !address.empty() && address != "0"; }

Result<void> require_texts(std::initializer_list<FlagText> flags) {
  for (const FlagText& given : flags)
    if (given.text.empty()) return invalid_spec(given.flag, "must not be empty");
  return {};
}

Result<void> require_addresses(std::initializer_list<FlagText> flags) {
  for (const FlagText& given : flags) {
    if (!enabled(given.text)) continue;
    const Result<ListenAddress> parsed = parse_listen_address(given.flag, given.text);
    if (!parsed.has_value()) return parsed.error();
  }
  return {};
}

}  // namespace berth
