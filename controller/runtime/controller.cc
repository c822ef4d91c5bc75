// SPDX-License-Identifier: Apache-2.0
// Outline: run() (sync, lead, work, end), then the informers and the handlers of changes.
#include "controller/runtime/controller.h"

#include <fmt/format.h>

#include <utility>

#include "apis/base/names.h"
#include "controller/history/tell.h"

namespace berth {

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::nanoseconds kFiguresLast = 1s;

}  // namespace

Controller::Controller(World world, Reconcilers reconcilers, ControllerOptions options)
    : world_(std::move(world)),
      loop_(world_.client.loop()),
      clock_(loop_, kMaxClockSkew),
      reconcilers_(std::move(reconcilers)),
      options_(std::move(options)),
      jitter_(options_.seed),
      caches_(world_.client, world_.log, world_.metrics,
              Caches::Hooks{
                  .on_cached = [this](std::string_view kind,
                                      const ObjectMeta& meta) { worker_.on_cached(kind, meta); },
                  .on_synced = [this] { wake_.request_stop(); },
                  .on_fatal = [this](std::string why) { end(std::move(why), true); }},
              options_.seed + 100),
      events_(world_.client, world_.log, Events::Options{.instance = options_.lease.identity}),
      leadership_(Leadership::Parts{
                      .client = world_.client,
                      .lease_client = world_.lease_client,
                      .log = world_.log,
                      .metrics = world_.metrics,
                      .cluster = caches_.cluster(),
                      .reconcilers = reconcilers_,
                      .carry_out =
                          [this](Plan plan, std::stop_token stop) {
                            // Runs as the ledger's key, so that berth reconciles that key after the
                            // cache has the write.
                            return worker_.carry_out("slots", std::move(plan), std::move(stop));
                          },
                      .on_lost = [this](std::string why) { end(std::move(why), true); }},
                  options_),
      history_(History::Parts{.client = world_.client,
                              .log = world_.log,
                              .namespace_ = options_.settings.berth_namespace,
                              .keeps = options_.keep_history && !options_.dry_run,
                              .time_left = [this] { return leadership_.time_left(); }}),
      worker_(Worker::Parts{world_.client, world_.log, world_.metrics, caches_, events_, history_,
                            leadership_, reconcilers_, world_.samples, clock_},
              options_) {
  world_.client.set_clock(&clock_);
  world_.lease_client.set_clock(&clock_);
  add_informers();
}

Controller::~Controller() {
  world_.client.set_clock(nullptr);
  world_.lease_client.set_clock(nullptr);
}

Task<int> Controller::run(std::stop_token stop) {
  const std::stop_callback<std::function<void()>> on_stop(stop,
                                                          [this] { end("stop requested", false); });
  caches_.start();
  const bool synced = co_await wait_for_sync(end_.get_token());
  if (synced) {
    const bool leads = co_await leadership_.lead(end_.get_token());
    if (leads) {
      worker_.start();
      history_.start();
      tell("leads", fmt::format("berth {}, epoch {}", options_.lease.version, leadership_.epoch()));
      world_.metrics.begin_term(reconcilers_.measures);
      world_.log.info("working", {{"epoch", leadership_.epoch()}, {"dry_run", options_.dry_run}});
      while (!end_.stop_requested()) {
        for (const std::string& key : reconcilers_.all_keys(cluster())) worker_.add(key);
        const auto period = jitter_.between(options_.reevaluate_period * 9 / 10,
                                            options_.reevaluate_period * 11 / 10);
        co_await sleep_for(period, end_.get_token());
      }
    }
  }
  co_await shut_down(!failed_);
  co_return failed_ ? 1 : 0;
}

// Standbys wait here too, so that a new leader has full caches.
Task<bool> Controller::wait_for_sync(std::stop_token stop) {
  const std::stop_callback<std::function<void()>> on_stop(stop, [this] { wake_.request_stop(); });
  co_await sleep_for(options_.sync_limit, wake_.get_token());
  if (stop.stop_requested()) co_return false;
  const std::vector<std::string> missing = caches_.laggards();
  if (missing.empty()) {
    world_.log.info("caches are synced",
                    {{"nodes", cluster().nodes().size()}, {"pods", cluster().pods().size()}});
    if (world_.on_synced) world_.on_synced();
    co_return true;
  }
  std::string names;
  for (const std::string& name : missing) names += (names.empty() ? "" : ", ") + name;
  end("these informers did not sync in time: " + names, true);
  co_return false;
}

// In order: waits for requests in flight, then releases the lease. Otherwise ends at once.
Task<void> Controller::shut_down(bool in_order) {
  const std::chrono::nanoseconds drain_limit = in_order ? options_.drain_limit : 0ns;
  co_await worker_.shut_down(drain_limit);
  co_await history_.finish(in_order);

  const MonotonicTime events_until = loop_.now() + (in_order ? 1s : 0s);
  while (events_.on_their_way() > 0 && loop_.now() < events_until)
    co_await sleep_for(20ms, std::stop_token());
  auto told = std::make_shared<Handoff<bool>>(loop_);
  events_.stop([told] { told->set(true); });
  co_await told->wait();

  co_await leadership_.resign(in_order);
  caches_.stop();
}

void Controller::end(std::string why, bool failed) {
  if (end_.stop_requested()) return;
  failed_ = failed;
  tell("ends", why);
  worker_.cease();
  world_.log.write(failed ? LogLevel::kError : LogLevel::kInfo, "ending", {{"why", why}});
  end_.request_stop();
}

// Records the end of this process in the history.
void Controller::tell(std::string what, std::string why) {
  history_.note(
      {.actor = "berth",
       .object = fmt::format("Lease/{}/{}", options_.lease.namespace_, options_.lease.name),
       .what = std::move(what),
       .reason = std::move(why)});
}

void Controller::add_informers() {
  const std::string& berth = options_.settings.berth_namespace;
  const std::string& agents = options_.settings.agents_namespace;
  Watched::each([&]<class T>() {
    const std::string name(kKind<T>.plural);
    const Watching& watching = kWatching<T>;
    if (watching.scope == WatchScope::kCluster) add_informer<T>(name, {});
    if (watching.scope == WatchScope::kUnfinished) add_informer<T>(name, {.unfinished = true});
    if (watching.scope == WatchScope::kAgents) add_informer<T>(name, {.namespace_ = agents});
    if (watching.scope != WatchScope::kLedger) return;
    add_informer<T>(name + "/agents", {.namespace_ = agents});
    if (berth == agents) return;
    add_informer<T>(name + "/ledger", {.namespace_ = berth, .name = names::kSlotsConfigMap});
    add_informer<T>(name + "/admissions",
                    {.namespace_ = berth, .name = names::kAdmissionsConfigMap});
    add_informer<T>(name + "/usage", {.namespace_ = berth, .name = names::kUsageConfigMap});
    add_informer<T>(name + "/costs", {.namespace_ = berth, .name = names::kCostsConfigMap});
  });
}

template <class T>
void Controller::add_informer(std::string name, InformerScope scope) {
  caches_.add<T>(
      std::move(name), std::move(scope),
      [this](const T* old, const T* now) { on_change(old, now); }, kWatching<T>.optional);
}

template <class T>
void Controller::on_change(const T* old, const T* now) {
  if (world_.on_change) world_.on_change();
  if (!worker_.working()) return;
  if constexpr (requires { berth::tell(old, now); })
    for (HistoryLine& line : berth::tell(old, now)) history_.note(std::move(line));
  if constexpr (std::is_same_v<T, ConfigMap>) {
    const auto deposed = now != nullptr ? leadership_.heed(*now) : std::nullopt;
    if (deposed.has_value()) return end(*deposed, true);
  }
  if (const KeysFor<T>& due = std::get<KeysFor<T>>(reconcilers_.keys_for))
    for (const std::string& key : due(cluster(), old, now)) worker_.add(key);
}

std::vector<ReadinessCheck> Controller::readiness() const {
  std::vector<ReadinessCheck> checks = caches_.readiness();
  if (leadership_.claims())
    checks.push_back({.name = "cluster-claim", .problem = leadership_.claim_problem()});
  checks.push_back({.name = "shutdown"});
  if (end_.stop_requested()) checks.back().problem = "shutting down";
  return checks;
}

void Controller::refresh_metrics() {
  world_.metrics.on_unfinished(worker_.unfinished());
  if (const auto skew = clock_.skew()) world_.metrics.on_clock_skew(*skew);
  world_.metrics.on_newest_version(caches_.namespaces_version());
  if (!worker_.working() || !reconcilers_.figures) return world_.metrics.show({});
  // Figures read all nodes, and any client may scrape, so berth limits how often it computes them.
  if (figured_at_ && loop_.now() - *figured_at_ < kFiguresLast) return;
  figured_at_ = loop_.now();
  world_.metrics.show(reconcilers_.figures(cluster()));
}

}  // namespace berth
