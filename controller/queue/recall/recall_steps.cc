// SPDX-License-Identifier: Apache-2.0
// Outline: the questions to the API server; the mark; the evictions.
#include "controller/queue/recall/recall_steps.h"

#include <fmt/format.h>

#include <utility>

#include "apis/base/reasons.h"
#include "controller/core/plural.h"
#include "controller/queue/recall/gang_recall.h"
#include "controller/queue/recall/owner_looks.h"
#include "controller/queue/recall/requeue.h"
#include "controller/queue/record/admission_ledger.h"
#include "controller/queue/record/recall.h"

namespace berth::queue {
namespace {

struct Answered {
  bool all = true;                   // no question is open
  const berth::Pod* kept = nullptr;  // the first pod that may not be evicted
  const Answer* refusal = nullptr;   // and why
};

Answered look_at_answers(const Snapshot& snapshot, const std::vector<const berth::Pod*>& asked) {
  Answered out;
  for (const berth::Pod* pod : asked) {
    if (pod->node_name.empty()) continue;  // no budget counts it
    const Answer* answer = eviction_answer(snapshot, *pod);
    if (answer == nullptr) {
      out.all = false;
    } else if (!answer->yes && out.kept == nullptr) {
      out.kept = pod;
      out.refusal = answer;
    }
  }
  return out;
}

void tell_stays(const berth::Pod& first, const Workload& workload, const std::string& why,
                const std::string& stays, Plan& plan) {
  plan.events.push_back(
      {ref_of(first), true, reasons::kGangStays, "TakeBack",
       fmt::format("{}, and gang {} is not taken back: {}", why, *workload.name, stays)});
}

void ask_all(const Snapshot& snapshot, const std::vector<const berth::Pod*>& asked, Plan& plan) {
  for (const berth::Pod* pod : asked)
    if (!pod->node_name.empty() && eviction_answer(snapshot, *pod) == nullptr)
      plan.add(ref_of(*pod), ask_to_evict(*pod));
}

RecallFact mark_of(const Snapshot& snapshot, const Workload& workload, const RecallOrder& order) {
  RecallFact next{.workload = *workload.name,
                  .since = workload.standing.admission->since,
                  .at = snapshot.now.time_since_epoch().count(),
                  .age = workload.standing.created,
                  .why = order.why};
  const RecallFact* before = workload.recall.get();
  return order.never_ready ? recall_for_setback(before, std::move(next))
                           : recall_for_loss(before, std::move(next));
}

// The mark replaces the gang's earlier mark, and its ledger entry if the old admission is still in
// flight.
LedgerChanges changes_for(const AdmissionLedger& ledger, const RecallFact& mark,
                          std::string_view uid) {
  LedgerChanges changes;
  for (const auto& [key, recall] : ledger.recalls)
    if (recall.workload == mark.workload) changes[key] = std::nullopt;
  for (const auto& [key, entry] : ledger.entries)
    if (entry.workload == mark.workload) changes[key] = std::nullopt;
  changes[recall_key(uid)] = encode_recall(mark);
  return changes;
}

}  // namespace

void plan_recall(const Snapshot& snapshot, const Workload& workload, RecallOrder order,
                 Plan& plan) {
  plan.requeue_in(kLookAgain);
  const AdmissionLedger& ledger = read_admissions(snapshot);
  if (ledger.config_map == nullptr || ledger.epoch != snapshot.epoch) return;
  // Writing the mark could remove an entry that this leader does not know.
  if (is_behind(snapshot, ledger.heard)) return;
  if (!ledger.newer.empty()) return;
  if (ledger.recalls.size() >= kMostRecalls && !workload.recall) return;
  const Answered answered = look_at_answers(snapshot, order.asked);
  const OwnerLooks looks = look_at_owners(snapshot, order.round);
  const ObjectRef first = ref_of(*order.round.front());
  if (looks.kept != nullptr) {
    tell_stays(*order.round.front(), workload, order.why, looks.why, plan);
    return plan_open_looks(looks, plan);
  }
  if (answered.kept != nullptr) {
    plan.events.push_back({first, true, reasons::kGangStays, "TakeBack",
                           fmt::format("{}, and gang {} is not taken back, as pod {} may not be "
                                       "evicted: {}",
                                       order.why, *workload.name, answered.kept->meta.name,
                                       answered.refusal->error.message)});
    return;
  }
  if (!answered.all || !looks.open.empty()) {
    plan_open_looks(looks, plan);
    return ask_all(snapshot, order.asked, plan);
  }
  const RecallFact mark = mark_of(snapshot, workload, order);
  Write write = write_admissions(snapshot, ledger, changes_for(ledger, mark, first.uid),
                                 fmt::format("take back {}: {}", mark.workload, mark.why));
  const ObjectRef object = write.object;
  guard_by_looks(looks, object, plan);
  plan.add(object, std::move(write));
  plan.events.push_back(
      {first, false, reasons::kGangTakenBack, "TakeBack",
       fmt::format("gang {} goes back into its queue whole ({}): {}", mark.workload,
                   plural(std::ssize(order.round), "pod"), mark.why)});
}

void tell_gang_stays(const Snapshot& snapshot, const Workload& workload, const std::string& why,
                     const std::string& stays, Plan& plan) {
  if (stays.empty() || !is_running_gang(workload)) return;
  const auto round = round_of(snapshot.cluster, workload, workload.standing.admission->since);
  if (!round.empty()) tell_stays(*round.front(), workload, why, stays, plan);
}

// The leader that wrote the mark has read the controllers. Another leader may find the mark much
// later, so it reads them again.
bool plan_recalled(const Snapshot& snapshot, const Workload& workload, Plan& plan) {
  if (!workload.recall) return false;
  const RecallFact& recall = *workload.recall;
  if (!has_round(workload, recall.since)) return false;
  plan.requeue_in(kLookAgain);
  if (read_admissions(snapshot).epoch != snapshot.epoch) return true;
  const std::vector<const berth::Pod*> round = round_of(snapshot.cluster, workload, recall.since);
  const OwnerLooks looks = look_at_owners(snapshot, round);
  plan_open_looks(looks, plan);
  if (looks.kept != nullptr || !looks.open.empty()) return true;
  for (const berth::Pod* pod : round)
    if (!pod->terminating()) plan.add(ref_of(*pod), evict_pod(*pod, recall.why));
  return true;
}

}  // namespace berth::queue
