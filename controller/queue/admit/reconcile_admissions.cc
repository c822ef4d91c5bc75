// SPDX-License-Identifier: Apache-2.0
// Outline: which ledger entries are done; which workloads the next cycle admits; one write for
// both.
#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/core/plural.h"
#include "controller/core/seeded_bugs.h"
#include "controller/queue/admit/ledger_review.h"
#include "controller/queue/admit/reconcile.h"
#include "controller/queue/cycle/admission_fact.h"
#include "controller/queue/cycle/cycle.h"
#include "controller/queue/index/cluster_index.h"
#include "controller/queue/recall/displaced.h"
#include "controller/queue/recall/yielding.h"
#include "controller/queue/record/admission_ledger.h"
#include "controller/queue/record/admission_record.h"

namespace berth::queue {
namespace {

using namespace std::chrono_literals;

// Finished entries are removed with the next write, or after this time if no write comes.
constexpr Duration kDoneStays = 5s;

// No event says that the caches have caught up with the last leader's.
constexpr Duration kHearsSoon = 1s;

// Displaced workloads may take long to leave. This limit keeps space in the ledger for admissions
// that need not wait.
constexpr std::size_t kMostWaiting = 256;

bool may_preempt(const LedgerReview& review) {
  return review.waiting < kMostWaiting && review.bytes < kMaxLedgerBytes / 2;
}

LedgerFact entry_of(const Snapshot& snapshot, const Admission& admission, const FactsIndex& index) {
  LedgerFact entry{*admission.workload->name, admission_fact(admission, index)};
  if (admission.workload->job) entry.generation = admission.workload->job->generation;
  entry.admission.since = snapshot.now.time_since_epoch().count();
  entry.admission.epoch = snapshot.epoch;
  if (seeded(SeededBug::kChargeNothing)) entry.admission.amounts.clear();
  for (const Ahead& ahead : admission.ahead) entry.ahead.push_back(ahead_fact(ahead));
  if (seeded(SeededBug::kGoAhead)) entry.ahead.clear();
  return entry;
}

// Plans the questions that come before a displacement, each once: several workloads may have pods
// of one controller. The next cycle decides with the answers.
bool plan_open_questions(const Snapshot& snapshot, const Cycle& cycle, Plan& plan) {
  std::set<std::string> asked;
  for (const Admission& admission : cycle.admissions())
    for (const Ahead& ahead : admission.ahead) {
      if (!ahead.evicted) continue;
      for (ObjectSteps& ask : asks_before(snapshot, *ahead.workload))
        if (asked.insert(question(ask.steps.front())).second)
          plan.add(ask.object, std::move(ask.steps.front()));
    }
  return !asked.empty();
}

// berth reads the controllers of kept workloads again while another workload waits for their GPUs.
// A user may edit the job meanwhile, and the queue's status should show the reason without a gap.
void look_again_at_kept(const Snapshot& snapshot, const Cycle& cycle, Plan& plan) {
  for (const Workload* kept : cycle.kept()) {
    if (!is_kept_by_owner(snapshot, *kept)) continue;
    plan.requeue_in(snapshot.settings.answer_ttl);
    for (ObjectSteps& ask : asks_before(snapshot, *kept))
      if (ask.object.kind != kKind<berth::Pod>.kind && !plan.has_steps(ask.object))
        plan.add(ask.object, std::move(ask.steps.front()));
  }
}

// Notes that a workload whose idle GPUs are taken gives way to the new workload from now on.
void note_yields(const Snapshot& snapshot, const Admission& admission, const LedgerFact& entry,
                 Yields& yields) {
  for (const Ahead& ahead : admission.ahead)
    if (ahead.idle && !seeded(SeededBug::kForgetYields))
      yields[remaker_uid(snapshot.cluster, *ahead.workload)] = {entry.workload,
                                                                entry.admission.uid};
}

// Returns how many entries it adds. If the window is half full, it adds none until it empties, as
// each write carries the whole ledger.
std::size_t admit(const Snapshot& snapshot, const FactsIndex& index, LedgerReview& review,
                  Yields& yields, Plan& plan) {
  if (review.open > kWindow / 2) return 0;
  std::optional<PreemptionTerms> terms;
  if (may_preempt(review)) terms = preemption_terms(snapshot);
  const Time now = seeded(SeededBug::kAwaitHalfGang) ? Time() : snapshot.now;
  Cycle cycle(index, std::move(terms), now.time_since_epoch().count());
  cycle.run(kWindow - review.open);
  if (const auto again = cycle.again())
    plan.requeue_in(
        std::chrono::ceil<Duration>(Time(std::chrono::microseconds(*again)) - snapshot.now));
  if (plan_open_questions(snapshot, cycle, plan)) return 0;
  look_again_at_kept(snapshot, cycle, plan);
  std::size_t added = 0;
  for (const Admission& admission : cycle.admissions()) {
    const LedgerFact entry = entry_of(snapshot, admission, index);
    std::string text = encode_entry(entry);
    review.bytes += text.size();
    if (review.bytes > kMaxLedgerBytes) break;
    review.changes[entry.admission.uid] = std::move(text);
    note_yields(snapshot, admission, entry, yields);
    ++added;
  }
  return added;
}

Duration since(const Snapshot& snapshot, std::int64_t microseconds) {
  return std::chrono::duration_cast<Duration>(snapshot.now.time_since_epoch() -
                                              std::chrono::microseconds(microseconds));
}

}  // namespace

Plan reconcile_admissions(const Snapshot& snapshot) {
  Plan plan;
  if (snapshot.offline) return plan;  // a preview says what would be admitted
  const AdmissionLedger& ledger = read_admissions(snapshot);
  if (snapshot.cluster.gpu_queues().size() == 0 && ledger.empty()) return plan;

  // A later berth wrote entries that this one can't read, so berth does not know which quota and
  // room they hold.
  if (!ledger.newer.empty()) return plan;

  Yields yields = ledger.yields;
  const auto write = [&](const LedgerChanges& changes, std::string reason) {
    Write step = write_admissions(snapshot, ledger, changes, std::move(reason), &yields);
    const ObjectRef object = step.object;
    plan.add(object, std::move(step));
  };
  if (ledger.config_map == nullptr || ledger.epoch < snapshot.epoch) {
    write({}, fmt::format("begin epoch {} of the admissions", snapshot.epoch));
    return plan;
  }
  // While the caches are behind, berth admits nothing and removes nothing: it may not know which
  // room is taken.
  if (is_behind(snapshot, ledger.heard)) {
    plan.requeue_in(kHearsSoon);
    return plan;
  }

  const auto& index = snapshot.cluster.view<ClusterIndex>();
  LedgerReview reviewed = review_ledger(snapshot, ledger, index);
  if (reviewed.again) plan.requeue_in(std::chrono::ceil<Duration>(*reviewed.again - snapshot.now));
  const std::size_t done = reviewed.changes.size();
  std::erase_if(yields, [&](const auto& of) { return !is_there(index.facts(), of.second); });
  const std::size_t added = admit(snapshot, index.facts(), reviewed, yields, plan);
  if (added == 0 && done == 0) return plan;
  const Duration stood = since(snapshot, reviewed.last);
  if (added == 0 && !reviewed.at_once && stood < kDoneStays) {
    plan.requeue_in(kDoneStays - stood);
    return plan;
  }
  write(reviewed.changes, fmt::format("admit {}, {} shown by their objects or withdrawn",
                                      plural(added, "workload"), plural(done, "admission")));
  return plan;
}

}  // namespace berth::queue
