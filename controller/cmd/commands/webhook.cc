// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/commands/webhook.h"

#include <malloc.h>

#include <random>
#include <utility>

#include "controller/client/api_client.h"
#include "controller/cmd/cluster/cluster_client.h"
#include "controller/cmd/cluster/service.h"
#include "controller/cmd/line/build_facts.h"
#include "controller/cmd/line/console.h"
#include "controller/cmd/line/service_flags.h"
#include "controller/runtime/metrics.h"
#include "controller/server/client_authorities.h"
#include "controller/server/endpoints.h"
#include "controller/server/http_server.h"
#include "controller/server/mounted_files.h"
#include "controller/server/process_facts.h"
#include "controller/server/serving_certificate.h"

namespace berth {
namespace {

// API servers keep idle connections for 90 s. They must close the connection first: if berth did, a
// review could be in flight at that moment.
constexpr int kIdleSeconds = 120;

// After the first lists and after a large review, the heap has much free memory in pieces.
void give_memory_back() { malloc_trim(0); }

}  // namespace

FlagTable webhook_flags(WebhookFlags& flags) {
  Settings& settings = flags.options.settings;
  FlagTable table = connection_flags(flags.connection);
  for (Flag& flag : FlagTable{
           text_flag("--namespace", settings.berth_namespace,
                     "berth's own namespace: never reviewed"),
           text_flag("--agents-namespace", settings.agents_namespace,
                     "where NVIDIA's node agents run: never reviewed"),
           text_flag("--webhook-bind-address", flags.webhook_bind_address,
                     "where /mutate and /validate are served, by HTTPS"),
           text_flag("--cert-dir", flags.certificate_folder,
                     "folder of tls.crt and tls.key, as a Secret is mounted"),
           text_flag("--client-ca-file", flags.client_ca_file,
                     "PEM certificates of authorities; reviews are then accepted only from clients "
                     "with a certificate that one of them signed"),
           text_flag("--client-cert-name", flags.client_cert_name,
                     "common name that the client's certificate must have; else any"),
           duration_flag("--cert-poll", flags.certificate_poll,
                         "between checks of these files; changes are served without a restart"),
           duration_flag("--shutdown-delay", flags.shutdown_delay,
                         "how long to keep serving after SIGTERM"),
           count_flag(
               "--max-requests", flags.max_requests,
               "reviews in progress at once; with one more, the oldest of them is answered 429"),
           switch_flag("--kueue-label", settings.kueue_label,
                       "take Kueue's label kueue.x-k8s.io/queue-name for a GPUQueue's: where Kueue "
                       "is not installed"),
       })
    table.push_back(std::move(flag));
  for (Flag& flag : probe_flags(flags.probes)) table.push_back(std::move(flag));
  table.push_back(print_config_flag(flags.print_config));
  for (Flag& flag : node_key_flags(settings.node_keys)) table.push_back(std::move(flag));
  for (Flag& flag : log_flags(flags.log)) table.push_back(std::move(flag));
  return table;
}

Result<void> validate(const WebhookFlags& flags) {
  const Result<void> named =
      require_texts({{"--namespace", flags.options.settings.berth_namespace},
                     {"--agents-namespace", flags.options.settings.agents_namespace},
                     {"--cert-dir", flags.certificate_folder}});
  if (!named.has_value()) return named;
  if (!enabled(flags.webhook_bind_address))
    return invalid_spec("--webhook-bind-address", "must not be off: it is what the webhook is for");
  if (flags.client_ca_file.empty() && !flags.client_cert_name.empty())
    return invalid_spec("--client-cert-name",
                        "needs --client-ca-file: without it nobody is asked for a certificate");
  if (flags.certificate_poll <= Duration(0))
    return invalid_spec("--cert-poll", "must be above zero");
  if (flags.max_requests < 1 || flags.max_requests > 10'000)
    return invalid_spec("--max-requests", "must be between 1 and 10000");
  if (Result<void> probes = validate(flags.probes); !probes.has_value()) return probes;
  return require_addresses({{"--webhook-bind-address", flags.webhook_bind_address}});
}

int run_webhook(WebhookFlags flags) {
  if (flags.print_config) {
    put(print_config(webhook_flags(flags)));
    return 0;
  }
  if (const Result<void> valid = validate(flags); !valid.has_value()) return fail(valid.error());
  Result<ClientConfig> config = find_cluster(flags.connection);
  if (!config.has_value()) return fail(config.error());
  ClusterClient cluster(*std::move(config), log_options(flags.log), "webhook");
  const SystemHost& host = cluster.host;
  UvLoop& loop = cluster.loop;
  SpdlogLog& log = cluster.log;
  ApiClient& client = cluster.client;
  Metrics metrics(build_facts().version, build_facts().commit);
  client.observe([&](const CallRecord& call) { metrics.on_call(call); });

  ServingCertificate certificate;
  MountedFiles files = certificate_files(host, log, certificate, flags.certificate_folder);
  ClientAuthorities clients(flags.client_cert_name);
  MountedFiles clients_file = client_authority_file(host, log, clients, flags.client_ca_file);
  const bool known_clients = !flags.client_ca_file.empty();
  ProbeServers probes(cluster, flags.probes);
  HttpServer reviews(loop.raw(),
                     {.connections = 2 * flags.max_requests + 16,
                      .idle_seconds = kIdleSeconds,
                      .posts = flags.max_requests},
                     give_memory_back);
  flags.options.certificate_poll = flags.certificate_poll;
  flags.options.shutdown_delay = flags.shutdown_delay;
  flags.options.seed = std::random_device()();
  Webhook webhook(Webhook::World{client, log, metrics, certificate, files, give_memory_back,
                                 [&] { reviews.drain(); }, known_clients ? &clients_file : nullptr},
                  flags.options);

  const EndpointSources sources{.readiness = [&] { return webhook.readiness(); },
                                .metrics =
                                    [&] {
                                      webhook.refresh_metrics();
                                      metrics.on_process(read_process_facts());
                                      return metrics.text();
                                    }};
  if (!probes.listen(sources)) return 1;
  const Result<ListenAddress> address =
      parse_listen_address("--webhook-bind-address", flags.webhook_bind_address);
  if (!address.has_value()) return fail(address.error());
  const Result<int> port =
      reviews.listen(*address, [&](const HttpCall& call) { return webhook.answer(call); },
                     {.max_body_bytes = kMaxReviewBytes,
                      .certificate = &certificate,
                      .clients = known_clients ? &clients : nullptr});
  if (!port.has_value()) return fail(port.error());
  log.info("listening", {{"what", "reviews"}, {"port", *port}});
  cluster.log_start();
  const std::stop_token stop = cluster.stop_on_signal();
  int code = 1;
  // A coroutine's lambda must outlive the coroutine, so it is declared beside run().
  const auto main_task = [&]() -> Task<void> { code = co_await webhook.run(stop); };
  // Stops only after the tasks' frames are destroyed.
  spawn(loop, main_task(), [&] { probes.stop([&loop] { loop.stop(); }); });
  loop.run();
  log.info("ended", {{"exit_code", code}});
  return code;
}

}  // namespace berth
