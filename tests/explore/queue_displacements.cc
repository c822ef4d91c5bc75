// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/queue_displacements.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "controller/queue/record/admission_ledger.h"
#include "tests/explore/look.h"
#include "tests/explore/queue_look.h"

namespace berth::explore {

using nlohmann::json;
using queue::AheadFact;
using queue::LedgerFact;

namespace {

Time time_of(std::int64_t microseconds) { return Time(std::chrono::microseconds(microseconds)); }

const std::string& uid_of(const json& object) { return text_at(&object, {"metadata", "uid"}); }

bool is_marked(const json* object) {
  return at(object, {"metadata", "deletionTimestamp"}) != nullptr;
}

// Whether the workload is unchanged, so that it must be released as decided.
bool waits_still(const json& object, bool job) {
  const bool held = at(&object, {"metadata", "annotations", names::kHoldAnnotation}) != nullptr;
  return !held && !is_marked(&object) && (job ? is_suspended(object) : is_gated(object));
}

}  // namespace

void QueueDisplacements::take(const sim::Change& change, bool by_berth, Time wall,
                              std::chrono::nanoseconds news_takes) {
  const std::string_view plural = change.key.type->plural;
  const Time heard_of = wall - std::chrono::duration_cast<Time::duration>(news_takes);
  if (change.key.name == names::kAdmissionsConfigMap && by_berth) judge_entries(change, heard_of);
  if (plural == "nodes" && change.before != nullptr &&
      (change.after == nullptr || at(change.before.get(), {"spec"}) == nullptr ||
       at(change.after.get(), {"spec"}) == nullptr ||
       *at(change.before.get(), {"spec"}) != *at(change.after.get(), {"spec"})))
    nodes_moved_ = wall;
  const bool gone = change.kind == sim::Change::Kind::kDeleted;
  if (by_berth && plural == "jobs" && !gone) judge_job(change, wall, heard_of);
  if (by_berth && plural == "pods") judge_pod(change, wall, heard_of);
  if (plural == "jobs" || plural == "pods") follow_waiting(change, wall);
  accounts_.take(change, wall);
  if (change.key.name != names::kAdmissionsConfigMap) return;
  for (auto entry = ahead_.begin(); entry != ahead_.end();) {
    const auto stands = accounts_.ledger().find(entry->first);
    const bool goes_on = stands != accounts_.ledger().end() && stands->second.until == 0;
    if (goes_on && (stands->second.ahead.empty() ||
                    stands->second.admission.since == entry->second.admission.since)) {
      ++entry;
      continue;
    }
    // If news is slow, or the nodes have changed, a budget may have closed in between, or the entry
    // was given up.
    if (news_takes <= std::chrono::seconds(1)) judge_whole(entry->second);
    withdrawn_[entry->first] = {std::move(entry->second), wall};
    entry = ahead_.erase(entry);
  }
  for (const auto& [uid, entry] : accounts_.ledger())
    if (!entry.ahead.empty()) ahead_[uid] = entry;
}

// Checked before the ledger changes: the running workloads are those at the decision. Other
// admissions of the same write may have come first.
void QueueDisplacements::judge_entries(const sim::Change& change, Time heard_of) {
  const json* data =
      change.kind == sim::Change::Kind::kDeleted ? nullptr : at(change.after.get(), {"data"});
  if (data == nullptr) return;
  for (const auto& [uid, text] : data->items()) {
    const auto entry = queue::decode_entry(text.get<std::string>());
    const auto before = accounts_.ledger().find(uid);
    if (!entry || entry->ahead.empty() ||
        (before != accounts_.ledger().end() && !before->second.ahead.empty()))
      continue;
    judge_entry(*entry, accounts_.holders(), heard_of);
  }
}

void QueueDisplacements::judge_entry(const LedgerFact& entry, const std::vector<Holder>& holders,
                                     Time heard_of) {
  const std::string& own = entry.admission.queue;
  const std::int64_t priority = accounts_.priority_of(entry.workload);
  std::vector<const Holder*> victims;
  for (const AheadFact& ahead : entry.ahead) {
    const auto holder = std::ranges::find(holders, ahead.workload, &Holder::workload);
    if (!ahead.evicted || holder == holders.end() || holder->since != ahead.since) continue;
    if (ahead.idle) {  // its owner does not matter (idle_invariants.h)
      judge_age(entry, *holder);
      continue;
    }
    victims.push_back(&*holder);
    if (holder->queue == own && holder->priority >= priority)
      complain("Due", fmt::format("{} has to go for {} of no higher priority", holder->workload,
                                  entry.workload));
    if (accounts_.cohort_of(holder->queue) != accounts_.cohort_of(own))
      complain("Due", fmt::format("{} has to go for {} of another cohort", holder->workload,
                                  entry.workload));
    judge_age(entry, *holder);
  }
  const bool quiet = accounts_.moved() < std::min(heard_of, time_of(entry.admission.since)) &&
                     !accounts_.somebody_came_past();
  if (quiet && entry.admission.nodes.size() < 1000) judge_rights(entry, holders, victims);
}

void QueueDisplacements::judge_rights(const LedgerFact& entry, const std::vector<Holder>& holders,
                                      const std::vector<const Holder*>& victims) {
  const auto& [workload, admission] = std::tie(entry.workload, entry.admission);
  const auto asked = recorded(admission);
  if (!asked) return;
  const std::set<std::string> funded = accounts_.funded(holders);
  const std::int64_t priority = accounts_.priority_of(workload);
  const std::int64_t nominal = accounts_.nominal(admission.queue, admission.pool);
  std::int64_t before = 0, rest = 0;  // in its queue: the quota held before it, and by the rest
  for (const Holder& holder : holders) {
    if (holder.queue != admission.queue || holder.pool != admission.pool) continue;
    if (holder.priority >= priority && !holder.holds_too_much && funded.contains(holder.workload))
      before += holder.gpus;
    if (std::ranges::find(victims, &holder) == victims.end()) rest += holder.gpus;
  }
  for (const Holder* victim : victims) {
    const bool other = victim->queue != admission.queue;
    if (other && rest + *asked > nominal)
      complain("Due", fmt::format("{} has to go for {}, which has {} of {} GPUs then",
                                  victim->workload, workload, rest + *asked, nominal));
    if (funded.contains(victim->workload) && (other || before + *asked > nominal))
      complain("Due", fmt::format("{} has to go for {}, and its queue's own quota pays for it",
                                  victim->workload, workload));
  }
}

void QueueDisplacements::judge_age(const LedgerFact& entry, const Holder& victim) {
  const GPUQueue* queue = accounts_.queue(entry.admission.queue);
  const Time decided = time_of(entry.admission.since);
  if (queue == nullptr || accounts_.queue_since(entry.admission.queue) >= decided) return;
  const QueuePreemption& rules = queue->spec.preemption;
  const bool own = victim.queue == entry.admission.queue;
  if (decided - time_of(victim.since) <
      (own ? rules.preempt_min_runtime : rules.reclaim_min_runtime))
    complain("Early", fmt::format("{} has to go for {} before it has run for as long as it may",
                                  victim.workload, entry.workload));
}

// Other clients suspend Jobs too; berth's annotation names the other workload. With policy Always
// an idle Job is stopped for no other workload.
void QueueDisplacements::judge_job(const sim::Change& change, Time wall, Time heard_of) {
  if (change.before == nullptr) return;
  const json &before = *change.before, &after = *change.after;
  const std::string workload = "Job/" + change.key.namespace_ + "/" + change.key.name;
  const auto record = record_of(after);
  if (is_suspended(before) && !is_suspended(after)) return judge_start(uid_of(after), workload);
  const bool told = annotation_at(&before, names::kPreemptedAnnotation) !=
                    annotation_at(&after, names::kPreemptedAnnotation);
  const bool for_nobody =
      annotation_at(&after, names::kPreemptedAnnotation).ends_with(", as its GPUs were idle");
  if (!is_suspended(before) && is_suspended(after) && told && record && !for_nobody)
    judge_stop(workload, record->since, wall, heard_of);
}

void QueueDisplacements::judge_pod(const sim::Change& change, Time wall, Time heard_of) {
  if (change.before == nullptr) return;
  const json& before = *change.before;
  const bool gone = change.kind == sim::Change::Kind::kDeleted;
  const std::string workload = workload_of(before);
  if (!gone && is_gated(before) && !is_gated(*change.after)) {
    judge_loan(*change.after, workload);
    return judge_start(uid_of(before), workload);
  }
  if (is_marked(&before) || (!gone && !is_marked(change.after.get()))) return;
  if (is_gated(before)) return complain("Named", workload + " is stopped, and holds nothing");
  const auto record = record_of(before);
  const auto names_it = [&](const auto& of) {
    return std::ranges::any_of(of.second.ahead, [&](const AheadFact& ahead) {
      return ahead.evicted && ahead.workload == workload && record && ahead.since == record->since;
    });
  };
  if (std::ranges::any_of(ahead_, names_it)) judge_stop(workload, record->since, wall, heard_of);
}

void QueueDisplacements::judge_stop(const std::string& workload, std::int64_t since, Time wall,
                                    Time heard_of) {
  const auto names_it = [&](const LedgerFact& entry) {
    return std::ranges::any_of(entry.ahead, [&](const AheadFact& ahead) {
      return ahead.evicted && ahead.workload == workload && ahead.since == since;
    });
  };
  const LedgerFact* entry = nullptr;
  for (const auto& [uid, stands] : ahead_)
    if (names_it(stands)) entry = &stands;
  for (const auto& [uid, went] : withdrawn_)
    if (entry == nullptr && went.second >= heard_of && names_it(went.first)) entry = &went.first;
  if (entry == nullptr)
    return complain("Named", workload + " is stopped, and no admission waits for that");
  const std::string& uid = entry->admission.uid;
  const Time decided = time_of(entry->admission.since);
  if (const auto until = stopped_waiting_.find(uid);
      until != stopped_waiting_.end() && until->second > decided && until->second < heard_of)
    complain("Named",
             fmt::format("{} is stopped for {}, which does not wait", workload, entry->workload));
  const GPUQueue* queue = accounts_.queue(entry->admission.queue);
  if (queue != nullptr && accounts_.queue_since(entry->admission.queue) < decided &&
      wall < decided + queue->spec.preemption.notice_period)
    complain("Early", workload + " is stopped before its notice is over");
  const std::string victim = fmt::format("{} of {}", workload, since);
  for (const Stop& stop : stops_) {
    if (stop.uid != uid || stop.victim == victim || !stop.victim.starts_with(workload + " "))
      continue;
    complain("Twice", fmt::format("{} is stopped twice for {}", workload, entry->workload));
  }
  stops_.push_back({victim, entry->workload, uid, wall});
}

// Before it counts as released. The ledger may have it already, or its gang.
void QueueDisplacements::judge_loan(const json& pod, const std::string& workload) {
  const auto record = record_of(pod);
  if (!owner_uid(pod).empty() || !record) return;
  const GPUQueue* queue = accounts_.queue(record->queue);
  if (queue == nullptr || accounts_.queue_since(record->queue) >= time_of(record->since) ||
      queue->spec.preemption.unreclaimable == Unreclaimable::kMayBorrow)
    return;
  std::int64_t held = 0;
  bool known = false;
  for (const Holder& holder : accounts_.holders()) {
    if (!holder.bare || holder.queue != record->queue || holder.pool != record->pool) continue;
    held += holder.gpus;
    known = known || holder.workload == workload;
  }
  if (!known) held += gpus_of(*at(&pod, {"spec"}));
  const std::int64_t nominal = accounts_.nominal(record->queue, record->pool);
  if (held > nominal)
    complain("Lent", fmt::format("{} goes, and {} of {} GPUs of queue {} could not be given back",
                                 workload, held, nominal, record->queue));
}

// For a gang, at its first released member: its entry has the uid of one of its members.
void QueueDisplacements::judge_start(const std::string& uid, const std::string& workload) {
  for (const auto& [entry_uid, entry] : ahead_) {
    if (entry_uid != uid && entry.workload != workload) continue;
    for (const AheadFact& ahead : entry.ahead)
      if (runs(ahead))
        complain("Ahead", fmt::format("{} goes, and {} still runs", workload, ahead.workload));
  }
}

void QueueDisplacements::follow_waiting(const sim::Change& change, Time wall) {
  const bool job = change.key.type->plural == "jobs";
  const json* before = change.before.get();
  const bool gone = change.kind == sim::Change::Kind::kDeleted;
  if (before == nullptr || !waits_still(*before, job)) return;
  const bool edited = job && !gone &&
                      number_at(before, {"metadata", "generation"}) !=
                          number_at(change.after.get(), {"metadata", "generation"});
  if (gone || edited || !waits_still(*change.after, job)) stopped_waiting_[uid_of(*before)] = wall;
}

void QueueDisplacements::complain(std::string_view invariant, const std::string& what) {
  broken_.push_back(fmt::format("{}: {}", invariant, what));
}

}  // namespace berth::explore
