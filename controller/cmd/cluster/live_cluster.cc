// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/cluster/live_cluster.h"

#include <utility>

#include "apis/base/names.h"
#include "apis/kinds/watched_kinds.h"
#include "controller/cmd/cluster/fetch_dump.h"
#include "controller/dump/dump.h"

namespace berth {

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::nanoseconds kCluesEvery = 30s;

}  // namespace

LiveCluster::LiveCluster(ApiClient& client, Log& log, const Settings& settings,
                         std::function<void()> on_change)
    : client_(client),
      settings_(settings),
      on_change_(std::move(on_change)),
      caches_(client, log, unobserved_,
              Caches::Hooks{.on_cached = nullptr,
                            .on_synced = [this] { on_change_(); },
                            .on_fatal =
                                [this, &log](std::string why) {
                                  log.error("ending", {{"why", why}});
                                  end_.request_stop();
                                }},
              std::hash<std::string>{}(settings.berth_namespace)) {
  add_informers();
}

void LiveCluster::add_informers() {
  const std::string& berth = settings_.berth_namespace;
  const std::string& agents = settings_.agents_namespace;
  Watched::each([&]<class T>() {
    const std::string name(kKind<T>.plural);
    const WatchScope scope = kWatching<T>.scope;
    if (scope == WatchScope::kCluster) add<T>(name, {});
    if (scope == WatchScope::kUnfinished) add<T>(name, {.unfinished = true});
    if (scope == WatchScope::kAgents) add<T>(name, {.namespace_ = agents});
    if (scope != WatchScope::kLedger) return;
    add<T>(name + "/agents", {.namespace_ = agents});
    if (berth == agents) return;
    for (const char* ledger : {names::kSlotsConfigMap, names::kAdmissionsConfigMap,
                               names::kUsageConfigMap, names::kCostsConfigMap})
      add<T>(name + "/" + ledger, {.namespace_ = berth, .name = ledger});
  });
}

template <class T>
void LiveCluster::add(std::string name, InformerScope scope) {
  caches_.add<T>(
      std::move(name), std::move(scope), [this](const T*, const T*) { on_change_(); },
      kWatching<T>.optional);
}

bool LiveCluster::known() const {
  bool nodes = false, pods = false;
  for (const ReadinessCheck& check : caches_.readiness()) {
    nodes |= check.name == "informer-nodes" && !check.problem;
    pods |= check.name == "informer-pods" && !check.problem;
  }
  return nodes && pods;
}

Task<void> LiveCluster::run(std::stop_token stop) {
  const std::stop_callback<std::function<void()>> on_stop(stop, [this] { end_.request_stop(); });
  caches_.start();
  while (!end_.stop_requested()) {
    co_await read_clues(end_.get_token());
    co_await sleep_for(kCluesEvery, end_.get_token());
  }
  caches_.stop();
}

// The page works with less detail without them, so a failure is only retried.
Task<void> LiveCluster::read_clues(std::stop_token stop) {
  std::vector<std::string> notes;
  DumpQuery query{.settings = settings_, .workloads = true, .tolerant = true};
  const Result<std::string> read = co_await fetch_clues(client_, std::move(query), notes, stop);
  if (!read.has_value() || stop.stop_requested()) co_return;
  Result<Dump> dump = load_dump(*read);
  if (!dump.has_value()) co_return;
  clues_ = std::move(dump->clues);
  on_change_();
}

}  // namespace berth
