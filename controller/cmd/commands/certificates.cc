// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/commands/certificates.h"

#include <cstdio>
#include <utility>

#include "controller/certificates/certificate_keeper.h"
#include "controller/cmd/cluster/cluster_client.h"
#include "controller/cmd/cluster/service.h"
#include "controller/cmd/line/build_facts.h"
#include "controller/cmd/line/service_flags.h"
#include "controller/core/attention.h"
#include "controller/runtime/metrics.h"
#include "controller/server/endpoints.h"
#include "controller/server/process_facts.h"

namespace berth {

FlagTable certificates_flags(CertificatesFlags& flags) {
  FlagTable table = connection_flags(flags.connection);
  table.push_back(text_flag("--namespace", flags.namespace_, "where Secrets and Service are"));
  for (Flag& flag : keeper_flags(flags.keeper)) table.push_back(std::move(flag));
  for (Flag& flag : probe_flags(flags.probes)) table.push_back(std::move(flag));
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
  return validate(flags.probes);
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
  ServerClock clock(loop, kMaxClockSkew);  // the API server checks these certificates
  cluster.client.set_clock(&clock);
  CertificateKeeper keeper(cluster.client, log, flags.keeper.options);
  Metrics metrics(build_facts().version, build_facts().commit);
  cluster.client.observe([&](const CallRecord& call) { metrics.on_call(call); });

  const EndpointSources sources{
      .readiness =
          [&] {
            return std::vector<ReadinessCheck>{{"certificates", keeper.problem()}};
          },
      .metrics =
          [&] {
            metrics.on_keeper(keeper.facts());
            metrics.on_process(read_process_facts());
            return metrics.text();
          }};
  ProbeServers probes(cluster, flags.probes);
  if (!probes.listen(sources)) return 1;
  cluster.log_start();
  spawn(loop, keeper.run(cluster.stop_on_signal()), [&] { probes.stop([&loop] { loop.stop(); }); });
  loop.run();
  log.info("ended", {{"exit_code", 0}});
  return 0;
}

}  // namespace berth
