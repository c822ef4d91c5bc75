// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/commands/ui.h"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>
#include <random>
#include <utility>

#include "controller/cmd/cluster/cluster_client.h"
#include "controller/cmd/cluster/cluster_dump.h"
#include "controller/cmd/cluster/cluster_session.h"
#include "controller/cmd/cluster/live_cluster.h"
#include "controller/cmd/commands/page_host.h"
#include "controller/cmd/line/console.h"
#include "controller/io/task_group.h"
#include "controller/live/tz_database.h"
#include "controller/page/page_state.h"
#include "controller/page/page_why.h"
#include "controller/sampling/sampler.h"
#include "controller/server/live_page.h"

namespace berth {
namespace {

int give_up(const Error& error) { return complain("berth ui", error); }

int show_saved(const UiFlags& flags) {
  const Result<ClusterDump> read = read_cluster(flags.snapshot, flags.connection,
                                                {.settings = flags.settings, .workloads = true});
  if (!read) return give_up(read.error());
  const Answers answers;
  const TzDatabase zones;
  const Snapshot snapshot{.cluster = read->dump.cluster,
                          .answers = answers,
                          .settings = flags.settings,
                          .now = read->dump.taken_at,
                          .offline = true,
                          .zones = zones};
  PageState state = page_state(snapshot, read->dump.clues);
  state.things["why"] = why_out_of_service(snapshot, read->dump.clues);
  return show_page("berth ui", print_json(state), flags.port);
}

// The page needs nodes and all pods. An account that may not list them would see nothing, and every
// watch would be retried forever. The watches handle all other errors.
constexpr KindInfo kShown[] = {kKind<Node>, kKind<Pod>};
Task<Result<std::string>> find_forbidden(ApiClient& client, std::stop_token stop) {
  std::string forbidden;
  for (const KindInfo& kind : kShown) {
    ApiRequest request = list_request(kind, {.limit = 1});
    CallOptions options(Lane::kBulk, stop);
    const Result<Reply> reply = co_await client.send(std::move(request), std::move(options));
    if (reply.has_value() || reply.error().kind != ErrorKind::kForbidden) continue;
    forbidden += fmt::format("{}{}", forbidden.empty() ? "" : " and ", kind.plural);
  }
  co_return forbidden;
}

std::optional<Error> missing_rights_of(const ConfigFlags& connection) {
  std::string server;
  const Result<std::string> forbidden = converse(connection, server, find_forbidden);
  if (!forbidden) return forbidden.error();
  if (forbidden->empty()) return std::nullopt;
  return Error{.kind = ErrorKind::kForbidden,
               .message = fmt::format(
                   "this account may not list {} of all namespaces, of which the page is made; "
                   "`berth why -n NAMESPACE` answers with a tenant's rights, and so does the page "
                   "that the controller serves (docs/page.md)",
                   *forbidden),
               .where = server};
}

int follow_cluster(const UiFlags& flags) {
  if (const std::optional<Error> missing = missing_rights_of(flags.connection))
    return give_up(*missing);
  Result<ClientConfig> config = find_cluster(flags.connection, ExecPlugins::kAccepted);
  if (!config) return give_up(config.error());
  ClusterClient cluster(*std::move(config), {.level = LogLevel::kWarn, .fd = STDERR_FILENO}, "ui");
  UvLoop& loop = cluster.loop;
  const Answers answers;
  const TzDatabase zones;
  Samples samples;
  LivePage* shown = nullptr;
  PageHost* served = nullptr;
  LiveCluster live(cluster.client, cluster.log, flags.settings, [&] { shown->changed(); });
  const auto snapshot = [&] {
    return Snapshot{.cluster = live.cluster(),
                    .answers = answers,
                    .settings = flags.settings,
                    .now = loop.wall_now(),
                    .offline = true,
                    .zones = zones,
                    .samples = samples};
  };
  LivePage page({.state = [&]() -> std::optional<PageState> {
                   if (!live.known()) return std::nullopt;
                   return page_state(snapshot(), live.clues());
                 },
                 .now = [] { return std::chrono::steady_clock::now().time_since_epoch(); },
                 .era = fmt::format("{:08x}", std::random_device()()),
                 .wake = [&](LivePage::Moment wait) { served->feed_in(wait); }});
  shown = &page;
  PageHost host(loop, {.document = [&] { return page.document(); },
                       .follow = [&](std::string_view since) { return page.follow(since); },
                       .why =
                           [&](const std::string& subject) {
                             return page_why(snapshot(), live.clues(), subject);
                           }});
  served = &host;
  if (const Result<void> opened = host.open(flags.port); !opened) return give_up(opened.error());
  const std::stop_token stop = cluster.stop_on_signal();
  Sampler sampler({.client = cluster.client,
                   .log = cluster.log,
                   .cluster = live.cluster(),
                   .samples = samples,
                   .connect = [&](ClientConfig to) -> std::unique_ptr<Transport> {
                     return std::make_unique<CurlTransport>(loop, cluster.host, cluster.log,
                                                            std::move(to));
                   },
                   .acts = [&] { return live.known(); },
                   .on_round = [&] { page.changed(); }},
                  flags.settings);
  TaskGroup measuring(loop);
  if (flags.measure) measuring.spawn(sampler.run(measuring.token()));
  // Stops only after the tasks' frames are destroyed.
  spawn(loop, live.run(stop), [&] { measuring.stop([&loop] { loop.stop(); }); });
  loop.run();
  return 0;
}

}  // namespace

FlagTable ui_flags(UiFlags& flags) {
  FlagTable table = {
      port_flag(flags.port),
      file_flag("--snapshot", flags.snapshot,
                "show this file, as `berth snapshot` wrote it, instead of a live cluster"),
      switch_flag("--measure", flags.measure,
                  "have GPUs measured from here, as the GPUClusterPolicy says where: for a machine "
                  "that reaches the cluster's Prometheus, or its pods"),
  };
  for (Flag& flag : login_flags(flags.connection)) table.push_back(std::move(flag));
  for (Flag& flag : settings_flags(flags.settings)) table.push_back(std::move(flag));
  for (Flag& flag : measuring_flags(flags.settings)) table.push_back(std::move(flag));
  return table;
}

int run_ui(const UiFlags& flags) {
  if (const Result<void> valid = validate_port(flags.port); !valid) return give_up(valid.error());
  return flags.snapshot.empty() ? follow_cluster(flags) : show_saved(flags);
}

}  // namespace berth
