// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/certificates.h"

#include <csignal>
#include <cstdio>
#include <utility>

#include "controller/certificates/certificate_keeper.h"
#include "controller/client/api_client.h"
#include "controller/client/kubeconfig.h"
#include "controller/cmd/service.h"
#include "controller/live/curl_transport.h"
#include "controller/live/spdlog_log.h"
#include "controller/live/system_host.h"
#include "controller/live/uv_loop.h"
#include "controller/server/endpoints.h"

namespace berth {

FlagTable certificates_flags(CertificatesFlags& flags) {
  FlagTable table = connection_flags(flags.connection);
  table.push_back(text_flag("--namespace", flags.namespace_, "where Secrets and Service are"));
  for (Flag& flag : keeper_flags(flags.keeper)) table.push_back(std::move(flag));
  table.push_back(text_flag("--health-probe-bind-address", flags.health_bind_address,
                            "where /healthz and /readyz are served; 0: nowhere"));
  table.push_back(switch_flag("--print-config", flags.print_config,
                              "print every setting with its value, and exit"));
  for (Flag& flag : log_flags(flags.log)) table.push_back(std::move(flag));
  return table;
}

Result<void> validate(const CertificatesFlags& flags) {
  if (flags.namespace_.empty()) return invalid_spec("--namespace", "must not be empty");
  if (flags.keeper.options.leaf_secret == kNoCertificates)
    return invalid_spec("--webhook-certificates",
                        "must not be off: they are what the program is for");
  if (Result<void> keeper = validate(flags.keeper); !keeper.has_value()) return keeper;
  return validate_address("--health-probe-bind-address", flags.health_bind_address);
}

int run_certificates(CertificatesFlags flags) {
  if (flags.print_config) {
    std::fputs(print_config(certificates_flags(flags)).c_str(), stdout);
    return 0;
  }
  if (const Result<void> valid = validate(flags); !valid.has_value()) return fail(valid.error());
  const SystemHost host;
  const Result<ClientConfig> config = load_client_config(host, flags.connection);
  if (!config.has_value()) return fail(config.error());

  UvLoop loop;
  SpdlogLog log(log_options(flags.log));
  CurlTransport transport(loop, host, log, *config);
  ApiClient client(loop, transport, log, {.version = BERTH_VERSION, .component = "certificates"});
  flags.keeper.options.namespace_ = flags.namespace_;
  flags.keeper.options.period = flags.keeper.check;
  CertificateKeeper keeper(client, log, flags.keeper.options);

  const EndpointSources sources{
      .readiness =
          [&] {
            return std::vector<ReadinessCheck>{{"certificates", keeper.problem()}};
          },
      .metrics = nullptr};
  ProbeServers probes(loop.raw());
  if (!probes.listen("0", flags.health_bind_address, sources, log)) return 1;
  log.info(
      "starting",
      {{"version", BERTH_VERSION}, {"server", config->server}, {"config_from", config->origin}});
  std::stop_source stop;
  for (const int signal : {SIGTERM, SIGINT}) loop.on_signal(signal, [&] { stop.request_stop(); });
  spawn(loop, keeper.run(stop.get_token()), [&loop] { loop.stop(); });
  loop.run();
  log.info("ended", {{"exit_code", "0"}});
  return 0;
}

}  // namespace berth
