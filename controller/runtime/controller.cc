// SPDX-License-Identifier: Apache-2.0
// Outline: run() (sync, lead, claim, work, end), then the informers and what changes do, then the
// way of one key: pump, work_on, execute, conclude.
#include "controller/runtime/controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apis/names.h"
#include "controller/runtime/kinds.h"

namespace berth {
namespace {

using namespace std::chrono_literals;

// Of what walks the whole fleet.
constexpr std::chrono::nanoseconds kFleetInterval = 1s;
constexpr std::uint32_t kConflictsBeforeRefetch = 3;

std::string_view kind_of_key(std::string_view key) { return key.substr(0, key.find('/')); }

WorkQueue::Options queue_options() {
  WorkQueue::Options options;
  options.min_intervals.emplace_back("layout/", kFleetInterval);
  options.min_intervals.emplace_back("agent-config", kFleetInterval);
  options.urgent_prefix = "node/";
  return options;
}

// The steps only: a status may carry times, and an event repeats itself by counting.
std::size_t hash_steps(const Plan& plan) {
  Plan steps;
  steps.objects = plan.objects;
  return steps.objects.empty() ? 0 : std::hash<std::string>()(print(steps));
}

bool has_work(const Plan& plan) { return !plan.empty() || !plan.events.empty(); }

}  // namespace

Controller::Controller(World world, Reconcilers reconcilers, ControllerOptions options)
    : world_(std::move(world)),
      loop_(world_.client.loop()),
      reconcilers_(std::move(reconcilers)),
      options_(std::move(options)),
      jitter_(options_.seed),
      barrier_(loop_,
               WriteBarrier::Hooks{
                   .cached = [this](const ObjectRef& object) { return cached_version(object); },
                   .refetch = [this](const ObjectRef& object) { refetch(object); },
                   .released =
                       [this](const std::string& key) {
                         if (working_) queue_.add(key);
                       }}),
      events_(world_.client, world_.log, Events::Options{.instance = options_.lease.identity}),
      queue_(loop_, world_.metrics, queue_options(),
             [this] {
               if (std::exchange(pump_posted_, true)) return;
               loop_.post([this] { pump(); });
             }),
      elector_(world_.lease_client, world_.log, options_.lease, options_.seed + 1),
      executor_(Executor::Parts{world_.client, world_.log, world_.metrics, answers_, barrier_,
                                events_, [this] { return time_left(); }},
                Executor::Options{}),
      work_(loop_) {
  add_informers();
}

Task<int> Controller::run(std::stop_token stop) {
  const std::stop_callback<std::function<void()>> on_stop(stop,
                                                          [this] { end("stop requested", false); });
  for (const auto& informer : informers_) informer->start();
  const bool synced = co_await wait_for_sync(end_.get_token());
  if (synced) {
    const bool leads = co_await lead(end_.get_token());
    if (leads) {
      working_ = true;
      world_.log.info("working", {{"epoch", std::to_string(epoch_)},
                                  {"dry_run", options_.dry_run ? "true" : "false"}});
      while (!end_.stop_requested()) {
        for (const std::string& key : reconcilers_.all_keys(cluster_)) queue_.add(key);
        const auto period = jitter_.between(options_.reevaluate_period * 9 / 10,
                                            options_.reevaluate_period * 11 / 10);
        co_await sleep_for(period, end_.get_token());
      }
    }
  }
  co_await shut_down(!failed_);
  co_return failed_ ? 1 : 0;
}

// Standbys wait here too: a leader-to-be has warm caches.
Task<bool> Controller::wait_for_sync(std::stop_token stop) {
  const std::stop_callback<std::function<void()>> on_stop(stop, [this] { wake_.request_stop(); });
  co_await sleep_for(options_.sync_limit, wake_.get_token());
  if (stop.stop_requested()) co_return false;
  const std::vector<std::string> missing = laggards();
  if (missing.empty()) {
    world_.log.info("caches are full", {{"nodes", std::to_string(cluster_.nodes().size())},
                                        {"pods", std::to_string(cluster_.pods().size())}});
    if (world_.on_synced) world_.on_synced();
    co_return true;
  }
  std::string names;
  for (const std::string& name : missing) names += (names.empty() ? "" : ", ") + name;
  end("these informers did not sync in time: " + names, true);
  co_return false;
}

// True once we may plan: the lease is ours and the ledger carries our epoch.
Task<bool> Controller::lead(std::stop_token stop) {
  if (options_.dry_run) {
    const ConfigMap* ledger =
        cluster_.config_maps().find(options_.settings.berth_namespace, names::kSlotsConfigMap);
    // As the leader that is at work sees it, not as its successor.
    epoch_ = std::max<std::int64_t>(1, reconcilers_.claim_epoch(ledger).second - 1);
    co_return true;
  }
  if (options_.leader_elect) {
    world_.metrics.on_leading(options_.lease.name, false);
    const bool acquired = co_await elector_.acquire(stop);
    if (!acquired) co_return false;
    world_.metrics.on_leading(options_.lease.name, true);
    holding_ = true;
    spawn(loop_, hold_lease());
  }
  const bool claimed = co_await claim_epoch(stop);
  co_return claimed;
}

Task<void> Controller::hold_lease() {
  const bool still_leading = co_await elector_.hold(hold_.get_token());
  holding_ = false;
  if (still_leading) co_return;
  world_.metrics.on_leading(options_.lease.name, false);
  end("lease lost", true);
}

// A deposed leader's late ledger write carries the old epoch and an old resourceVersion: this is
// what makes it fail.
Task<bool> Controller::claim_epoch(std::stop_token stop) {
  std::chrono::nanoseconds pause = 100ms;
  while (!stop.stop_requested() && time_left() > 0ns) {
    ObjectKey key{options_.settings.berth_namespace, names::kSlotsConfigMap};
    CallOptions look(Lane::kWrite, stop, 10s);
    Result<ConfigMap> ledger = co_await world_.client.get<ConfigMap>(std::move(key), look);
    Error error;
    if (ledger.has_value() || ledger.error().kind == ErrorKind::kNotFound) {
      auto [write, epoch] = reconcilers_.claim_epoch(ledger.has_value() ? &*ledger : nullptr);
      Plan plan;
      const ObjectRef object = write.object;
      plan.add(object, std::move(write));
      const Outcome outcome = co_await executor_.run("epoch", std::move(plan), stop);
      if (outcome.fate == Fate::kDone) {
        epoch_ = epoch;
        co_return true;
      }
      error.message = outcome.error;
    } else {
      error = ledger.error();
    }
    world_.log.warn("epoch not claimed yet", {{"error", describe(error)}});
    co_await sleep_for(pause, stop);
    pause = std::min<std::chrono::nanoseconds>(pause * 2, 5s);
  }
  co_return false;
}

// In order: what is in flight ends by itself, then the lease is given up. Otherwise at once.
Task<void> Controller::shut_down(bool in_order) {
  working_ = false;
  queue_.shut_down();
  const MonotonicTime until = loop_.now() + (in_order ? options_.drain_limit : 0ns);
  while (work_.running() > 0 && loop_.now() < until && time_left() > 0ns)
    co_await sleep_for(20ms, std::stop_token());
  auto ended = std::make_shared<Handoff<bool>>(loop_);
  work_.stop([ended] { ended->set(true); });
  co_await ended->wait();
  barrier_.clear();

  const MonotonicTime events_until = loop_.now() + (in_order ? 1s : 0s);
  while (events_.on_their_way() > 0 && loop_.now() < events_until)
    co_await sleep_for(20ms, std::stop_token());
  auto told = std::make_shared<Handoff<bool>>(loop_);
  events_.stop([told] { told->set(true); });
  co_await told->wait();

  hold_.request_stop();
  while (holding_) co_await sleep_for(1ms, std::stop_token());
  if (in_order) co_await elector_.release();
  for (const auto& informer : informers_) informer->stop();
}

void Controller::end(std::string why, bool failed) {
  if (end_.stop_requested()) return;
  failed_ = failed;
  working_ = false;
  world_.log.write(failed ? LogLevel::kError : LogLevel::kInfo, "ending", {{"why", why}});
  end_.request_stop();
}

void Controller::add_informers() {
  const Settings& settings = options_.settings;
  add_informer<MIGLayout>("miglayouts", {});
  add_informer<Node>("nodes", {});
  add_informer<Pod>("pods", {});
  add_informer<PodDisruptionBudget>("poddisruptionbudgets", {});
  add_informer<Job>("jobs", {});
  add_informer<DaemonSet>("daemonsets", {.namespace_ = settings.agents_namespace});
  add_informer<ClusterPolicy>("clusterpolicies", {}, true);
  add_informer<ConfigMap>("configmaps/agents", {.namespace_ = settings.agents_namespace});
  // Of berth's own namespace only the ledger: the rest is none of our business, nor our memory's.
  if (settings.berth_namespace != settings.agents_namespace)
    add_informer<ConfigMap>("configmaps/ledger", {.namespace_ = settings.berth_namespace,
                                                  .name = names::kSlotsConfigMap});
}

template <class T>
void Controller::add_informer(std::string name, InformerScope scope, bool optional) {
  InformerBase::Callbacks callbacks;
  callbacks.on_cached = [this](std::string_view kind, const ObjectMeta& meta) {
    if (barrier_.size() > 0) barrier_.on_cached(kind, meta.namespace_.view(), meta.name);
  };
  callbacks.on_synced = [this] {
    if (laggards().empty()) wake_.request_stop();
  };
  callbacks.on_fatal = [this](std::string why) { end(std::move(why), true); };
  informers_.push_back(std::make_unique<Informer<T>>(
      world_.client, cluster_, world_.log, world_.metrics, std::move(name), std::move(scope),
      optional, std::move(callbacks), [this](const T* old, const T* now) { on_change(old, now); },
      options_.seed + 100 + informers_.size()));
}

template <class T>
void Controller::on_change(const T* old, const T* now) {
  if constexpr (std::is_same_v<T, Node>) {
    if (old != nullptr && now != nullptr) {
      const auto before = reconcilers_.rollout_stage(*old);
      const auto after = before ? reconcilers_.rollout_stage(*now) : std::nullopt;
      if (after && !before->idle && before->phase != after->phase && after->since >= before->since)
        world_.metrics.on_rollout_phase(before->phase, after->since - before->since);
    }
  }
  if constexpr (std::is_same_v<T, ConfigMap>)
    if (now != nullptr) heed_epoch(*now);
  if (!working_) return;
  for (const std::string& key : std::get<KeysFor<T>>(reconcilers_.keys_for)(cluster_, old, now))
    queue_.add(key);
}

// An epoch above ours is a successor's, or a person's edit. In either case our plans are void: who
// leads next begins above it.
void Controller::heed_epoch(const ConfigMap& config_map) {
  if (!working_ || config_map.meta.name != names::kSlotsConfigMap ||
      config_map.meta.namespace_ != std::string_view(options_.settings.berth_namespace))
    return;
  const std::int64_t standing = reconcilers_.claim_epoch(&config_map).second - 1;
  if (standing <= epoch_) return;
  if (options_.dry_run)
    epoch_ = standing;
  else
    end("the slot ledger carries epoch " + std::to_string(standing) + ", ours is " +
            std::to_string(epoch_),
        true);
}

std::vector<std::string> Controller::laggards() const {
  std::vector<std::string> names;
  for (const auto& informer : informers_)
    if (!informer->synced())
      names.push_back(informer->name() + " (" + to_string(informer->machine().state) + ")");
  return names;
}

std::vector<ReadinessCheck> Controller::readiness() const {
  std::vector<ReadinessCheck> checks;
  for (const auto& informer : informers_) {
    ReadinessCheck check{.name = "informer-" + informer->name()};
    if (!informer->synced())
      check.problem = std::string("not synced: ") + to_string(informer->machine().state);
    checks.push_back(std::move(check));
  }
  checks.push_back({.name = "shutdown"});
  if (end_.stop_requested()) checks.back().problem = "shutting down";
  return checks;
}

void Controller::refresh_metrics() { world_.metrics.on_unfinished(queue_.unfinished()); }

std::optional<CachedVersion> Controller::cached_version(const ObjectRef& object) const {
  const auto in = [&]<class T>(const Store<T>& store) -> std::optional<CachedVersion> {
    const T* found = store.find(object.namespace_, object.name);
    if (found == nullptr) return std::nullopt;
    return CachedVersion{found->meta.uid, found->meta.resource_version,
                         found->meta.deletion_timestamp.has_value()};
  };
  if (object.kind == kKind<Node>.kind) return in(cluster_.nodes());
  if (object.kind == kKind<Pod>.kind) return in(cluster_.pods());
  if (object.kind == kKind<ConfigMap>.kind) return in(cluster_.config_maps());
  if (object.kind == kKind<MIGLayout>.kind) return in(cluster_.mig_layouts());
  return std::nullopt;
}

void Controller::refetch(const ObjectRef& object) {
  world_.log.debug("fetching past the watch", {{"object", object.str()}});
  for (const auto& informer : informers_) {
    ObjectMeta meta;
    meta.namespace_ = object.namespace_;
    meta.name = object.name;
    if (informer->kind().kind != object.kind || !informer->scope().holds(meta)) continue;
    informer->refetch(ObjectKey{object.namespace_, object.name});
    return;
  }
}

// One key for each turn of the loop, so that events and replies are never far behind.
void Controller::pump() {
  pump_posted_ = false;
  if (!working_) return;
  const std::optional<std::string> key = queue_.take();
  if (!key.has_value()) return;
  work_on(*key);
  if (queue_.depth() > 0 && !std::exchange(pump_posted_, true)) loop_.post([this] { pump(); });
}

void Controller::work_on(const std::string& key) {
  if (barrier_.holds(key)) {  // comes back when it is released
    queue_.done(key);
    return;
  }
  forget_old_answers();
  const MonotonicTime start = loop_.now();
  const Snapshot snapshot{.cluster = cluster_,
                          .answers = answers_,
                          .settings = options_.settings,
                          .now = loop_.wall_now(),
                          .epoch = epoch_};
  Plan plan = reconcilers_.reconcile(snapshot, key);
  const std::chrono::nanoseconds compute = loop_.now() - start;
  if (plan.requeue_after) queue_.add_after(key, *plan.requeue_after);
  if (options_.dry_run && has_work(plan)) log_dry_run(key, plan);
  if (options_.dry_run || !has_work(plan)) return conclude(key, Outcome{}, 0, compute);
  work_.spawn(execute(key, std::move(plan), compute));
}

Task<void> Controller::execute(std::string key, Plan plan, std::chrono::nanoseconds compute) {
  const std::size_t plan_hash = hash_steps(plan);
  const Outcome outcome = co_await executor_.run(key, std::move(plan), work_.token());
  conclude(key, outcome, plan_hash, compute);
}

// The one place where an outcome becomes what happens next, a metric and a log line.
void Controller::conclude(const std::string& key, const Outcome& outcome, std::size_t plan_hash,
                          std::chrono::nanoseconds compute) {
  // A plan that was carried out and comes again has not reached its aim: no hot loop over it.
  const auto last = last_plans_.find(key);
  const bool repeated = plan_hash != 0 && last != last_plans_.end() && last->second == plan_hash;
  LogLevel level = LogLevel::kDebug;
  switch (outcome.fate) {
    case Fate::kNothing:
      queue_.forget(key);
      break;
    case Fate::kDone:
    case Fate::kAnswered:
      if (repeated) {
        queue_.add_rate_limited(key);
        if (outcome.writes > 0) level = LogLevel::kWarn;
        break;
      }
      queue_.forget(key);
      // Held keys come back by themselves.
      if (outcome.steps > 0 && !barrier_.holds(key)) queue_.add(key);
      break;
    case Fate::kConflict:
      if (queue_.failures(key) >= kConflictsBeforeRefetch)
        for (const ObjectRef& object : outcome.conflicts) refetch(object);
      [[fallthrough]];
    case Fate::kRefused:
      level = LogLevel::kInfo;
      queue_.add_rate_limited(key);
      break;
    case Fate::kRetry:
      level = LogLevel::kWarn;
      if (outcome.retry_after)
        queue_.add_after(key, *outcome.retry_after);
      else
        queue_.add_rate_limited(key);
      break;
    case Fate::kRejected:
      level = LogLevel::kError;
      queue_.add_rate_limited(key);
      break;
    case Fate::kStopped:
      break;
  }
  if (outcome.status_due) queue_.add_after(key, *outcome.status_due);
  if (plan_hash != 0 && (outcome.fate == Fate::kDone || outcome.fate == Fate::kAnswered))
    last_plans_[key] = plan_hash;
  else
    last_plans_.erase(key);

  world_.metrics.on_reconcile(kind_of_key(key), to_string(outcome.fate), compute);
  world_.log.write(level, "reconciled",
                   {{"key", key},
                    {"result", to_string(outcome.fate)},
                    {"repeated", repeated ? "true" : "false"},
                    {"compute_us", std::to_string(compute.count() / 1000)},
                    {"writes", std::to_string(outcome.writes)},
                    {"error", outcome.error}});
  queue_.done(key);
}

void Controller::log_dry_run(const std::string& key, const Plan& plan) {
  Plan shown = plan;
  shown.requeue_after.reset();
  const std::string text = print(shown);
  const std::size_t hash = std::hash<std::string>()(text);
  if (std::exchange(last_plans_[key + " (dry run)"], hash) == hash) return;
  world_.log.info("would do", {{"key", key}, {"plan", text}});
}

void Controller::forget_old_answers() {
  if (answers_.size() == 0 || loop_.now() - answers_swept_at_ < 5s) return;
  answers_swept_at_ = loop_.now();
  answers_.forget_before(loop_.wall_now() - 2 * options_.settings.answer_ttl);
}

std::chrono::nanoseconds Controller::time_left() const {
  if (options_.dry_run) return 0ns;
  return options_.leader_elect ? elector_.time_left() : 1min;
}

}  // namespace berth
