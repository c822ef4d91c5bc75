// SPDX-License-Identifier: Apache-2.0
// Outline: which workloads may be taken back; for which entry; the steps that do it; which are
// gone.
#include "controller/queue/recall/displaced.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/annotation_room.h"
#include "controller/core/merge_patch.h"
#include "controller/core/patience.h"
#include "controller/core/refused_write.h"
#include "controller/core/seeded_bugs.h"
#include "controller/core/stop.h"
#include "controller/queue/cycle/funding.h"
#include "controller/queue/cycle/quota_table.h"
#include "controller/queue/index/facts_from.h"
#include "controller/queue/index/named.h"
#include "controller/queue/index/remakers.h"
#include "controller/queue/recall/idle_measures.h"
#include "controller/queue/recall/idle_work.h"
#include "controller/queue/recall/owner_looks.h"
#include "controller/queue/recall/requeue.h"

namespace berth::queue {
namespace {

// Pods that replace evicted ones wait at their gate and hold nothing, so they are left out.
std::vector<const berth::Pod*> running_pods(const Snapshot& snapshot, const Workload& workload) {
  std::vector<const berth::Pod*> pods;
  const auto& index = snapshot.cluster.view<ClusterIndex>();
  for (const berth::Pod* pod : pods_of(snapshot.cluster, index, *workload.name))
    if (!pod->finished() && !pod->terminating() &&
        (!is_gated(*pod) || seeded(SeededBug::kEvictReplacements)))
      pods.push_back(pod);
  return pods;
}

// If the API server refused to suspend the Job, it stays for now. Annotations and labels that users
// write keep no Job: a queue has to give back what it borrowed.
bool may_be_suspended(const Snapshot& snapshot, const Workload& workload) {
  const berth::Job* job = find_named(snapshot.cluster.jobs(), *workload.name);
  if (job == nullptr || refused_write(snapshot, ref_of(*job), names::kManagerQueue)) return false;
  if (workload.job->held && seeded(SeededBug::kSpareHeld)) return false;
  return !job->finished && !job->meta.deletion_timestamp && workload.job->admitted != nullptr &&
         workload.job->admitted->uid == job->meta.uid;
}

// Whether the ledger entry takes this workload back because its GPUs are idle.
bool is_idle(const LedgerFact& entry, const Workload& workload) {
  return std::ranges::any_of(entry.ahead, [&](const AheadFact& ahead) {
    return ahead.evicted && ahead.idle && ahead.workload == *workload.name;
  });
}

bool is_reclaimed(const LedgerFact& entry, const Workload& workload) {
  const AdmissionFact* own = admission_of(workload);
  return !is_idle(entry, workload) && (own == nullptr || own->queue != entry.admission.queue);
}

std::string told_why(const LedgerFact& entry, const Workload& workload) {
  if (is_idle(entry, workload))
    return fmt::format("its GPUs are idle, and {} of queue {} begins with them", entry.workload,
                       entry.admission.queue);
  return is_reclaimed(entry, workload)
             ? fmt::format("displaced for {}: queue {} takes back what was lent", entry.workload,
                           entry.admission.queue)
             : fmt::format("displaced for {}, which has a higher priority", entry.workload);
}

std::string stamp(const Snapshot& snapshot, const LedgerFact& entry, const Workload& workload) {
  return fmt::format("{} for {} of queue {}{}", format_time(snapshot.now), entry.workload,
                     entry.admission.queue, is_idle(entry, workload) ? ", as it was idle" : "");
}

// Whether budgets keep the workload only for a time: its quota is borrowed and its controller
// re-creates its pods.
bool may_go_late(const Snapshot& snapshot, const Workload& workload, const LedgerFact& entry) {
  return !workload.job && is_reclaimed(entry, workload) && !never_goes(snapshot, workload);
}

void tell(const ObjectRef& object, const LedgerFact& entry, const Workload& workload, Plan& plan) {
  const bool idle = is_idle(entry, workload);
  plan.events.push_back({object, idle, idle ? reasons::kGpusReclaimed : reasons::kPreempted,
                         "Preempt", told_why(entry, workload)});
  if (idle) plan.observations.push_back(reclaimed(object, IdlePolicy::kOnPressure));
}

// A pod can read the annotation through the downward API.
template <class T>
void add_notice(const Snapshot& snapshot, const T& object, const LedgerFact& entry, Plan& plan) {
  const std::string until = format_time(notice_ends(snapshot, entry));
  const Text* told = object.meta.annotations.find(names::kPreemptionNoticeAnnotation);
  if (told != nullptr && told->view() == until) return;
  if (!has_room_for(object.meta, names::kPreemptionNoticeAnnotation, until)) return;
  plan.add(ref_of(object), Write{.verb = Verb::kMergePatch,
                                 .object = ref_of(object),
                                 .body = MergePatch::same_object(object.meta)
                                             .annotation(names::kPreemptionNoticeAnnotation, until)
                                             .str(),
                                 .field_manager = names::kManagerQueue,
                                 .reason = "has to go at " + until});
}

void plan_notice(const Snapshot& snapshot, const Workload& workload, const LedgerFact& entry,
                 Plan& plan) {
  if (workload.job) {
    const berth::Job* job = find_named(snapshot.cluster.jobs(), *workload.name);
    if (job == nullptr) return;
    add_notice(snapshot, *job, entry, plan);
    for (const berth::Pod* pod : bound_pods(snapshot.cluster, *job))
      if (!pod->terminating()) add_notice(snapshot, *pod, entry, plan);
    return;
  }
  for (const berth::Pod* pod : running_pods(snapshot, workload))
    if (!pod->node_name.empty()) add_notice(snapshot, *pod, entry, plan);
}

// For a gang the API server may allow each eviction alone but not all together. So each budget must
// allow all of them.
bool spares_budgets(const Snapshot& snapshot, const std::vector<const berth::Pod*>& pods) {
  return pods.size() < 2 || !find_overdraft(snapshot.cluster, pods);
}

// Whether budgets have kept the borrowed workload for reclaimTimeout. It stays if the nominal quota
// of its queue covers it by now.
bool is_overdue(const Snapshot& snapshot, const Workload& workload, const LedgerFact& entry) {
  if (seeded(SeededBug::kWaitForBudgets) || !may_go_late(snapshot, workload, entry)) return false;
  if (snapshot.now < keeps_until(snapshot, workload, entry)) return false;
  const FactsIndex& facts = snapshot.cluster.view<ClusterIndex>().facts();
  const QuotaTable quotas(facts);
  const PreemptionTerms terms = preemption_terms(snapshot);
  return !Funding(facts, quotas, terms.now, terms.stays).would_fund(workload);
}

void plan_deletions(const Workload& workload, const LedgerFact& entry,
                    const std::vector<const berth::Pod*>& pods, Plan& plan) {
  const ObjectRef all = ref_of(*pods.front());
  const std::string why =
      told_why(entry, workload) + ", and its disruption budget has kept it for reclaimTimeout";
  for (const berth::Pod* pod : pods) plan.add(all, delete_pod(*pod, why));
  plan.events.push_back({all, true, reasons::kPreempted, "Preempt", why});
}

// berth asks about all pods before it evicts the first, so that no gang loses only some of its
// pods.
void plan_evictions(const Snapshot& snapshot, const Workload& workload, const LedgerFact& entry,
                    Plan& plan) {
  const std::vector<const berth::Pod*> pods = running_pods(snapshot, workload);
  if (pods.empty()) return;
  plan.requeue_in(kLookAgain);
  const bool overdue = is_overdue(snapshot, workload, entry);
  if (!overdue && !spares_budgets(snapshot, pods)) return;
  const OwnerLooks looks = look_at_owners(snapshot, pods);
  if (looks.kept != nullptr) return plan_open_looks(looks, plan);
  const ObjectRef all = ref_of(*pods.front());
  guard_by_looks(looks, all, plan);
  if (overdue) return plan_deletions(workload, entry, pods, plan);
  for (const berth::Pod* pod : pods)
    if (!pod->node_name.empty()) plan.add(all, ask_to_evict(*pod));
  for (const berth::Pod* pod : pods) {
    const bool half = pod != pods.front() || std::ssize(pods) < workload.standing.pods;
    if (half && seeded(SeededBug::kDisplaceHalf)) continue;
    plan.add(all, evict_pod(*pod, told_why(entry, workload)));
  }
  tell(all, entry, workload, plan);
}

}  // namespace

std::string why_not_displaced(const Snapshot& snapshot, const Workload& workload) {
  if (const auto stopped = why_stopped(snapshot)) return stopped->message;
  if (workload.standing.newer) return "a later berth has admitted it";
  if (workload.job)
    return may_be_suspended(snapshot, workload) ? "" : "its Job can't be suspended by its queue";
  Remakers remakers(snapshot.cluster);
  const std::vector<const berth::Pod*> pods = running_pods(snapshot, workload);
  if (!spares_budgets(snapshot, pods)) return "a PodDisruptionBudget keeps some of its pods";
  for (const berth::Pod* pod : pods) {
    if (std::string stays = remakers.why_not(*pod); !stays.empty()) return stays;
    const Answer* answer = eviction_answer(snapshot, *pod);
    if (answer != nullptr && !answer->yes)
      return fmt::format("pod {} may not be evicted: {}", pod->meta.name, answer->error.message);
  }
  return look_at_owners(snapshot, pods).why;
}

bool may_be_displaced(const Snapshot& snapshot, const Workload& workload) {
  return why_not_displaced(snapshot, workload).empty();
}

bool never_goes(const Snapshot& snapshot, const Workload& workload) {
  if (workload.job) return false;
  Remakers remakers(snapshot.cluster);
  const std::vector<const berth::Pod*> pods = running_pods(snapshot, workload);
  return std::ranges::any_of(
             pods, [&](const berth::Pod* pod) { return !remakers.why_not(*pod).empty(); }) ||
         look_at_owners(snapshot, pods).kept != nullptr;
}

Time keeps_until(const Snapshot& snapshot, const Workload& workload, const LedgerFact& entry) {
  const Time told = notice_ends(snapshot, entry);
  const GPUQueue* queue = snapshot.cluster.gpu_queues().find(entry.admission.queue);
  if (queue == nullptr || !may_go_late(snapshot, workload, entry)) return told;
  return patience_ends(snapshot, told, queue->spec.preemption.reclaim_timeout);
}

bool is_kept_by_owner(const Snapshot& snapshot, const Workload& workload) {
  return !workload.job &&
         look_at_owners(snapshot, running_pods(snapshot, workload)).kept != nullptr;
}

std::string describe_kept(const Snapshot& snapshot, const Outcome& outcome) {
  const Workload* kept = outcome.verdict.kept;
  if (outcome.admitted_to || kept == nullptr) return "";
  const std::string why = why_not_displaced(snapshot, *kept);
  return why.empty() ? "" : fmt::format("; {} can't be taken back: {}", *kept->name, why);
}

PreemptionTerms preemption_terms(const Snapshot& snapshot) {
  PreemptionTerms terms{snapshot.now.time_since_epoch().count(), [&](const Workload& workload) {
                          return may_be_displaced(snapshot, workload);
                        }};
  terms.goes_late = [&](const Workload& workload) {
    return !workload.job && !is_stopped(snapshot) && !never_goes(snapshot, workload);
  };
  terms.stays = [&](const Workload& workload) { return never_goes(snapshot, workload); };
  if (takes_idle(snapshot)) terms.idle = [&] { return idle_to_take(snapshot); };
  if (!read_admissions(snapshot).yields.empty())
    terms.yields = [&](const Workload& workload) { return gives_way(snapshot, workload); };
  return terms;
}

std::vector<ObjectSteps> asks_before(const Snapshot& snapshot, const Workload& workload) {
  std::vector<ObjectSteps> asks;
  if (workload.job) return asks;
  const std::vector<const berth::Pod*> pods = running_pods(snapshot, workload);
  for (const Guard& look : look_at_owners(snapshot, pods).open) asks.push_back({look.node, {look}});
  for (const berth::Pod* pod : pods)
    if (!pod->node_name.empty() && eviction_answer(snapshot, *pod) == nullptr)
      asks.push_back({ref_of(*pod), {ask_to_evict(*pod)}});
  return asks;
}

const LedgerFact* displaced_for(const Snapshot& snapshot, const Workload& workload) {
  if (workload.taken_back.empty()) return nullptr;
  const FactsIndex& facts = snapshot.cluster.view<ClusterIndex>().facts();
  const AdmissionLedger& ledger = read_admissions(snapshot);
  if (ledger.epoch != snapshot.epoch) return nullptr;
  for (const auto& [uid, entry] : ledger.entries) {
    const auto ahead = std::ranges::find_if(entry.ahead, [&](const AheadFact& of) {
      return of.evicted && of.workload == *workload.name && still_holds(facts, of);
    });
    if (ahead == entry.ahead.end()) continue;
    const Workload* preemptor = facts.find(entry.workload);
    const AdmissionFact* open = preemptor == nullptr ? nullptr : open_entry(*preemptor);
    const bool waits = open != nullptr && *open == entry.admission && entry.until == 0;
    if (waits || seeded(SeededBug::kDisplaceForNobody)) return &entry;
  }
  return nullptr;
}

Plan plan_displaced(const Snapshot& snapshot, const Workload& workload, const LedgerFact& entry) {
  if (seeded(SeededBug::kDisplaceNobody)) return {};
  // The GPUs are in use again: the next review of the ledger withdraws the entry.
  if (is_idle(entry, workload) && !is_idle_still(snapshot, workload)) return {};
  Plan plan;
  const Time due = notice_ends(snapshot, entry);
  if (!snapshot.attention.clock_is_right()) {  // without a right clock the notice can't end
    plan.requeue_in(kMaxClockSkew);
    return plan;
  }
  if (snapshot.now < due && !seeded(SeededBug::kIgnoreNotice)) {
    plan_notice(snapshot, workload, entry, plan);
    plan.requeue_in(std::chrono::ceil<Duration>(due - snapshot.now));
    return plan;
  }
  if (!workload.job) {
    plan_evictions(snapshot, workload, entry, plan);
    return plan;
  }
  const berth::Job* job = find_named(snapshot.cluster.jobs(), *workload.name);
  if (job == nullptr || job->suspended || job->finished) return {};
  plan.add(ref_of(*job),
           suspend_job(*job, told_why(entry, workload), stamp(snapshot, entry, workload)));
  tell(ref_of(*job), entry, workload, plan);
  return plan;
}

AheadFact ahead_fact(const Ahead& ahead) {
  const Workload& workload = *ahead.workload;
  const AdmissionFact* admission = workload.standing.admission;
  if (admission == nullptr)
    return {*workload.name, *workload.standing.uid, 0, ahead.evicted, ahead.idle};
  return {*workload.name, admission->uid, admission->since, ahead.evicted, ahead.idle};
}

// A Job that was suspended and resumed has a new admission. A finished Job still holds what its
// last pods hold. The members of a gang share the time of their admission; the uid in each record
// is the pod's own.
bool still_holds(const FactsIndex& facts, const AheadFact& ahead) {
  const Workload* workload = facts.find(ahead.workload);
  if (workload == nullptr) return false;
  if (workload->job) {
    const Job& job = *workload->job;
    if (job.uid != ahead.uid) return false;
    if (!job.suspended && job.wanted > 0 && job.hangs_from == 0)
      return ahead.since == 0 || (job.admitted && job.admitted->since == ahead.since);
  }
  if (!workload->pods) return false;
  const bool of_job = ahead.workload.starts_with("Job/");
  return std::ranges::any_of(workload->pods->all, [&](const Pod* pod) {
    if (of_job) return true;
    if (!pod->admitted || seeded(SeededBug::kAwaitFirst)) return *pod->uid == ahead.uid;
    return pod->admitted->since == ahead.since;
  });
}

Time notice_ends(const Snapshot& snapshot, const LedgerFact& entry) {
  const GPUQueue* queue = snapshot.cluster.gpu_queues().find(entry.admission.queue);
  const Duration notice = queue == nullptr ? Duration() : queue->spec.preemption.notice_period;
  return patience_ends(snapshot, Time(std::chrono::microseconds(entry.admission.since)), notice);
}

bool is_leaving(const FactsIndex& facts, const AheadFact& ahead) {
  const Workload* workload = facts.find(ahead.workload);
  if (workload == nullptr) return true;
  if (workload->job && (workload->job->suspended || workload->job->hangs_from != 0)) return true;
  if (!workload->pods) return !workload->job;
  return !workload->job && std::ranges::all_of(workload->pods->all, [](const Pod* pod) {
    return pod->state == PodState::kLeaving || pod->state == PodState::kWaiting;
  });
}

}  // namespace berth::queue
