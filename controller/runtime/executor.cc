// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/executor.h"

#include <algorithm>
#include <set>
#include <utility>

#include "apis/names.h"
#include "controller/client/eviction_outcome.h"
#include "controller/client/resource_path.h"
#include "controller/io/task_group.h"
#include "controller/runtime/kinds.h"

namespace berth {
namespace {

using namespace std::chrono_literals;

Fate fate_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kConflict:
    case ErrorKind::kAlreadyExists:
    case ErrorKind::kNotFound:
    case ErrorKind::kGone:
      return Fate::kConflict;
    case ErrorKind::kInvalid:
    case ErrorKind::kInvalidSpec:
    case ErrorKind::kForbidden:
    case ErrorKind::kBadRequest:
      return Fate::kRejected;
    case ErrorKind::kCancelled:
      return Fate::kStopped;
    case ErrorKind::kDecode:
    case ErrorKind::kUnauthorized:
    case ErrorKind::kThrottled:
    case ErrorKind::kTimeout:
    case ErrorKind::kUnavailable:
    case ErrorKind::kServer:
      return Fate::kRetry;
  }
  return Fate::kRetry;
}

Fate fate_of_eviction(const Error& error) {
  switch (classify_eviction(error)) {
    case EvictionOutcome::kStarted:
      return Fate::kDone;
    case EvictionOutcome::kGone:
    case EvictionOutcome::kOtherPod:
    case EvictionOutcome::kNamespaceTerminating:  // on its way out; the cache will show it
      return Fate::kConflict;
    case EvictionOutcome::kBudgetExhausted:
    case EvictionOutcome::kBudgetLagging:
    case EvictionOutcome::kTwoBudgets:
    case EvictionOutcome::kBudgetController:
    case EvictionOutcome::kForbidden:
    case EvictionOutcome::kRefused:
      return Fate::kAnswered;
    case EvictionOutcome::kThrottled:  // says nothing of the pod
    case EvictionOutcome::kUnknown:
      return Fate::kRetry;
    case EvictionOutcome::kCancelled:
      return Fate::kStopped;
  }
  return Fate::kRetry;
}

// A Node's or a Pod's fields have other owners, whom berth never overrides; what it creates itself
// is wholly its own.
bool owns(const KindInfo& kind) {
  return kind.kind != kKind<Node>.kind && kind.kind != kKind<Pod>.kind;
}

ApiRequest to_request(const Write& write, const KindInfo& kind) {
  const ObjectKey key{write.object.namespace_, write.object.name};
  WriteOptions options;
  options.field_manager = write.field_manager;
  DeleteOptions removal;
  removal.uid = write.object.uid;
  removal.grace_period_seconds = write.grace_period_seconds;
  switch (write.verb) {
    case Verb::kCreate:
      return create_request(kind, key.namespace_, write.body, options);
    case Verb::kApply:
      return apply_request(kind, key, write.body, owns(kind), options);
    case Verb::kJsonPatch:
      return json_patch_request(kind, key, write.body, options);
    case Verb::kMergePatch:
      return merge_patch_request(kind, key, write.body, options);
    case Verb::kDelete:
      return delete_request(kind, key, removal, options);
    case Verb::kEvict:
      return evict_request(key, removal, options);
  }
  return {};
}

WriteBarrier::Awaits awaits_after(Verb verb) {
  switch (verb) {
    case Verb::kCreate:
    case Verb::kApply:
      return WriteBarrier::Awaits::kPresent;
    case Verb::kDelete:
    case Verb::kEvict:
      return WriteBarrier::Awaits::kGoing;
    case Verb::kJsonPatch:
    case Verb::kMergePatch:
      return WriteBarrier::Awaits::kVersion;
  }
  return WriteBarrier::Awaits::kVersion;
}

Error not_leading() {
  return Error{.kind = ErrorKind::kCancelled, .message = "not sent: this process does not lead"};
}

bool has_steps(const Plan& plan, const ObjectRef& object) {
  return std::any_of(plan.objects.begin(), plan.objects.end(),
                     [&](const ObjectSteps& steps) { return steps.object == object; });
}

// Conflicts and answers are how a busy cluster talks; the rest deserves a look.
LogLevel level_of(Fate fate) {
  return fate == Fate::kDone || fate == Fate::kAnswered || fate == Fate::kConflict
             ? LogLevel::kInfo
             : LogLevel::kWarn;
}

std::string milliseconds(std::chrono::nanoseconds span) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(span).count());
}

}  // namespace

const char* to_string(Fate fate) {
  switch (fate) {
    case Fate::kNothing:
      return "nothing";
    case Fate::kDone:
      return "done";
    case Fate::kAnswered:
      return "answered";
    case Fate::kRefused:
      return "refused";
    case Fate::kConflict:
      return "conflict";
    case Fate::kRetry:
      return "retry";
    case Fate::kRejected:
      return "rejected";
    case Fate::kStopped:
      return "stopped";
  }
  return "?";
}

// One plan in execution, shared by the tasks of its objects.
struct Executor::Run {
  std::string key;
  std::string id;  // reconcile_id in the log
  Plan plan;
  std::stop_token stop;
  Outcome outcome;
  std::set<ObjectRef> failed;     // objects whose steps did not all succeed
  std::set<ObjectRef> succeeded;  // objects whose steps all did
};

Executor::Executor(Parts parts, Options options)
    : parts_(std::move(parts)),
      loop_(parts_.client.loop()),
      options_(options),
      permits_(loop_, options.writes_at_once) {}

Task<Outcome> Executor::run(std::string key, Plan plan, std::stop_token stop) {
  auto run = std::make_shared<Run>();
  run->key = std::move(key);
  run->id = std::to_string(++last_run_);
  run->plan = std::move(plan);
  run->stop = std::move(stop);

  TaskGroup group(loop_);
  for (std::size_t i = 0; i < run->plan.objects.size(); ++i) group.spawn(run_object(run, i));
  for (const StatusUpdate& status : run->plan.statuses)
    if (status.differs && !has_steps(run->plan, status.object))
      group.spawn(run_status(run, status));
  auto all_done = std::make_shared<Handoff<bool>>(loop_);
  // The tasks listen to run->stop, not to the group's token: this only waits for the last one.
  if (group.running() > 0) {
    group.stop([all_done] { all_done->set(true); });
    co_await all_done->wait();
  }
  send_events(*run);
  co_return std::move(run->outcome);
}

// The steps, then the object's status: a status sent beside them would move the resourceVersion
// that they test.
Task<void> Executor::run_object(std::shared_ptr<Run> run, std::size_t index) {
  co_await run_steps(run, index);
  const ObjectRef object = run->plan.objects[index].object;
  for (std::size_t i = 0; i < run->plan.statuses.size(); ++i) {
    const StatusUpdate status = run->plan.statuses[i];
    if (status.differs && status.object == object) co_await run_status(run, status);
  }
}

Task<void> Executor::run_steps(std::shared_ptr<Run> run, std::size_t index) {
  const ObjectRef object = run->plan.objects[index].object;
  const std::size_t count = run->plan.objects[index].steps.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Step& step = run->plan.objects[index].steps[i];
    const Verdict verdict = co_await run_step(run, step);
    settle(*run, verdict.first, object, verdict.second);
    if (verdict.first == Fate::kDone) continue;
    run->failed.insert(object);
    co_return;
  }
  run->succeeded.insert(object);
}

Task<Executor::Verdict> Executor::run_step(std::shared_ptr<Run> run, Step step) {
  const Permits::Permit permit = co_await permits_.acquire();
  // Every step, reads too: what a deposed leader learns is of no use to it.
  if (!deadline().has_value() || run->stop.stop_requested())
    co_return Verdict(Fate::kStopped, not_leading());
  ++run->outcome.steps;
  if (const auto* guard = std::get_if<Guard>(&step)) co_return co_await run_guard(run, *guard);
  if (const auto* ask = std::get_if<Ask>(&step)) co_return co_await run_ask(run, *ask);
  co_return co_await run_write(run, std::get<Write>(step));
}

Task<Executor::Verdict> Executor::run_write(std::shared_ptr<Run> run, Write write) {
  const KindInfo* kind = find_kind(write.object.kind);
  if (kind == nullptr) {
    Error error{.kind = ErrorKind::kBadRequest, .message = "berth does not write this kind"};
    co_return Verdict(Fate::kRejected, std::move(error));
  }
  ApiRequest request = to_request(write, *kind);
  CallOptions call(Lane::kWrite, run->stop, *deadline());
  const MonotonicTime sent_at = loop_.now();
  Result<Reply> reply = co_await parts_.client.send(std::move(request), std::move(call));

  Fate fate = Fate::kDone;
  Error error;
  if (reply.has_value()) {
    ++run->outcome.writes;
    const WriteBarrier::Awaits awaits = awaits_after(write.verb);
    // A deletion's reply is the pod or a Status: only the cache tells that it has begun.
    parts_.barrier.expect(
        run->key, write.object,
        awaits == WriteBarrier::Awaits::kGoing ? std::string() : reply->resource_version, awaits);
  } else {
    error = std::move(reply).error();
    fate = write.verb == Verb::kEvict ? fate_of_eviction(error) : fate_of(error);
  }
  answer(write, fate == Fate::kDone, error, {});
  parts_.metrics.on_write(to_string(write.verb), to_string(fate));
  parts_.log.write(level_of(fate), "write",
                   {{"key", run->key},
                    {"reconcile_id", run->id},
                    {"verb", to_string(write.verb)},
                    {"object", write.object.str()},
                    {"reason", write.reason},
                    {"result", to_string(fate)},
                    {"took_ms", milliseconds(loop_.now() - sent_at)},
                    {"error", fate == Fate::kDone ? std::string() : describe(error)}});
  co_return Verdict(fate, std::move(error));
}

Task<Executor::Verdict> Executor::run_guard(std::shared_ptr<Run> run, Guard guard) {
  ObjectKey key{std::string(), guard.node.name};
  CallOptions call(Lane::kWrite, run->stop, *deadline());
  Result<Node> node = co_await parts_.client.get<Node>(std::move(key), std::move(call));
  if (!node.has_value()) co_return Verdict(fate_of(node.error()), std::move(node).error());
  Result<std::vector<Pod>> pods = co_await fetch_pods_on(guard.node.name, run->stop);
  if (!pods.has_value()) co_return Verdict(fate_of(pods.error()), std::move(pods).error());

  const std::optional<std::string> refusal = guard.refuse(*node, *pods);
  Error error;
  if (refusal.has_value())
    error = Error{.kind = ErrorKind::kConflict, .message = *refusal, .where = guard.node.str()};
  answer(guard, !refusal.has_value(), error, node->meta.resource_version);
  parts_.metrics.on_write("guard", refusal.has_value() ? "refused" : "done");
  if (!refusal.has_value()) co_return Verdict(Fate::kDone, Error());
  parts_.log.info("guard refused", {{"key", run->key},
                                    {"reconcile_id", run->id},
                                    {"object", guard.node.str()},
                                    {"question", guard.question},
                                    {"refusal", *refusal}});
  co_return Verdict(Fate::kRefused, std::move(error));
}

// By quorum: resourceVersion stays unset, so no cache of the server's answers.
Task<Result<std::vector<Pod>>> Executor::fetch_pods_on(std::string node, std::stop_token stop) {
  std::vector<Pod> pods;
  ListOptions list;
  list.field_selector = "spec.nodeName=" + node;
  do {
    const auto within = deadline();
    if (!within.has_value()) co_return not_leading();
    CallOptions call(Lane::kWrite, stop, *within);
    Result<ListPage<Pod>> page = co_await parts_.client.list_page<Pod>(list, std::move(call));
    if (!page.has_value()) co_return std::move(page).error();
    for (Pod& pod : page->items) pods.push_back(std::move(pod));
    list.continue_token = page->continue_token;
  } while (!list.continue_token.empty());
  co_return pods;
}

Task<Executor::Verdict> Executor::run_ask(std::shared_ptr<Run> run, Ask ask) {
  const ObjectKey pod{ask.pod.namespace_, ask.pod.name};
  DeleteOptions removal;
  removal.uid = ask.pod.uid;
  WriteOptions options;
  options.field_manager = names::kManagerMig;
  options.dry_run = true;
  ApiRequest request = evict_request(pod, removal, options);
  CallOptions call(Lane::kWrite, run->stop, *deadline());
  Result<Reply> reply = co_await parts_.client.send(std::move(request), std::move(call));
  Error error;
  if (!reply.has_value()) error = std::move(reply).error();
  const Fate fate = reply.has_value() ? Fate::kDone : fate_of_eviction(error);
  if (fate == Fate::kDone || fate == Fate::kAnswered)
    answer(ask, fate == Fate::kDone, error, ask.against);
  parts_.metrics.on_write("ask", to_string(fate));
  parts_.log.debug("asked", {{"key", run->key},
                             {"reconcile_id", run->id},
                             {"object", ask.pod.str()},
                             {"result", to_string(fate)},
                             {"error", fate == Fate::kDone ? std::string() : describe(error)}});
  co_return Verdict(fate, std::move(error));
}

Task<void> Executor::run_status(std::shared_ptr<Run> run, StatusUpdate status) {
  const MonotonicTime now = loop_.now();
  std::erase_if(statuses_sent_,
                [&](const auto& sent) { return now - sent.second >= options_.status_period; });
  const auto last = statuses_sent_.find(status.object);
  if (last != statuses_sent_.end() && !status.conditions_differ) {
    run->outcome.status_due = last->second + options_.status_period - now;
    co_return;
  }
  const KindInfo* kind = find_kind(status.object.kind);
  if (kind == nullptr) co_return;
  const Permits::Permit permit = co_await permits_.acquire();
  const auto within = deadline();
  if (!within.has_value() || run->stop.stop_requested()) {
    settle(*run, Fate::kStopped, status.object, not_leading());
    co_return;
  }
  statuses_sent_[status.object] = loop_.now();
  const ObjectKey key{status.object.namespace_, status.object.name};
  WriteOptions options;
  options.field_manager = names::kManagerStatus;
  ApiRequest request = status_merge_patch_request(*kind, key, status.body, options);
  CallOptions call(Lane::kWrite, run->stop, *within);
  Result<Reply> reply = co_await parts_.client.send(std::move(request), std::move(call));
  if (reply.has_value()) {
    parts_.barrier.expect(run->key, status.object, reply->resource_version,
                          WriteBarrier::Awaits::kVersion);
    parts_.metrics.on_write("status", to_string(Fate::kDone));
    settle(*run, Fate::kDone, status.object, Error());
    co_return;
  }
  const Fate fate = fate_of(reply.error());
  parts_.metrics.on_write("status", to_string(fate));
  parts_.log.warn("status not written", {{"key", run->key},
                                         {"reconcile_id", run->id},
                                         {"object", status.object.str()},
                                         {"error", describe(reply.error())}});
  statuses_sent_.erase(status.object);
  settle(*run, fate, status.object, reply.error());
}

// Only what the server (or a guard) really said: a timeout is no answer.
void Executor::answer(const Step& step, bool yes, Error error, std::string against) {
  if (!yes && error.http_code == 0 && !std::holds_alternative<Guard>(step)) return;
  Answer reply;
  reply.yes = yes;
  reply.error = std::move(error);
  reply.against = std::move(against);
  reply.at = loop_.wall_now();
  parts_.answers.put(question(step), std::move(reply));
}

void Executor::settle(Run& run, Fate fate, const ObjectRef& object, const Error& error) {
  if (fate == Fate::kConflict) run.outcome.conflicts.push_back(object);
  if (error.retry_after && fate == Fate::kRetry) {
    const std::chrono::nanoseconds after =
        std::min<std::chrono::nanoseconds>(*error.retry_after, 60s);
    run.outcome.retry_after = std::max(after, run.outcome.retry_after.value_or(0ns));
  }
  if (fate <= run.outcome.fate) return;
  run.outcome.fate = fate;
  if (fate > Fate::kDone) run.outcome.error = describe(error);
}

// An event tells what has happened: not what failed. One about an object without steps of its own
// stands for the whole plan.
void Executor::send_events(const Run& run) {
  for (const EventNote& note : run.plan.events)
    if (run.succeeded.contains(note.regarding) ||
        (run.failed.empty() && !run.stop.stop_requested()))
      parts_.events.send(note);
}

std::optional<std::chrono::milliseconds> Executor::deadline() const {
  const std::chrono::nanoseconds left = parts_.time_left();
  if (left < 1ms) return std::nullopt;
  return std::min(options_.request_deadline,
                  std::chrono::duration_cast<std::chrono::milliseconds>(left));
}

}  // namespace berth
