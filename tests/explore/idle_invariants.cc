// SPDX-License-Identifier: Apache-2.0
// Outline: what happened; which workload was stopped as idle, and whether it was idle; what gets
// its GPUs.
#include "tests/explore/idle_invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "controller/queue/record/admission_ledger.h"
#include "tests/explore/look.h"
#include "tests/explore/queue_accounts.h"
#include "tests/explore/queue_look.h"
#include "tests/explore/stored_policy.h"

namespace berth::explore {

using nlohmann::json;
using namespace std::chrono_literals;
using queue::LedgerFact;

namespace {

// The time until a decision: a round of the sampler, and a leader that stops for a while.
constexpr std::chrono::nanoseconds kRoundTakes = 30s;
constexpr std::chrono::nanoseconds kOfASecond = 2s;  // objects store times in whole seconds
// Activity that lasts this long must be seen by berth in any case.
constexpr std::chrono::nanoseconds kPlainToSee = 4min;

bool is_leaving_now(const json* pod) {
  return pod == nullptr || at(pod, {"metadata", "deletionTimestamp"}) != nullptr;
}

bool takes_idle_work(const LedgerFact& entry, std::string_view workload, std::int64_t since) {
  return std::ranges::any_of(entry.ahead, [&](const queue::AheadFact& ahead) {
    return ahead.evicted && ahead.idle && ahead.workload == workload && ahead.since == since;
  });
}

std::int64_t admitted_at(const json& object) {
  const auto record = record_of(object);
  return record ? record->since : 0;
}

std::int64_t in_seconds(std::chrono::nanoseconds span) { return span / 1s; }

}  // namespace

void IdleInvariants::complain(std::string_view invariant, const std::string& what) {
  broken_.push_back(fmt::format("{}: {}", invariant, what));
}

void IdleInvariants::take(const sim::Change& change, bool by_berth, MonotonicTime now, Time wall,
                          std::chrono::nanoseconds news_takes) {
  const std::string_view plural = change.key.type->plural;
  const Moment at{now, wall, news_takes};
  if (plural == "gpuclusterpolicies") return take_policy(change, now);
  if (!policy_ || history_.empty()) {
    if (plural == "pods") take_pod(change, false, at);
    return;
  }
  if (change.key.name == names::kAdmissionsConfigMap) return take_ledger(change, by_berth);
  if (plural == "jobs" && by_berth) return judge_job(change, at);
  if (plural != "pods") return;
  if (by_berth) judge_pod(change, at);
  take_pod(change, by_berth, at);
}

void IdleInvariants::take_policy(const sim::Change& change, MonotonicTime now) {
  std::optional<GPUClusterPolicy> next = policy_after(change);
  if (!next || !policy_ || policy_->spec != next->spec) policy_since_ = now;
  policy_ = std::move(next);
}

// An entry that was deleted, or no longer waits, may still have stopped a workload recently.
void IdleInvariants::take_ledger(const sim::Change& change, bool by_berth) {
  std::map<std::string, LedgerFact> next;
  const json* data =
      change.kind == sim::Change::Kind::kDeleted ? nullptr : at(change.after.get(), {"data"});
  if (data != nullptr)
    for (const auto& [uid, text] : data->items())
      if (auto entry = queue::decode_entry(text.get<std::string>())) next[uid] = std::move(*entry);
  for (const auto& [uid, entry] : next)
    if (by_berth && !entry.ahead.empty() && !entries_.contains(uid)) judge_entry(uid, entry);
  for (const auto& [uid, entry] : entries_)
    if (!entry.ahead.empty()) withdrawn_[uid] = entry;
  entries_ = std::move(next);
}

void IdleInvariants::take_pod(const sim::Change& change, bool by_berth, const Moment& at) {
  const std::string key = change.key.namespace_ + "/" + change.key.name;
  if (change.kind == sim::Change::Kind::kDeleted) {
    pods_.erase(key);
    return;
  }
  KnownPod& pod = pods_.try_emplace(key, KnownPod{.came = at.now}).first->second;
  if (pod.object != nullptr && text_at(pod.object.get(), {"metadata", "uid"}) !=
                                   text_at(change.after.get(), {"metadata", "uid"}))
    pod = {.came = at.now};
  pod.object = change.after;
  const std::string& node = text_at(change.after.get(), {"spec", "nodeName"});
  if (node != pod.node) pod.bound = at.now;
  pod.node = node;
  const std::string& warning = annotation_at(change.after.get(), names::kReclaimAfterAnnotation);
  if (warning == pod.warning) return;
  pod.warning = warning;
  pod.warned = at.now;
  if (by_berth && !warning.empty()) judge_warning(pod, at);
}

void IdleInvariants::judge_warning(const KnownPod& pod, const Moment& at) {
  const Result<Time> due = parse_time(pod.warning);
  const Time sent =
      at.wall - std::chrono::duration_cast<Time::duration>(at.news_takes + kRoundTakes);
  if (!due ||
      (at.now - policy_since_ > at.news_takes && *due < sent + policy_->spec.idle.warn_after))
    complain("Warned", fmt::format("{} is told that its GPUs go at {}", workload_of(*pod.object),
                                   pod.warning));
}

// The text says by which policy it is stopped.
void IdleInvariants::judge_job(const sim::Change& change, const Moment& at) {
  if (change.before == nullptr || change.kind == sim::Change::Kind::kDeleted) return;
  const json &before = *change.before, &after = *change.after;
  const std::string& told = annotation_at(&after, names::kPreemptedAnnotation);
  if (is_suspended(before) || !is_suspended(after) ||
      told == annotation_at(&before, names::kPreemptedAnnotation))
    return;
  const std::string workload = "Job/" + change.key.namespace_ + "/" + change.key.name;
  const bool alone = told.ends_with(", as its GPUs were idle");
  if (!alone && !told.ends_with(", as it was idle")) return;  // stopped for another reason
  const LedgerFact* taker = alone ? nullptr : taker_of(workload, admitted_at(before));
  const bool settled = at.now - policy_since_ > at.news_takes;
  if (alone && settled && policy_->spec.idle.policy != IdlePolicy::kAlways)
    complain("Unasked", workload + " is stopped as idle, and nobody asked for its GPUs");
  if (alone && annotation_at(&after, names::kHoldAnnotation).empty())
    complain("Held", workload + " is stopped as idle, and queues again at once");
  if (taker != nullptr) gave_way_[text_at(&after, {"metadata", "uid"})] = taker->workload;
  for (const KnownPod* pod : running(workload)) judge_stop(workload, *pod, at);
}

void IdleInvariants::judge_pod(const sim::Change& change, const Moment& at) {
  if (change.before == nullptr || is_leaving_now(change.before.get())) return;
  const bool gone = change.kind == sim::Change::Kind::kDeleted;
  if (!gone && !is_leaving_now(change.after.get())) return;
  const std::string workload = workload_of(*change.before);
  const auto pod = pods_.find(change.key.namespace_ + "/" + change.key.name);
  if (taker_of(workload, admitted_at(*change.before)) == nullptr || pod == pods_.end()) return;
  for (const KnownPod* of : running(workload))
    if (of == &pod->second || !workload.starts_with("Job/")) judge_stop(workload, *of, at);
}

void IdleInvariants::judge_stop(const std::string& workload, const KnownPod& pod,
                                const Moment& at) {
  const IdleSpec& idle = policy_->spec.idle;
  const std::chrono::nanoseconds grace = idle.grace_period;
  if (at.now - policy_since_ < window()) return;
  // berth's measurement and decision are a little older than its write.
  const auto late = policy_->spec.metrics.interval + at.news_takes + kRoundTakes;
  const MonotonicTime seen = at.now - late;
  if (worked(pod, at.now - grace, seen) > 0ns)
    complain("Busy", fmt::format("{} is stopped as idle, and has worked within {} s", workload,
                                 in_seconds(grace)));
  if (at.now - pod.came < window() - kOfASecond)
    complain("Young", fmt::format("{} is stopped as idle, and has been there for {} s", workload,
                                  in_seconds(at.now - pod.came)));
  if (const auto dark = history_.dark_since(pod.node); dark && *dark + lasts() < seen)
    complain("Blind", fmt::format("{} is stopped as idle, and nothing is told of {} for {} s",
                                  workload, pod.node, in_seconds(at.now - *dark)));
  const Result<Time> due = parse_time(pod.warning);
  if (!due || at.wall < *due)
    complain("Warned",
             fmt::format("{} is stopped as idle before its time, \"{}\"", workload, pod.warning));
  const MonotonicTime since = std::max(pod.warned, history_.told_since(pod.node).value_or(at.now));
  if (worked(pod, since, seen) >= kPlainToSee)
    complain("Warned",
             fmt::format("{} has worked since it was told that its GPUs are idle", workload));
}

// With one victim fewer, the freed GPUs must be too few.
void IdleInvariants::judge_entry(const std::string& uid, const LedgerFact& entry) {
  std::int64_t freed = 0, least = 0;
  for (const queue::AheadFact& ahead : entry.ahead) {
    if (!ahead.evicted) continue;
    if (const auto to = gave_way_.find(uid); to != gave_way_.end() && to->second == ahead.workload)
      complain("Turns", fmt::format("{} displaces {}, to which it gave its idle GPUs",
                                    entry.workload, ahead.workload));
    std::int64_t gpus = 0;
    for (const KnownPod* pod : running(ahead.workload))
      gpus += gpus_of(*explore::at(pod->object.get(), {"spec"}));
    if (!ahead.idle || gpus == 0) return;
    freed += gpus;
    least = least == 0 ? gpus : std::min(least, gpus);
  }
  const auto asked = recorded(entry.admission);
  if (asked && least > 0 && freed - least >= *asked)
    complain("Fewest", fmt::format("{} GPUs are taken from idle work for {}, which asks for {}",
                                   freed, entry.workload, *asked));
}

const LedgerFact* IdleInvariants::taker_of(const std::string& workload, std::int64_t since) const {
  for (const auto* some : {&entries_, &withdrawn_})
    for (const auto& [_, entry] : *some)
      if (takes_idle_work(entry, workload, since)) return &entry;
  return nullptr;
}

std::vector<const IdleInvariants::KnownPod*> IdleInvariants::running(
    std::string_view workload) const {
  std::vector<const KnownPod*> found;
  for (const auto& [_, pod] : pods_)
    if (!pod.node.empty() && !has_ended(*pod.object) && !is_leaving_now(pod.object.get()) &&
        gpus_of(*at(pod.object.get(), {"spec"})) > 0 && workload_of(*pod.object) == workload)
      found.push_back(&pod);
  return found;
}

std::chrono::nanoseconds IdleInvariants::worked(const KnownPod& pod, MonotonicTime from,
                                                MonotonicTime to) const {
  return history_.worked(*pod.object, std::max(from, pod.bound), to,
                         policy_->spec.idle.utilization_threshold);
}

std::chrono::nanoseconds IdleInvariants::window() const {
  return policy_->spec.idle.grace_period + policy_->spec.idle.warn_after;
}

std::chrono::nanoseconds IdleInvariants::lasts() const {
  return std::max<std::chrono::nanoseconds>(3 * policy_->spec.metrics.interval, 2min);
}

// Includes the time to notice, and to start again after a restart of berth.
std::string IdleInvariants::unstill(MonotonicTime now) const {
  if (!policy_ || history_.empty() || policy_->spec.idle.policy != IdlePolicy::kAlways) return "";
  const MonotonicTime from = now - window() - lasts() - kPlainToSee;
  for (const auto& [name, pod] : pods_) {
    const std::string workload = workload_of(*pod.object);
    const auto told = history_.told_since(pod.node);
    if (!workload.starts_with("Job/") || has_ended(*pod.object) || pod.bound > from ||
        policy_since_ > from || !told || *told > from ||
        gpus_of(*at(pod.object.get(), {"spec"})) == 0)
      continue;
    if (worked(pod, from, now) <= 0ns)
      return fmt::format("{} has been idle for long, and keeps its GPUs", name);
  }
  return "";
}

}  // namespace berth::explore
