// SPDX-License-Identifier: Apache-2.0
// `berth controller`: wires the shell (runtime/) to the world (live/) and to the pure core (mig/).
#include "controller/runtime/controller.h"

#include <malloc.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "controller/certificates/certificate_keeper.h"
#include "controller/client/api_client.h"
#include "controller/cmd/cluster/cluster_client.h"
#include "controller/cmd/cluster/service.h"
#include "controller/cmd/commands/cluster_page.h"
#include "controller/cmd/commands/commands.h"
#include "controller/cmd/line/build_facts.h"
#include "controller/cmd/line/console.h"
#include "controller/io/task_group.h"
#include "controller/live/tz_database.h"
#include "controller/reconcilers/keys.h"
#include "controller/reconcilers/reconcilers.h"
#include "controller/runtime/metrics.h"
#include "controller/runtime/required_apis.h"
#include "controller/sampling/sampler.h"
#include "controller/server/endpoints.h"
#include "controller/server/http_server.h"
#include "controller/server/process_facts.h"

namespace berth {
namespace {

// In a pod this is the pod's name.
std::string host_name() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return host.data();
}

// Unique per process and readable in the Lease: a restarted pod is another candidate.
std::string new_identity(const std::string& host) {
  std::random_device random;
  std::string id = host + '_';
  for (int i = 0; i < 4; ++i) {
    std::array<char, 9> part{};
    std::snprintf(part.data(), part.size(), "%08x", random());
    id += part.data();
  }
  return id;
}

// After the first sync, the heap has much free memory in pieces.
void give_memory_back() { malloc_trim(0); }

}  // namespace

int run_controller(ControllerFlags flags) {
  if (flags.print_config) {
    put(print_config(controller_flags(flags)));
    return 0;
  }
  if (const Result<void> valid = validate(flags); !valid.has_value()) return fail(valid.error());
  Result<ClientConfig> config = find_cluster(flags.connection);
  if (!config.has_value()) return fail(config.error());
  ClusterClient cluster(*std::move(config), log_options(flags.log), "controller");
  UvLoop& loop = cluster.loop;
  SpdlogLog& log = cluster.log;
  ApiClient& client = cluster.client;
  ApiClient lease_client = cluster.client_of("leader-election");
  if (flags.api_qps > 0)
    client.limit(Traffic::kActing, TokenBucket(flags.api_qps, flags.api_burst));
  if (flags.status_qps > 0)
    client.limit(Traffic::kReporting, TokenBucket(flags.status_qps, flags.status_burst));
  Metrics metrics(build_facts().version, build_facts().commit);
  client.observe([&](const CallRecord& call) { metrics.on_call(call); });
  lease_client.observe([&](const CallRecord& call) { metrics.on_call(call); });

  std::random_device random;
  flags.options.seed = (static_cast<std::uint64_t>(random()) << 32) | random();
  const TzDatabase zones;
  flags.options.zones = &zones;
  flags.options.settings.own_pod = host_name();
  flags.options.lease.identity = new_identity(flags.options.settings.own_pod);
  flags.options.lease.version = build_facts().version;
  flags.options.lease.namespace_ = flags.options.settings.berth_namespace;
  Samples samples;
  ClusterPage* shown = nullptr;
  Controller controller(
      Controller::World{client, lease_client, log, metrics, give_memory_back, samples,
                        [&shown] {
                          if (shown != nullptr) shown->changed();
                        }},
      reconcilers(flags.options.settings), flags.options);

  flags.keeper.options.namespace_ = flags.options.settings.berth_namespace;
  flags.keeper.options.period = flags.keeper.check;
  CertificateKeeper keeper(client, log, flags.keeper.options);
  const bool keeps_certificates =
      flags.keeper.options.leaf_secret != kNoCertificates && !flags.options.dry_run;

  const EndpointSources sources{
      .readiness = [&] { return controller.readiness(); },
      .metrics =
          [&] {
            controller.refresh_metrics();
            metrics.on_process(read_process_facts());
            if (keeps_certificates) metrics.on_keeper(keeper.facts());
            if (const auto facts = shown != nullptr ? shown->facts() : std::nullopt)
              metrics.on_page(*facts);
            return metrics.text();
          }};
  ProbeServers probes(cluster, flags.probes);
  if (!probes.listen(sources)) return 1;
  ClusterPage page(cluster, controller, samples, flags);
  shown = &page;
  if (!page.listen()) return 1;

  cluster.log_start();
  const std::stop_token stop = cluster.stop_on_signal();
  const std::stop_callback on_stop(stop, [&page] { page.drain(); });
  int code = 1;
  const std::vector<ResourceNeed> needs =
      required_apis(!flags.options.dry_run, flags.options.leader_elect);
  // A coroutine's lambda must outlive the coroutine, so it is declared beside run().
  const auto main_task = [&]() -> Task<void> {
    const bool served = co_await wait_for_apis(client, log, needs, flags.options.sync_limit, stop);
    if (served || stop.stop_requested()) code = co_await controller.run(stop);
  };
  TaskGroup keeping(loop);
  if (keeps_certificates) keeping.spawn(keeper.run(keeping.token()));
  Sampler sampler({.client = client,
                   .log = log,
                   .cluster = controller.cluster(),
                   .samples = samples,
                   .connect = [&](ClientConfig to) -> std::unique_ptr<Transport> {
                     return std::make_unique<CurlTransport>(loop, cluster.host, log, std::move(to));
                   },
                   .acts = [&] { return controller.working(); },
                   .on_round =
                       [&] {
                         for (const std::string& key : keys_of_samples()) controller.due(key);
                         page.changed();
                       }},
                  flags.options.settings);
  keeping.spawn(sampler.run(keeping.token()));
  // Stops only after the tasks' frames are destroyed.
  spawn(loop, main_task(),
        [&] { keeping.stop([&] { page.stop([&] { probes.stop([&loop] { loop.stop(); }); }); }); });
  loop.run();
  log.info("ended", {{"exit_code", code}});
  return code;
}

}  // namespace berth
