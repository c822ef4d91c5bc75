// SPDX-License-Identifier: Apache-2.0
// Outline: building requests from writes, then run(), then one function per kind of step.
#include "controller/runtime/step_runner.h"

#include <cstdint>
#include <utility>
#include <variant>

#include "apis/base/eviction_outcome.h"
#include "apis/base/names.h"
#include "controller/client/resource_path.h"
#include "controller/core/seeded_bugs.h"
#include "controller/runtime/kinds.h"

namespace berth {
namespace {

ApiRequest to_request(const Write& write, const KindInfo& kind) {
  const ObjectKey key{write.object.namespace_, write.object.name};
  WriteOptions options;
  options.field_manager = write.field_manager;
  DeleteOptions removal;
  if (!seeded(SeededBug::kForgetPodUid)) removal.uid = write.object.uid;
  removal.resource_version = write.resource_version;
  removal.grace_period_seconds = write.grace_period_seconds;
  switch (write.verb) {
    case Verb::kCreate:
      return create_request(kind, key.namespace_, write.body, options);
    case Verb::kJsonPatch:
      return json_patch_request(kind, key, write.body, options);
    case Verb::kMergePatch:
      return merge_patch_request(kind, key, write.body, options);
    case Verb::kStatusPatch:
      return status_merge_patch_request(kind, key, write.body, options);
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
      return WriteBarrier::Awaits::kPresent;
    case Verb::kDelete:
    case Verb::kEvict:
      return WriteBarrier::Awaits::kGoing;
    case Verb::kJsonPatch:
    case Verb::kMergePatch:
    case Verb::kStatusPatch:
      return WriteBarrier::Awaits::kVersion;
  }
  return WriteBarrier::Awaits::kVersion;
}

// Whether the write removes a user's pod; the pods of berth's validation Jobs do not count.
bool takes_away(const Write& write) {
  return write.verb == Verb::kEvict ||
         (write.verb == Verb::kDelete && write.object.kind == kKind<Pod>.kind &&
          write.field_manager != names::kManagerPolicy);
}

std::int64_t milliseconds(std::chrono::nanoseconds span) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(span).count();
}

}  // namespace

StepRunner::StepRunner(Parts parts) : parts_(std::move(parts)), loop_(parts_.client.loop()) {}

Task<Verdict> StepRunner::run(Origin origin, Step step, Deadline deadline) {
  auto* guarded = std::get_if<Guard>(&step);
  if (guarded != nullptr && guarded->refuse_any)
    co_return co_await guard_all(std::move(origin), std::move(*guarded));
  if (guarded != nullptr && guarded->refuse_object)
    co_return co_await guard_object(std::move(origin), std::move(*guarded), deadline);
  if (guarded != nullptr)
    co_return co_await guard(std::move(origin), std::move(*guarded), deadline);
  if (auto* asked = std::get_if<Ask>(&step))
    co_return co_await ask(std::move(origin), std::move(*asked), deadline);
  co_return co_await write(std::move(origin), std::get<Write>(std::move(step)), deadline);
}

Task<Verdict> StepRunner::write(Origin origin, Write write, Deadline deadline) {
  ApiRequest request = to_request(write, kind_named(write.object.kind));
  CallOptions call(Lane::kWrite, origin.stop, deadline);
  const MonotonicTime sent_at = loop_.now();
  Result<Reply> reply = co_await parts_.client.send(std::move(request), std::move(call));

  Fate fate = Fate::kDone;
  Error error;
  if (reply.has_value()) {
    const WriteBarrier::Awaits awaits = awaits_after(write.verb);
    // The reply to a deletion is the pod or a Status, so only the cache shows that it has started.
    parts_.barrier.expect(
        origin.key, write.object,
        awaits == WriteBarrier::Awaits::kGoing ? std::string() : reply->resource_version, awaits);
  } else {
    error = std::move(reply).error();
    fate = write.verb == Verb::kEvict ? fate_of_eviction(error) : fate_of(error);
  }
  answer(write, fate == Fate::kDone, error, {});
  parts_.metrics.on_write(to_string(write.verb), to_string(fate));
  if (takes_away(write))
    parts_.metrics.on_eviction(
        eviction_result(write.verb == Verb::kDelete, fate == Fate::kDone ? nullptr : &error));
  parts_.log.write(level_of(fate), "write",
                   {{"key", origin.key},
                    {"reconcile_id", origin.id},
                    {"verb", to_string(write.verb)},
                    {"object", write.object.str()},
                    {"reason", write.reason},
                    {"cause", origin.cause},
                    {"result", to_string(fate)},
                    {"took_ms", milliseconds(loop_.now() - sent_at)},
                    {"error", fate == Fate::kDone ? std::string() : describe(error)}});
  if (fate == Fate::kDone && parts_.wrote) parts_.wrote(origin, write);
  co_return Verdict(fate, std::move(error));
}

Task<Verdict> StepRunner::guard(Origin origin, Guard guard, Deadline deadline) {
  ObjectKey key{std::string(), guard.node.name};
  CallOptions call(Lane::kWrite, origin.stop, deadline);
  Result<Node> node = co_await parts_.client.get<Node>(std::move(key), std::move(call));
  if (!node.has_value() && node.error().kind == ErrorKind::kNotFound && guard.yes_if_gone) {
    answer(guard, true, Error(), {});
    parts_.metrics.on_write("guard", "done");
    co_return Verdict(Fate::kDone, Error());
  }
  if (!node.has_value()) co_return Verdict(fate_of(node.error()), std::move(node).error());
  ListOptions on_node;
  on_node.field_selector = "spec.nodeName=" + guard.node.name;
  Result<std::vector<Pod>> pods = co_await fetch_all<Pod>(std::move(on_node), origin.stop);
  if (!pods.has_value()) co_return Verdict(fate_of(pods.error()), std::move(pods).error());
  co_return conclude(origin, guard, guard.refuse(*node, *pods), node->meta.resource_version);
}

Task<Verdict> StepRunner::guard_all(Origin origin, Guard guard) {
  ListOptions all;
  Result<std::vector<Node>> nodes = co_await fetch_all<Node>(std::move(all), origin.stop);
  if (!nodes.has_value()) co_return Verdict(fate_of(nodes.error()), std::move(nodes).error());
  co_return conclude(origin, guard, guard.refuse_any(*nodes), std::string());
}

// A 403 and a 404 are answers. A refusal is a state for the next plan, as with an eviction: the
// object is not in the cache, so a refetch would not help.
Task<Verdict> StepRunner::guard_object(Origin origin, Guard guard, Deadline deadline) {
  const ObjectKey key{guard.node.namespace_, guard.node.name};
  ApiRequest request = get_request(object_path(*guard.kind, key));
  CallOptions call(Lane::kWrite, origin.stop, deadline);
  Result<Reply> reply = co_await parts_.client.send(std::move(request), std::move(call));
  if (!reply.has_value() && reply.error().kind != ErrorKind::kNotFound &&
      reply.error().kind != ErrorKind::kForbidden) {
    const bool stopped = reply.error().kind == ErrorKind::kCancelled;
    co_return Verdict(stopped ? Fate::kStopped : Fate::kRetry, std::move(reply).error());
  }
  Result<std::string> object =
      reply.has_value() ? Result<std::string>(reply->body) : std::move(reply).error();
  Verdict verdict = conclude(origin, guard, guard.refuse_object(object), std::string());
  if (verdict.first == Fate::kRefused) verdict.first = Fate::kAnswered;
  co_return verdict;
}

Verdict StepRunner::conclude(const Origin& origin, const Guard& guard,
                             std::optional<std::string> refusal, std::string against) {
  Error error;
  if (refusal.has_value())
    error = Error{.kind = ErrorKind::kConflict, .message = *refusal, .where = guard.node.str()};
  answer(guard, !refusal.has_value(), error, std::move(against));
  parts_.metrics.on_write("guard", refusal.has_value() ? "refused" : "done");
  if (!refusal.has_value()) return Verdict(Fate::kDone, Error());
  parts_.log.info("guard refused", {{"key", origin.key},
                                    {"reconcile_id", origin.id},
                                    {"object", guard.node.str()},
                                    {"question", guard.question},
                                    {"refusal", *refusal}});
  return Verdict(Fate::kRefused, std::move(error));
}

// By quorum: resourceVersion is unset, so the server does not answer from its cache.
template <class T>
Task<Result<std::vector<T>>> StepRunner::fetch_all(ListOptions list, std::stop_token stop) {
  std::vector<T> all;
  do {
    const auto within = parts_.deadline();
    if (!within.has_value()) co_return not_leading();
    CallOptions call(Lane::kWrite, stop, *within);
    Result<ListPage<T>> page = co_await parts_.client.list_page<T>(list, std::move(call));
    if (!page.has_value()) co_return std::move(page).error();
    for (T& object : page->items) all.push_back(std::move(object));
    list.continue_token = page->continue_token;
  } while (!list.continue_token.empty());
  co_return all;
}

Task<Verdict> StepRunner::ask(Origin origin, Ask ask, Deadline deadline) {
  const ObjectKey pod{ask.pod.namespace_, ask.pod.name};
  DeleteOptions removal;
  removal.uid = ask.pod.uid;
  WriteOptions options;
  options.field_manager = names::kManagerMig;
  options.dry_run = true;
  ApiRequest request = evict_request(pod, removal, options);
  CallOptions call(Lane::kWrite, origin.stop, deadline);
  Result<Reply> reply = co_await parts_.client.send(std::move(request), std::move(call));
  Error error;
  if (!reply.has_value()) error = std::move(reply).error();
  const Fate fate = reply.has_value() ? Fate::kDone : fate_of_eviction(error);
  if (fate == Fate::kDone || fate == Fate::kAnswered)
    answer(ask, fate == Fate::kDone, error, ask.against);
  parts_.metrics.on_write("ask", to_string(fate));
  parts_.log.debug("asked", {{"key", origin.key},
                             {"reconcile_id", origin.id},
                             {"object", ask.pod.str()},
                             {"result", to_string(fate)},
                             {"error", fate == Fate::kDone ? std::string() : describe(error)}});
  co_return Verdict(fate, std::move(error));
}

// Stores only real answers of the server or of a guard. A timeout is no answer, and makes an
// earlier answer invalid.
void StepRunner::answer(const Step& step, bool yes, Error error, std::string against) {
  if (!yes && error.http_code == 0 && !std::holds_alternative<Guard>(step))
    return parts_.answers.forget(question(step));
  Answer reply;
  if (const auto* write = std::get_if<Write>(&step)) {
    reply.object = write->object.str();
    reply.field_manager = write->field_manager;
    reply.reason = write->reason;
  }
  reply.yes = yes;
  reply.error = std::move(error);
  reply.against = std::move(against);
  reply.at = parts_.client.wall_now();
  parts_.answers.put(question(step), std::move(reply));
}

}  // namespace berth
