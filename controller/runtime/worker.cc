// SPDX-License-Identifier: Apache-2.0
// Outline: the path of one key: add, pump, work_on, execute, conclude.
#include "controller/runtime/worker.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "apis/base/reasons.h"
#include "controller/core/seeded_bugs.h"

namespace berth {
namespace {

using namespace std::chrono_literals;

// For keys whose reconcile reads all nodes.
constexpr std::uint32_t kConflictsBeforeRefetch = 3;

std::string_view kind_of_key(std::string_view key) { return key.substr(0, key.find('/')); }

WorkQueue::Options queue_options(std::span<const KeyFamily> families) {
  WorkQueue::Options options;
  for (const KeyFamily& family : families) {
    if (family.interval > 0ns) options.min_intervals.emplace_back(family.prefix, family.interval);
    if (family.urgent) options.urgent_prefixes.emplace_back(family.prefix);
  }
  return options;
}

bool has_work(const Plan& plan) { return !plan.empty() || !plan.events.empty(); }

}  // namespace

Worker::Worker(Parts parts, const ControllerOptions& options)
    : parts_(parts),
      loop_(parts_.client.loop()),
      options_(options),
      barrier_(
          loop_,
          WriteBarrier::Hooks{
              .cached = [this](const ObjectRef& object) { return parts_.caches.version(object); },
              .refetch = [this](const ObjectRef& object) { parts_.caches.refetch(object); },
              .released = [this](const std::string& key) { add(key); }}),
      queue_(loop_, parts_.metrics, queue_options(parts_.reconcilers.families),
             [this] { pump_soon(); }),
      executor_(Executor::Parts{parts_.client, parts_.log, parts_.metrics, answers_, barrier_,
                                parts_.events, [this] { return parts_.leadership.time_left(); },
                                [this](const Origin& origin, const Write& write) {
                                  parts_.history.note_write(origin, write);
                                }},
                Executor::Options{}),
      work_(loop_) {}

void Worker::add(const std::string& key) {
  if (working_) queue_.add(key);
}

void Worker::on_cached(std::string_view kind, const ObjectMeta& meta) {
  if (barrier_.size() > 0) barrier_.on_cached(kind, meta.namespace_.view(), meta.name);
}

void Worker::start() {
  working_ = true;
  attended_since_ = parts_.client.wall_now();
}

Task<Outcome> Worker::carry_out(std::string name, Plan plan, std::stop_token stop) {
  return executor_.run(std::move(name), std::move(plan), std::move(stop));
}

Task<void> Worker::shut_down(std::chrono::nanoseconds drain_limit) {
  working_ = false;
  queue_.shut_down();
  const MonotonicTime until = loop_.now() + drain_limit;
  while (work_.running() > 0 && loop_.now() < until && parts_.leadership.time_left() > 0ns)
    co_await sleep_for(20ms, std::stop_token());
  auto ended = std::make_shared<Handoff<bool>>(loop_);
  work_.stop([ended] { ended->set(true); });
  co_await ended->wait();
  barrier_.clear();
}

void Worker::pump_soon() {
  if (std::exchange(pump_posted_, true)) return;
  loop_.post([this] { pump(); });
}

// One key for each turn of the loop, so that events and replies are soon processed.
void Worker::pump() {
  pump_posted_ = false;
  if (!working_) return;
  const std::optional<std::string> key = queue_.take();
  if (!key.has_value()) return;
  work_on(*key);
  if (queue_.depth() > 0) pump_soon();
}

void Worker::work_on(const std::string& key) {
  if (barrier_.holds(key)) {  // the barrier adds it again
    queue_.done(key);
    return;
  }
  forget_old_answers();
  const MonotonicTime start = loop_.now();
  Time now = parts_.client.wall_now();
  if (seeded(SeededBug::kTrustAnyClock)) now = loop_.wall_now();
  const Snapshot snapshot{.cluster = parts_.caches.cluster(),
                          .answers = answers_,
                          .settings = options_.settings,
                          .now = now,
                          .epoch = parts_.leadership.epoch(),
                          .zones = *options_.zones,
                          .samples = parts_.samples,
                          .attention = attention()};
  Plan plan = parts_.reconcilers.reconcile(snapshot, key);
  const std::chrono::nanoseconds compute = loop_.now() - start;
  if (plan.requeue_after) queue_.add_after(key, *plan.requeue_after);
  if (options_.dry_run && has_work(plan)) log_dry_run(key, plan);
  if (options_.dry_run || !has_work(plan)) return conclude(key, Outcome{}, 0, compute);
  if (parts_.reconcilers.cause_of)
    plan.cause = parts_.reconcilers.cause_of(parts_.caches.cluster(), key);
  work_.spawn(execute(key, std::move(plan), compute));
}

// A wait that started under a wrong clock has a wrong start time, so its patience starts again.
Attention Worker::attention() {
  const Attention now{attended_since_, parts_.clock.skew()};
  const bool right = now.clock_is_right();
  if (right == clock_was_right_) return now;
  clock_was_right_ = right;
  if (right) attended_since_ = parts_.client.wall_now();
  parts_.log.write(right ? LogLevel::kInfo : LogLevel::kError,
                   right ? "the clock is right again"
                         : "the clock is wrong: no deadline passes and no window opens",
                   {{"skew", describe_skew(*now.clock_skew)}});
  return {attended_since_, now.clock_skew};
}

Task<void> Worker::execute(std::string key, Plan plan, std::chrono::nanoseconds compute) {
  const std::size_t plan_hash = hash_steps(plan);
  const Outcome outcome = co_await executor_.run(key, std::move(plan), work_.token());
  conclude(key, outcome, plan_hash, compute);
}

// The only place where an outcome decides the next try, a metric and a log line.
void Worker::conclude(const std::string& key, const Outcome& outcome, std::size_t plan_hash,
                      std::chrono::nanoseconds compute) {
  // If a carried-out plan comes again, it did not have its effect: retry with backoff, not at once.
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
      // The barrier adds held keys again.
      if (outcome.steps > 0 && !barrier_.holds(key)) queue_.add(key);
      break;
    case Fate::kConflict:
    case Fate::kRefused:
      level = LogLevel::kInfo;
      if (queue_.failures(key) >= kConflictsBeforeRefetch) look_again(key, outcome);
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
      // No object changed, but there is a refusal to report.
      for (const std::string& other : parts_.reconcilers.keys_of_refusal(parts_.caches.cluster()))
        if (other != key) add(other);
      break;
    case Fate::kStopped:
      break;
  }
  if (outcome.fate != Fate::kConflict) conflicts_.forget(key);
  if (outcome.status_due) queue_.add_after(key, *outcome.status_due);
  if (plan_hash != 0 && (outcome.fate == Fate::kDone || outcome.fate == Fate::kAnswered))
    last_plans_[key] = plan_hash;
  else
    last_plans_.erase(key);

  // The failed write has its own, better line.
  if (outcome.logged && outcome.fate > Fate::kDone) level = LogLevel::kDebug;
  parts_.metrics.on_reconcile(kind_of_key(key), to_string(outcome.fate), compute);
  parts_.log.write(level, "reconciled",
                   {{"key", key},
                    {"result", to_string(outcome.fate)},
                    {"repeated", repeated},
                    {"compute_us", compute.count() / 1000},
                    {"writes", outcome.writes},
                    {"error", outcome.error}});
  queue_.done(key);
}

void Worker::look_again(const std::string& key, const Outcome& outcome) {
  for (const ObjectRef& object : outcome.conflicts) {
    const std::optional<CachedVersion> cached = parts_.caches.version(object);
    if (outcome.fate == Fate::kConflict && cached && conflicts_.note(key, object, *cached))
      tell_stuck(object, outcome.error);
    parts_.caches.refetch(object);
  }
}

void Worker::tell_stuck(const ObjectRef& object, const std::string& error) {
  parts_.metrics.on_conflict_loop();
  parts_.log.write(LogLevel::kError, "a write conflicts again and again, and nobody changes it",
                   {{"object", object.str()}, {"error", error}});
  parts_.events.send({.regarding = object,
                      .warning = true,
                      .reason = reasons::kWriteRefused,
                      .action = "Write",
                      .note = "the API server refuses a write again and again as out of date, "
                              "though the object has not changed: \"" +
                              error + "\"; berth tries again every minute"});
}

void Worker::log_dry_run(const std::string& key, const Plan& plan) {
  Plan shown = plan;
  shown.requeue_after.reset();
  const std::string text = print(shown);
  const std::size_t hash = std::hash<std::string>()(text);
  if (std::exchange(last_plans_[key + " (dry run)"], hash) == hash) return;
  parts_.log.info("would do", {{"key", key}, {"plan", text}});
}

void Worker::forget_old_answers() {
  if (answers_.size() == 0 || loop_.now() - answers_swept_at_ < 5s) return;
  answers_swept_at_ = loop_.now();
  const Settings& settings = options_.settings;
  answers_.forget_before(parts_.client.wall_now() - kRequestTimeout -
                         std::max(settings.answer_ttl, settings.settle));
}

}  // namespace berth
