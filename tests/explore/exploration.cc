// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/exploration.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "apis/codec/manifest.h"
#include "controller/scenario/phases.h"
#include "controller/scenario/scenario_run.h"
#include "tests/explore/admission_invariants.h"
#include "tests/explore/disturber.h"
#include "tests/explore/idle_invariants.h"
#include "tests/explore/invariants.h"
#include "tests/explore/loan_invariants.h"
#include "tests/explore/look.h"
#include "tests/explore/owner_invariants.h"
#include "tests/explore/queue_displacements.h"
#include "tests/explore/queue_invariants.h"
#include "tests/explore/queue_standstill.h"
#include "tests/explore/queue_stillness.h"
#include "tests/explore/reservation_invariants.h"
#include "tests/explore/stillness.h"
#include "tests/explore/usage_invariants.h"

namespace berth::explore {

using namespace std::chrono_literals;

namespace {

// The layout for a phase's incidents: the first one that the timeline applies.
std::string first_layout(const Scenario& scenario) {
  for (const Incident& incident : scenario.timeline)
    for (const ManifestDocument& document : parse_manifest(incident.manifest, "").documents)
      if (document.kind == "MIGLayout") return document.name;
  return "";
}

// berth has written nothing for this long.
constexpr std::chrono::minutes kRest{2};

Scenario scenario_of(const Scenario& scenario, const Schedule& schedule,
                     const RunOptions& options) {
  Scenario own = prepare(scenario, schedule, first_layout(scenario));
  // No fault occurs in a day, so its lease may be as long as where writes are expensive.
  if (options.quiet >= 24h)
    own.lease = {.lease_duration = 137s, .renew_deadline = 107s, .retry_period = 26s};
  return own;
}

class Run {
 public:
  Run(const Scenario& scenario, const Schedule& schedule, const RunOptions& options)
      : scenario_(scenario_of(scenario, schedule, options)),
        options_(options),
        strict_(schedule.ends_as_expected(scenario)),
        run_(scenario_, options.seed),
        invariants_(run_.simulation().clock(), scenario_.settings,
                    {.renew_deadline = scenario_.lease.renew_deadline}),
        disturber_(run_, scenario_, schedule, hooks()) {
    if (run_.admission() != nullptr) admission_.emplace(scenario_.settings);
    sim::Store& store = run_.simulation().store();
    for (const sim::ResourceType& type : sim::resource_types())
      for (const sim::ObjectPtr& object : store.list(type)) take_standing(type, object);
    store.observe([this](const sim::Change& change) { on_change(change); });
    for (const auto& [name, node] : run_.gauges().nodes()) take_gauges(name);
    run_.gauges().on_change = [this](const std::string& node) { take_gauges(node); };
    run_.gauges().on_use = [this](const std::string& path, int percent) {
      idle_.history().take_use(path, percent, run_.simulation().now());
    };
    if (run_.admission() != nullptr)
      run_.admission()->hooks.on_passed = [this](const sim::Passage& passage) {
        admission_->take_passage(passage);
      };
    for (BerthProcess* berth : run_.processes()) {
      if (!options_.transcript) break;
      berth->on_log = [this, name = berth->name()](LogLevel level, const std::string& line) {
        if (level >= LogLevel::kInfo) tell(name + ": " + line);
      };
    }
  }

  RunReport play() {
    RunReport report;
    report.failure = run_to_stillness();
    report.simulated = run_.simulation().now();
    report.steps = steps_;
    report.footprint = disturber_.footprint();
    report.footprint.phases = phases_;
    if (options_.on_end) options_.on_end(report);
    return report;
  }

 private:
  Disturber::Hooks hooks() {
    return {
        .on_request =
            [this](const std::string& user, const HttpRequest& request) {
              if (options_.transcript && request.lane != Lane::kLease)
                tell(
                    fmt::format("{} {} {} {}", user, request.method, request.target, request.body));
              invariants_.take_request(user, request);
            },
        .branch = [this](std::string_view counter, int number) { return branch(counter, number); },
        .tell = [this](const std::string& what) { tell("*** " + what); },
        .delays = [this] { invariants_.expect_delays(); },
        .at_rest = [this] { return is_at_rest(); }};
  }

  bool is_at_rest() {
    const MonotonicTime now = run_.simulation().now();
    return now > earliest_ && now > invariants_.last_write() + kRest;
  }

  std::optional<Schedule> branch(std::string_view counter, int number) {
    std::optional<Schedule> schedule;
    if (options_.branch) schedule = options_.branch(counter, number);
    if (schedule) strict_ = schedule->ends_as_expected(scenario_);
    return schedule;
  }

  void tell(const std::string& line) {
    if (!options_.transcript) return;
    options_.transcript(fmt::format("{:>9.3f} {}", (run_.simulation().now() / 1ms) / 1000.0, line));
  }

  void take_standing(const sim::ResourceType& type, const sim::ObjectPtr& object) {
    sim::Change change;
    change.kind = sim::Change::Kind::kAdded;
    change.key = {&type, text_at(object.get(), {"metadata", "namespace"}),
                  text_at(object.get(), {"metadata", "name"})};
    change.after = object;
    change.user = "before";
    take(change);
  }

  bool may_lead() {
    return std::ranges::any_of(run_.processes(), [](const BerthProcess* process) {
      return !process->is_webhook() && process->running() && !process->frozen();
    });
  }

  void take_gauges(const std::string& node) {
    const auto found = run_.gauges().nodes().find(node);
    const sim::GaugedNode* gauges = found == run_.gauges().nodes().end() ? nullptr : &found->second;
    invariants_.take_gauges(node, gauges);
    idle_.history().take_gauges(node, gauges, run_.simulation().now());
  }

  void take(const sim::Change& change) {
    invariants_.take(change);
    // The sending time is known for records and slots, but not for writes of queues.
    const auto sent_before = invariants_.news_takes() + disturber_.held_up();
    queues_.take(change, is_berth(change.user), run_.simulation().clock().wall(), sent_before);
    displacements_.take(change, is_berth(change.user), run_.simulation().clock().wall(),
                        sent_before);
    loans_.take(change, may_lead(), run_.simulation().clock().wall(), sent_before);
    owners_.take(change, is_berth(change.user));
    usage_.take(change, is_berth(change.user), run_.simulation().clock().wall(), sent_before);
    reservations_.take(change, is_berth(change.user), sent_before);
    standstill_.take(change, is_berth(change.user), may_lead(), run_.simulation().store(),
                     run_.simulation().clock().wall(), sent_before);
    if (scenario_.prometheus)
      idle_.take(change, is_berth(change.user), run_.simulation().now(),
                 run_.simulation().clock().wall(), sent_before);
    if (admission_) admission_->take(change, run_.simulation().now(), invariants_.news_takes());
  }

  void on_change(const sim::Change& change) {
    if (options_.transcript && change.key.type->plural != "leases")
      tell(fmt::format("{} {} {} {}", change.user,
                       change.kind == sim::Change::Kind::kAdded     ? "adds"
                       : change.kind == sim::Change::Kind::kDeleted ? "deletes"
                                                                    : "changes",
                       change.key.str(), change.revision));
    take(change);
    if (change.key.type->plural != "nodes" || change.after == nullptr) return;
    const std::string& name = change.key.name;
    const std::string phase =
        rollout_phase(*change.after, !invariants_.truth().tenants_on(name).empty());
    if (phase != "Idle" && seen_phases_.insert(name + "/" + phase).second)
      phases_.push_back(name + "/" + phase);
  }

  // Runs one step; false once an invariant is violated or the run does not end.
  bool step() {
    if (++steps_ > options_.steps) return false;
    over_ = over_ || !run_.step();
    if (over_) run_.simulation().step(run_.simulation().now() + 1s);
    return broken().empty();
  }

  std::string broken() const {
    if (!invariants_.broken().empty()) return invariants_.broken().front();
    if (!queues_.broken().empty()) return queues_.broken().front();
    if (!displacements_.broken().empty()) return displacements_.broken().front();
    if (!loans_.broken().empty()) return loans_.broken().front();
    if (!owners_.broken().empty()) return owners_.broken().front();
    if (!usage_.broken().empty()) return usage_.broken().front();
    if (!reservations_.broken().empty()) return reservations_.broken().front();
    if (!standstill_.broken().empty()) return standstill_.broken().front();
    if (!idle_.broken().empty()) return idle_.broken().front();
    return admission_ && !admission_->broken().empty() ? admission_->broken().front() : "";
  }

  std::string unfinished() {
    if (strict_ && !run_.settled()) return run_.unsettled();
    if (std::string why = unstill(invariants_.truth(), run_); !why.empty()) return why;
    if (std::string why = invariants_.pools().unstill(); !why.empty()) return why;
    if (std::string why = invariants_.dead_nodes().unstill(run_.simulation().clock().wall());
        !why.empty())
      return why;
    if (std::string why = invariants_.health().unstill(run_.simulation().now()); !why.empty())
      return why;
    if (std::string why = idle_.unstill(run_.simulation().now()); !why.empty()) return why;
    if (std::string why = admission_ ? admission_->unstill() : ""; !why.empty()) return why;
    if (std::string why = queues_.unstill(); !why.empty()) return why;
    if (std::string why = displacements_.unstill(run_.simulation().clock().wall()); !why.empty())
      return why;
    if (std::string why = unstill_queues(run_.simulation().store(), scenario_.settings,
                                         run_.simulation().clock().wall());
        !why.empty())
      return why;
    return invariants_.certificates().unstill(run_.simulation().clock().wall());
  }

  std::chrono::nanoseconds last_act() const {
    std::chrono::nanoseconds last{0};
    for (const Incident& incident : scenario_.timeline)
      if (incident.at)
        last = std::max<std::chrono::nanoseconds>(last, *incident.at + incident.after);
    return last;
  }

  // Runs until berth has written nothing for the quiet time and the state is right or explained.
  std::string run_to_stillness() {
    const MonotonicTime limit = run_.simulation().now() + scenario_.limit + options_.quiet;
    MonotonicTime look_at = earliest_;
    std::string why = "it never came to rest";
    while (run_.simulation().now() < limit) {
      if (!step()) break;
      const MonotonicTime now = run_.simulation().now();
      if (now < look_at || disturber_.pending()) continue;
      look_at = std::max(now + 1s, invariants_.last_write() + options_.quiet);
      if (now - invariants_.last_write() < options_.quiet) continue;
      why = unfinished();
      if (why.empty()) return "";
      look_at = now + 1min;
    }
    if (std::string what = broken(); !what.empty()) return what;
    if (steps_ > options_.steps)
      return fmt::format("livelock: {} steps are not enough", options_.steps);
    if (std::string still = unfinished(); !still.empty()) why = still;
    return fmt::format("not at rest after {} min: {}; berth last wrote {} at {:.3f}",
                       run_.simulation().now() / 1min, why, invariants_.last_write_was(),
                       (invariants_.last_write() / 1ms) / 1000.0);
  }

  const Scenario scenario_;
  const RunOptions options_;
  bool strict_;
  ScenarioRun run_;
  const MonotonicTime earliest_ = run_.simulation().now() + last_act() + 1min;  // for being at rest
  Invariants invariants_;
  QueueInvariants queues_;
  QueueDisplacements displacements_;
  LoanInvariants loans_{displacements_};
  OwnerInvariants owners_;
  UsageInvariants usage_{displacements_.accounts()};
  ReservationInvariants reservations_{displacements_.accounts()};
  QueueStandstill standstill_{scenario_.settings};
  IdleInvariants idle_;
  std::optional<AdmissionInvariants> admission_;  // if a webhook is installed
  Disturber disturber_;
  std::int64_t steps_ = 0;
  bool over_ = false;  // the run has no further steps
  std::set<std::string> seen_phases_;
  std::vector<std::string> phases_;
};

}  // namespace

RunReport explore(const Scenario& scenario, const Schedule& schedule, const RunOptions& options) {
  return Run(scenario, schedule, options).play();
}

}  // namespace berth::explore
