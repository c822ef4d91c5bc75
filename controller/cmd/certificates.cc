// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/certificates.h"

#include <cstdio>
#include <utility>

#include "controller/certificates/certificate_keeper.h"
#include "controller/cmd/cluster_client.h"
#include "controller/cmd/service.h"
#include "controller/core/attention.h"
#include "controller/server/endpoints.h"

namespace berth {

FlagTable certificates_flags(CertificatesFlags& flags) {
  FlagTable table = connection_flags(flags.connection);
  table.push_back(text_flag("--namespace", flags.namespace_, "where Secrets and Service are"));
  for (Flag& flag : keeper_flags(flags.keeper)) table.push_back(std::move(flag));
  table.push_back(text_flag("--health-probe-bind-address", flags.health_bind_address,
                            "where /healthz and /readyz are served; 0: nowhere"));
  table.push_back(print_config_flag(flags.print_config));
  for (Flag& flag : log_flags(flags.log)) table.push_back(std::move(flag));
  return table;
}

Result<void> validate(const CertificatesFlags& flags) {
  if (Result<void> named = require_texts({{"--namespace", flags.namespace_}}); !named.has_value())
    return named;
  if (flags.keeper.options.leaf_secret == kNoCertificates)
    return invalid_spec("--webhook-certificates",
                        "must not be off: they are what the program is for");
  if (Result<void> keeper = validate(flags.keeper); !keeper.has_value()) return keeper;
  return require_addresses({{"--health-probe-bind-address", flags.health_bind_address}});
}

int run_certificates(CertificatesFlags flags) {
  if (flags.print_config) {
    std::fputs(print_config(certificates_flags(flags)).c_str(), stdout);
    return 0;
  }
  if (const Result<void> valid = validate(flags); !valid.has_value()) return fail(valid.error());
  Result<ClientConfig> config = find_cluster(flags.connection);
  if (!config.has_value()) return fail(config.error());
  ClusterClient cluster(*std::move(config), log_options(flags.log), "certificates");
  UvLoop& loop = cluster.loop;
  SpdlogLog& log = cluster.log;
  flags.keeper.options.namespace_ = flags.namespace_;
  flags.keeper.options.period = flags.keeper.check;
  ServerClock clock(loop, kMaxClockSkew);  // whoever checks what it signs goes by the server's
  cluster.client.set_clock(&clock);
  CertificateKeeper keeper(cluster.client, log, flags.keeper.options);

  const EndpointSources sources{
      .readiness =
          [&] {
            return std::vector<ReadinessCheck>{{"certificates", keeper.problem()}};
          },
      .metrics = nullptr};
  ProbeServers probes(loop.raw());
  if (!probes.listen("0", flags.health_bind_address, sources, log)) return 1;
  cluster.log_start();
  spawn(loop, keeper.run(cluster.stop_on_signal()), [&loop] { loop.stop(); });
  loop.run();
  log.info("ended", {{"exit_code", 0}});
  return 0;
}

}  // namespace berth
