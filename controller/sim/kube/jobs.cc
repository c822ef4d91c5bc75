// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/kube/jobs.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "apis/base/time.h"
#include "controller/sim/kube/workload.h"
#include "controller/sim/world/object_state.h"

namespace berth::sim {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr char kTracking[] = "batch.kubernetes.io/job-tracking";

bool is_suspended(const json& job) { return true_at(job, {"spec", "suspend"}); }

bool is_over(const json& job) { return is_true(job, "Complete") || is_true(job, "Failed"); }

// With a failure policy the controller waits for a pod's end before it counts and replaces it.
bool waits_for_the_end(const json& job) {
  const std::string policy = text_at(job, {"spec", "podReplacementPolicy"});
  return policy.empty() ? find_at(job, {"spec", "podFailurePolicy"}) != nullptr
                        : policy == "Failed";
}

bool matches(const json& rule, const json& pod) {
  const json* patterns = find_at(rule, {"onPodConditions"});
  if (patterns == nullptr) return false;
  return std::ranges::any_of(*patterns, [&](const json& pattern) {
    const json* found = condition_of(pod, text_at(pattern, {"type"}));
    const std::string wanted = text_at(pattern, {"status"});
    return found != nullptr && text_at(*found, {"status"}) == (wanted.empty() ? "True" : wanted);
  });
}

// The first matching rule decides.
bool is_ignored(const json& job, const json& pod) {
  const json* rules = find_at(job, {"spec", "podFailurePolicy", "rules"});
  if (rules == nullptr) return false;
  const auto rule = std::ranges::find_if(*rules, [&](const json& r) { return matches(r, pod); });
  return rule != rules->end() && text_at(*rule, {"action"}) == "Ignore";
}

std::int64_t parallelism_of(const json& job) {
  return integer_at(job, {"spec", "parallelism"}).value_or(1);
}
// A work queue has no completions: one success is enough.
std::int64_t completions_of(const json& job) {
  return integer_at(job, {"spec", "completions"}).value_or(1);
}

// The server omits zero counts.
json count_or_none(std::int64_t count) { return count == 0 ? json() : json(count); }

std::chrono::seconds backoff(std::int64_t failures) {
  return std::min(360s, 10s * (1 << std::clamp<std::int64_t>(failures - 1, 0, 6)));
}

}  // namespace

Jobs::Jobs(Simulation& simulation, const KubeOptions& options, const Relations& relations)
    : simulation_(simulation),
      relations_(relations),
      client_(simulation.server(), "job-controller"),
      queue_(simulation, options.controller_lag,
             [this](const StoreKey& key) {
               const ObjectPtr object = simulation_.store().find(key);
               if (object == nullptr) return;
               if (is(key, "jobs"))
                 look_at_job(key, *object);
               else
                 look_at_orphan(*object);
             }),
      creations_(simulation, client_, queue_) {}

void Jobs::on_change(const Change& change) {
  const bool deleted = change.kind == Change::Kind::kDeleted;
  if (is(change.key, "jobs")) {
    queue_.wake(change.key);
    if (!deleted) return;
    hold_.erase(change.key);
    for (const StoreKey& pod : relations_.dependents(uid_of(*change.after))) queue_.wake(pod);
  }
  if (!is(change.key, "pods")) return;
  wake_controller(queue_, change, "jobs");
  if (!deleted && has_finalizer(*change.after, kTracking)) queue_.wake(change.key);
}

void Jobs::look_at_orphan(const json& pod) {
  const json* owner = controller_of(pod);
  if (owner == nullptr || !has_finalizer(pod, kTracking)) return;
  const StoreKey key{find_resource_type("jobs"), namespace_of(pod), text_at(*owner, {"name"})};
  const ObjectPtr job = simulation_.store().find(key);
  if (job == nullptr || uid_of(*job) != text_at(*owner, {"uid"})) release(pod);
}

void Jobs::look_at_job(const StoreKey& key, const json& job) {
  const Tally tally = count(job);
  json status = {{"active", count_or_none(tally.active)},
                 {"ready", tally.ready},
                 {"terminating", tally.terminating},
                 {"succeeded", count_or_none(tally.succeeded)},
                 {"failed", count_or_none(tally.failed)}};
  const std::string now = format_time(simulation_.clock().wall());
  if (!is_over(job)) tell_suspension(job, status);
  const bool complete = tally.succeeded >= completions_of(job);
  const bool failed = tally.failed > integer_at(job, {"spec", "backoffLimit"}).value_or(6);
  if (!is_over(job) && (complete || failed)) {
    const NewCondition end = complete ? NewCondition{"Complete", "True", "CompletionsReached",
                                                     "Reached expected number of succeeded pods"}
                                      : NewCondition{"Failed", "True", "BackoffLimitExceeded",
                                                     "Job has reached the specified backoff limit"};
    status["conditions"] = with_condition(job, end, simulation_.clock().wall());
    if (complete) status["completionTime"] = now;
  }
  write_status(client_, key, job, std::move(status));
  for (const ObjectPtr& pod : tally.counted) release(*pod);
  if (tally.failed_more) hold_[key] = simulation_.now() + backoff(tally.failed);
  if (is_over(job) || complete || failed) return delete_active(job, false);
  if (is_suspended(job)) return delete_active(job, true);
  if (!is_terminating(job)) create_missing(key, job, tally);
}

// A resumed Job gets a new start time.
void Jobs::tell_suspension(const json& job, json& status) const {
  const Time now = simulation_.clock().wall();
  const bool was = is_true(job, "Suspended"), is = is_suspended(job);
  if (is && !was)
    status["conditions"] =
        with_condition(job, {"Suspended", "True", "JobSuspended", "Job suspended"}, now);
  if (!is && was)
    status["conditions"] =
        with_condition(job, {"Suspended", "False", "JobResumed", "Job resumed"}, now);
  if (!is && (was || find_at(job, {"status", "startTime"}) == nullptr))
    status["startTime"] = format_time(now);
}

Jobs::Tally Jobs::count(const json& job) const {
  Tally tally;
  tally.succeeded = integer_at(job, {"status", "succeeded"}).value_or(0);
  tally.failed = integer_at(job, {"status", "failed"}).value_or(0);
  for (const ObjectPtr& pod : relations_.controlled_by(uid_of(job))) {
    const std::string phase = text_at(*pod, {"status", "phase"});
    const bool finished = is_finished(*pod), going = is_terminating(*pod);
    if (going && !finished) ++tally.terminating;
    if (!going && !finished) {
      ++tally.active;
      tally.ready += is_true(*pod, "Ready") ? 1 : 0;
      continue;
    }
    if (!has_finalizer(*pod, kTracking) || (!finished && waits_for_the_end(job))) continue;
    tally.counted.push_back(pod);
    if (phase == "Succeeded") {
      ++tally.succeeded;
    } else if (!is_ignored(job, *pod) && !is_over(job)) {
      ++tally.failed;
      tally.failed_more = true;
    }
  }
  return tally;
}

void Jobs::create_missing(const StoreKey& key, const json& job, const Tally& tally) {
  if (creations_.under_way(key)) return;
  const std::int64_t there = tally.active + (waits_for_the_end(job) ? tally.terminating : 0);
  const std::int64_t wanted =
      std::min(parallelism_of(job), completions_of(job) - tally.succeeded) - there;
  if (wanted <= 0) return;
  if (const auto hold = hold_.find(key); hold != hold_.end() && hold->second > simulation_.now())
    return queue_.wake(key, hold->second - simulation_.now());
  for (std::int64_t i = 0; i < wanted; ++i) {
    json pod = make_pod(job);
    json& meta = pod["metadata"];
    meta["labels"]["batch.kubernetes.io/job-name"] = key.name;
    meta["labels"]["batch.kubernetes.io/controller-uid"] = uid_of(job);
    meta["finalizers"].push_back(kTracking);
    creations_.create(key, std::move(pod));
  }
}

// A finished or suspended Job keeps only finished pods.
void Jobs::delete_active(const json& job, bool uncounted) {
  for (const ObjectPtr& pod : relations_.controlled_by(uid_of(job))) {
    if (!is_active(*pod)) continue;
    if (uncounted && has_finalizer(*pod, kTracking)) release(*pod);
    client_.remove("pods", namespace_of(*pod), name_of(*pod));
  }
}

void Jobs::release(const json& pod) {
  json finalizers = pod["metadata"]["finalizers"];
  std::erase_if(finalizers.get_ref<json::array_t&>(), [](const json& f) { return f == kTracking; });
  json patch;
  patch["metadata"]["finalizers"] = std::move(finalizers);
  patch["metadata"]["uid"] = uid_of(pod);
  client_.merge_patch("pods", namespace_of(pod), name_of(pod), std::move(patch));
}

}  // namespace berth::sim
