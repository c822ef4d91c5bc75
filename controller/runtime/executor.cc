// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/executor.h"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "apis/base/reasons.h"
#include "controller/core/refused_write.h"
#include "controller/runtime/kinds.h"

namespace berth {
namespace {

using namespace std::chrono_literals;

// The number of steps from `first` on that are all questions.
std::size_t count_asks(const std::vector<Step>& steps, std::size_t first) {
  std::size_t end = first;
  while (end < steps.size() && std::holds_alternative<Ask>(steps[end])) ++end;
  return end - first;
}

}  // namespace

// One plan in execution; the tasks of its objects share it.
struct Executor::Run {
  Origin origin;
  Plan plan;
  Outcome outcome;
  std::set<ObjectRef> failed;     // objects whose steps did not all succeed
  std::set<ObjectRef> succeeded;  // objects whose steps all did
};

Executor::Executor(Parts parts, Options options)
    : parts_(std::move(parts)),
      loop_(parts_.client.loop()),
      options_(options),
      permits_(loop_, options.writes_at_once),
      status_permits_(loop_, options.statuses_at_once),
      ask_permits_(loop_, options.writes_at_once),
      steps_(StepRunner::Parts{parts_.client, parts_.log, parts_.metrics, parts_.answers,
                               parts_.barrier, [this] { return deadline(); }, parts_.wrote}),
      statuses_(StatusWriter::Parts{parts_.client, parts_.log, parts_.metrics, parts_.barrier},
                options_.statuses) {}

Task<Outcome> Executor::run(std::string key, Plan plan, std::stop_token stop) {
  auto run = std::make_shared<Run>();
  run->origin.key = std::move(key);
  run->origin.id = std::to_string(++last_run_);
  run->origin.cause = std::move(plan.cause);
  run->plan = std::move(plan);
  run->origin.stop = std::move(stop);

  TaskGroup group(loop_);
  for (std::size_t i = 0; i < run->plan.objects.size(); ++i) group.spawn(run_object(run, i));
  for (const StatusUpdate& status : run->plan.statuses)
    if (status.differs && !run->plan.has_steps(status.object)) group.spawn(run_status(run, status));
  co_await wait_for(group);
  send_events(*run);
  observe(*run);
  co_return std::move(run->outcome);
}

// The tasks obey origin.stop, not the group's token; this only waits for the last one.
Task<void> Executor::wait_for(TaskGroup& group) {
  if (group.running() == 0) co_return;
  auto all_done = std::make_shared<Handoff<bool>>(loop_);
  group.stop([all_done] { all_done->set(true); });
  co_await all_done->wait();
}

// Runs the steps, then the object's status: a concurrent status would change the resourceVersion
// that the steps test. If the steps changed it, the status waits for the key's next reconcile.
Task<void> Executor::run_object(std::shared_ptr<Run> run, std::size_t index) {
  co_await run_steps(run, index);
  const ObjectRef object = run->plan.objects[index].object;
  if (run->succeeded.contains(object)) co_return;
  for (std::size_t i = 0; i < run->plan.statuses.size(); ++i) {
    const StatusUpdate status = run->plan.statuses[i];
    if (status.differs && status.object == object) co_await run_status(run, status);
  }
}

Task<void> Executor::run_steps(std::shared_ptr<Run> run, std::size_t index) {
  const ObjectRef object = run->plan.objects[index].object;
  const std::vector<Step>& steps = run->plan.objects[index].steps;
  // One permit for all steps, so that an eviction runs before the questions about other pods.
  const Permits::Permit permit = co_await permits_.acquire(run->origin.key);
  for (std::size_t i = 0; i < steps.size() && !run->failed.contains(object);) {
    const std::size_t asks = count_asks(steps, i);
    if (asks > 1)
      co_await run_asks(run, index, i, asks);
    else
      co_await run_step(run, index, i);
    i += std::max<std::size_t>(asks, 1);
  }
  if (!run->failed.contains(object)) run->succeeded.insert(object);
}

// Questions change nothing, so adjacent ones run at once. The answers for a Job's hundreds of pods
// arrive about as soon as for one pod.
Task<void> Executor::run_asks(std::shared_ptr<Run> run, std::size_t index, std::size_t first,
                              std::size_t count) {
  TaskGroup group(loop_);
  for (std::size_t i = first; i < first + count; ++i) group.spawn(run_ask(run, index, i));
  co_await wait_for(group);
}

Task<void> Executor::run_ask(std::shared_ptr<Run> run, std::size_t index, std::size_t step) {
  const Permits::Permit permit = co_await ask_permits_.acquire(run->origin.key);
  co_await run_step(run, index, step);
}

// Reads too need leadership: a previous leader has no use for the answer.
Task<void> Executor::run_step(std::shared_ptr<Run> run, std::size_t index, std::size_t number) {
  const auto& [object, steps] = run->plan.objects[index];
  const Step& step = steps[number];
  const auto within = deadline();
  Verdict verdict(Fate::kStopped, not_leading());
  if (within.has_value() && !run->origin.stop.stop_requested()) {
    ++run->outcome.steps;
    verdict = co_await steps_.run(run->origin, step, *within);
  }
  const auto* write = std::get_if<Write>(&step);
  run->outcome.settle(object, verdict, write != nullptr);
  if (verdict.first != Fate::kDone) run->failed.insert(object);
  if (write == nullptr) co_return;
  if (verdict.first == Fate::kDone)
    ++run->outcome.writes;
  else
    tell_refusal(write->object, write->reason, verdict);
}

Task<void> Executor::run_status(std::shared_ptr<Run> run, StatusUpdate status) {
  if (const auto due_in = statuses_.due_in(status)) {
    run->outcome.status_due = *due_in;
    co_return;
  }
  const KindInfo& kind = kind_named(status.object.kind);
  const Permits::Permit permit = co_await status_permits_.acquire(run->origin.key);
  const ObjectRef object = status.object;
  const auto within = deadline();
  if (!within.has_value() || run->origin.stop.stop_requested()) {
    run->outcome.settle(object, Verdict(Fate::kStopped, not_leading()));
    co_return;
  }
  const std::vector<EventNote> events = std::move(status.events);
  const Verdict verdict = co_await statuses_.write(run->origin, std::move(status), kind, *within);
  run->outcome.settle(object, verdict, /*has_line=*/true);
  tell_refusal(object, "write its status", verdict);
  if (verdict.first != Fate::kDone) co_return;
  for (const EventNote& event : events) parts_.events.send(event);
}

// Records the event at once, on the object itself. Conditions follow, but on other objects, and a
// refused status can't report anything.
void Executor::tell_refusal(const ObjectRef& object, const std::string& purpose,
                            const Verdict& verdict) {
  if (verdict.first != Fate::kRejected) return;
  parts_.events.send({.regarding = object,
                      .warning = true,
                      .reason = reasons::kWriteRefused,
                      .action = "Write",
                      .note = told_refusal(purpose, verdict.second)});
}

// Events report what succeeded. An event about an object without steps is about the whole plan, or
// about its related object.
void Executor::send_events(const Run& run) {
  for (const EventNote& note : run.plan.events)
    if (run.succeeded.contains(note.regarding) ||
        (note.related && run.succeeded.contains(*note.related)) ||
        (run.failed.empty() && !run.origin.stop.stop_requested()))
      parts_.events.send(note);
}

void Executor::observe(const Run& run) {
  for (const Observation& seen : run.plan.observations)
    if (run.succeeded.contains(seen.regarding))
      parts_.metrics.observe(*seen.measure, seen.labels, seen.value);
}

std::optional<std::chrono::milliseconds> Executor::deadline() const {
  const std::chrono::nanoseconds left = parts_.time_left();
  if (left < 1ms) return std::nullopt;
  return std::min(options_.request_deadline,
                  std::chrono::duration_cast<std::chrono::milliseconds>(left));
}

}  // namespace berth
