// SPDX-License-Identifier: Apache-2.0
// Outline: the step for the record's phase; then each step, in service, uncordoned by a user, and
// out of service; then the patch.
#include "controller/health/node_health_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/cut.h"
#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/merge_patch.h"
#include "controller/core/patience.h"
#include "controller/core/seeded_bugs.h"
#include "controller/disruption/rollouts.h"
#include "controller/fleet/node_facts.h"
#include "controller/health/known_findings.h"
#include "controller/health/proof.h"
#include "controller/health/reconcile.h"
#include "controller/mig/drain_steps.h"

namespace berth {
namespace {

constexpr char kUnschedulable[] = "/spec/unschedulable";
constexpr Duration kLongestWait = std::chrono::hours(24);
constexpr std::int64_t kDoublings = 10;
// A record's `last` lags by at most this part of spec.health.recoverAfter. So berth does not patch
// a node each time it looks while a GPU stays hot.
constexpr int kRefreshes = 4;
constexpr std::size_t kLongestProof = 400;

std::optional<std::string> annotation_if_any(const Node& node, std::string_view key) {
  const Text* text = node.meta.annotations.find(key);
  return text != nullptr ? std::optional(text->str()) : std::nullopt;
}

}  // namespace

void NodeHealthSteps::step(const std::optional<Cause>& too_many, DisruptionBudgets& budgets) {
  if (is_left_alone()) return;
  const HealthPhase phase = health_.record ? health_.record->phase : HealthPhase::kRecovered;
  if (phase == HealthPhase::kOverruled) return accept(too_many, budgets);
  const bool finds = !health_.found.all.empty();
  if (phase == HealthPhase::kCordoned) {
    if (!node_.cordoned()) return overrule();
    return finds ? keep_out(budgets) : recover();
  }
  if (finds) return begin(too_many, budgets);
  forget_in_time();
}

void NodeHealthSteps::retreat() {
  if (!health_.record || is_left_alone()) return;
  const bool ours = health_.record->phase == HealthPhase::kCordoned && node_.cordoned();
  if (ours && is_in_a_rollout()) return;
  write(
      std::nullopt, ours ? Cordon::kRemove : Cordon::kKeep,
      ours ? "uncordon: its health is not watched any more" : "its health is not watched any more");
}

// --- in service ---

void NodeHealthSteps::begin(const std::optional<Cause>& too_many, DisruptionBudgets& budgets) {
  const std::optional<std::string> kept = why_not(too_many, budgets);
  if (!kept) return cordon(budgets);
  const bool told = health_.record && health_.record->phase == HealthPhase::kReported;
  if (told && !is_news()) return refresh();
  const HealthRecord record = next(HealthPhase::kReported);
  write(record, Cordon::kKeep, "tell what is wrong with its GPUs");
  tell(true, reasons::kGpusUnhealthy, "Report",
       fmt::format("{}{}{}", record.findings, kept->empty() ? "" : "; left in service: ", *kept));
}

void NodeHealthSteps::cordon(DisruptionBudgets& budgets) {
  budgets.take(node_);
  HealthRecord record = next(HealthPhase::kCordoned);
  ++record.cordons;
  record.proofs = 0;
  record.proof.clear();
  write(record, Cordon::kSet, fmt::format("cordon: {}", record.findings));
  tell(true, reasons::kUnhealthyCordoned, "Cordon",
       fmt::format("cordoned: {}; back when nothing has been found for {}", record.findings,
                   format_duration_short(wait_after(record))));
}

// Removes the record if berth has found nothing for long enough. That takes longer if the node has
// ever been cordoned.
void NodeHealthSteps::forget_in_time() {
  if (!health_.record) return;
  const HealthRecord& record = *health_.record;
  const Time due = record.cordons > 0
                       ? record.since + std::max<Duration>(kLongestWait, 2 * wait_after(record))
                       : patience_ends(snapshot_, record.last, spec_.recover_after);
  if (snapshot_.now < due)
    return plan_.requeue_in(std::chrono::ceil<Duration>(due - snapshot_.now));
  write(std::nullopt, Cordon::kKeep, "forget what was wrong with its GPUs");
}

// --- uncordoned by a user ---

// Accepts all known findings, and those found now.
void NodeHealthSteps::overrule() {
  HealthRecord record = *health_.record;
  record.phase = HealthPhase::kOverruled;
  record.since = snapshot_.now;
  if (!health_.found.all.empty()) record.findings = health_.found.text();
  KnownFindings known(record);
  known.learn(health_.found);
  known.store(record);
  write(record, Cordon::kKeep, "a person put it back into service");
  tell(true, reasons::kUncordonedByHand, "Keep",
       fmt::format("uncordoned by hand; berth leaves it in service while these findings last: {}",
                   record.findings));
}

// A user has accepted the findings. berth forgets one when it has not seen it for
// spec.health.recoverAfter. If it occurs later, it is new.
void NodeHealthSteps::accept(const std::optional<Cause>& too_many, DisruptionBudgets& budgets) {
  const HealthRecord& record = *health_.record;
  const KnownFindings written(record);
  KnownFindings known = written;
  const bool news = std::ranges::any_of(health_.found.all, [&](const GpuFault& finding) {
    return finding.acts && (!known.contains(finding.key()) || seeded(SeededBug::kArgueWithPeople));
  });
  if (news && !why_not(too_many, budgets)) return cordon(budgets);
  known.see(health_.found);
  const Time watched_for = patience_ends(snapshot_, snapshot_.attention.since, spec_.recover_after);
  if (is_watched() && snapshot_.now < watched_for) {
    plan_.requeue_in(std::chrono::ceil<Duration>(watched_for - snapshot_.now));
  } else if (is_watched()) {
    known.forget_unseen(health_.found, snapshot_.now - spec_.recover_after);
    if (const auto unseen = known.first_unseen(health_.found))
      plan_.requeue_in(std::chrono::ceil<Duration>(*unseen + spec_.recover_after - snapshot_.now));
  }
  const std::optional<Duration> lag = known.lag(written);
  if (lag && *lag < spec_.recover_after / kRefreshes)
    return known.empty() ? forget_in_time() : void();
  HealthRecord seen = record;
  known.store(seen);
  write(seen, Cordon::kKeep, "what a person accepted has changed");
}

// --- out of service ---

void NodeHealthSteps::keep_out(DisruptionBudgets& budgets) {
  if (spec_.action == HealthAction::kReport) {
    if (is_in_a_rollout()) return;
    return write(next(HealthPhase::kReported), Cordon::kRemove,
                 "uncordon: the policy has faults reported only");
  }
  refresh();
  drain(budgets);
}

void NodeHealthSteps::recover() {
  const HealthRecord& record = *health_.record;
  if (is_in_a_rollout()) return;
  if (!is_watched() && !seeded(SeededBug::kRecoverUnmeasured)) return;
  const Time due = patience_ends(snapshot_, record.last, wait_after(record));
  if (snapshot_.now < due && spec_.action != HealthAction::kReport)
    return plan_.requeue_in(std::chrono::ceil<Duration>(due - snapshot_.now));
  if (wants_proofs(snapshot_) && spec_.action != HealthAction::kReport && !is_proven()) return;
  HealthRecord recovered = record;
  recovered.proofs = 0;
  recovered.proof.clear();
  recovered.phase = HealthPhase::kRecovered;
  recovered.since = snapshot_.now;
  write(recovered, seeded(SeededBug::kForgetHealthCordon) ? Cordon::kKeep : Cordon::kRemove,
        fmt::format("uncordon: nothing has been found for {}",
                    format_duration_short(wait_after(record))));
  tell(false, reasons::kGpusRecovered, "Uncordon",
       fmt::format("uncordoned: nothing has been found for {}; it was: {}",
                   format_duration_short(wait_after(record)), record.findings));
}

// Whether the validation Job has passed. If not, plans the next step for it.
bool NodeHealthSteps::is_proven() {
  if (!node_.ready) return false;
  const HealthRecord& record = *health_.record;
  const Proof proof = find_proof(snapshot_, node_, record);
  switch (proof.state) {
    case Proof::State::kAbsent: {
      const Write create = create_proof(snapshot_, node_, record);
      plan_.add(create.object, create);
      return false;
    }
    case Proof::State::kUnderWay:
      if (proof.next_in) plan_.requeue_in(*proof.next_in);
      return false;
    case Proof::State::kFailed:
      tell_failed_proof(proof.why);
      return false;
    case Proof::State::kPassed:
      return true;
  }
  return false;
}

// Acts as if it had just found a fault: the next validation Job comes after another wait.
void NodeHealthSteps::tell_failed_proof(const std::string& why) {
  HealthRecord record = *health_.record;
  record.proof = cut(why, kLongestProof);
  ++record.proofs;
  record.last = snapshot_.now;
  write(record, Cordon::kKeep, fmt::format("its proof failed: {}", record.proof));
  tell(true, reasons::kProofFailed, "Keep",
       fmt::format("its proof failed: {}; it stays out of service, and is proven again after {}",
                   record.proof, format_duration_short(wait_after(record))));
}

void NodeHealthSteps::refresh() {
  const HealthRecord& record = *health_.record;
  if (health_.found.last() - record.last < spec_.recover_after / kRefreshes && !is_news()) return;
  HealthRecord seen = record;
  seen.last = std::max(record.last, health_.found.last());
  seen.gpus = std::max(record.gpus, health_.found.gpus);
  seen.keys = health_.found.keys();
  seen.findings = health_.found.text();
  if (seen != record) write(seen, Cordon::kKeep, "what is wrong with its GPUs is so still");
}

// Drains within the policy's windows until the drain times out. Pods that remain after that are
// left to their owners.
void NodeHealthSteps::drain(DisruptionBudgets& budgets) {
  const bool asked = spec_.action == HealthAction::kDrain || seeded(SeededBug::kDrainUnasked);
  if (!asked || !health_.found.act() || is_in_a_rollout()) return;
  if (budgets.closed()) {
    if (const auto at = budgets.changes_at(); at && *at > snapshot_.now)
      plan_.requeue_in(std::chrono::ceil<Duration>(*at - snapshot_.now));
    return;
  }
  const DrainProgress progress =
      plan_drain(snapshot_, node_, DrainSpec(), health_.record->since, plan_);
  if (progress.empty || progress.timed_out || progress.cause.reason == reasons::kPodsLeaving)
    return;
  plan_.events.push_back({ref_of(node_), true, reasons::kPodKept, "Drain",
                          "a pod stays on it: " + progress.cause.message});
}

// --- decisions ---

// Whether a user holds the node, or it is about to be upgraded or deleted.
bool NodeHealthSteps::is_left_alone() const {
  const bool held = node_.meta.annotations.contains(names::kHoldAnnotation);
  return (held && !seeded(SeededBug::kIgnoreHealthHold)) || in_others_hands(node_);
}

// Whether a rollout is under way on the node, or is about to begin: the ledger has a slot for the
// node.
bool NodeHealthSteps::is_in_a_rollout() const {
  return nodes_under_way(snapshot_.cluster).contains(&node_) ||
         read_ledger(snapshot_).find(node_.meta.name) != nullptr;
}

// If berth measures fewer GPUs than before, a missing finding proves nothing.
bool NodeHealthSteps::is_watched() const { return health_.found.measured >= health_.record->gpus; }

// Whether a finding is not in the record: another kind or another GPU.
bool NodeHealthSteps::is_news() const {
  const KnownFindings known(*health_.record);
  return std::ranges::any_of(
      health_.found.all, [&](const GpuFault& finding) { return !known.contains(finding.key()); });
}

// Returns why the node is not cordoned; nothing: it may be. Empty text: no finding or no setting
// asks for it.
std::optional<std::string> NodeHealthSteps::why_not(const std::optional<Cause>& too_many,
                                                    DisruptionBudgets& budgets) const {
  if (!health_.found.act() || spec_.action == HealthAction::kReport) return "";
  if (budgets.stopped()) return budgets.stopped()->message;
  if (node_.cordoned() && !seeded(SeededBug::kTakeOverCordon))
    return "it is cordoned already, and not for its health";
  if (is_in_a_rollout()) return "a MIGLayout has it";
  if (too_many) return too_many->message;
  if (const auto refusal = budgets.refuse(node_)) return refusal->message;
  return std::nullopt;
}

Duration NodeHealthSteps::wait_after(const HealthRecord& record) const {
  const std::int64_t doublings =
      seeded(SeededBug::kForgetFlapping)
          ? 0
          : std::clamp<std::int64_t>(record.cordons - 1 + record.proofs, 0, kDoublings);
  return std::max(
      spec_.recover_after,
      std::min<Duration>(spec_.recover_after * (std::int64_t{1} << doublings), kLongestWait));
}

HealthRecord NodeHealthSteps::next(HealthPhase phase) const {
  HealthRecord record = health_.record.value_or(HealthRecord());
  record.phase = phase;
  record.node_uid = node_.meta.uid;
  record.since = snapshot_.now;
  if (health_.found.all.empty()) return record;
  record.last = health_.found.last();
  record.keys = health_.found.keys();
  record.seen.clear();
  record.findings = health_.found.text();
  record.gpus = health_.found.gpus;
  return record;
}

// --- the patch ---

void NodeHealthSteps::write(const std::optional<HealthRecord>& record, Cordon cordon,
                            std::string reason) {
  const ObjectRef object = ref_of(node_);
  std::vector<Step> steps;
  // A JSON patch can't test a key of a map that doesn't exist.
  if (node_.meta.annotations.empty())
    steps.push_back(Write{
        .verb = Verb::kMergePatch,
        .object = object,
        .body =
            MergePatch::same_object(node_.meta).annotation(names::kInventoryAnnotation, "{}").str(),
        .field_manager = names::kManagerPolicy,
        .reason = "make room for annotations"});
  JsonPatch patch;
  patch.test("/metadata/uid", node_.meta.uid);
  for (const char* key :
       {names::kHoldAnnotation, names::kRolloutAnnotation, names::kHealthAnnotation})
    patch.test_optional(annotation_path(key), annotation_if_any(node_, key));
  if (cordon != Cordon::kKeep) {
    if (node_.unschedulable)
      patch.test_bool(kUnschedulable, *node_.unschedulable);
    else
      patch.test_absent(kUnschedulable);
  }
  if (cordon == Cordon::kSet) patch.set_bool(kUnschedulable, true);
  if (cordon == Cordon::kRemove) patch.remove(kUnschedulable);
  if (record)
    patch.set(annotation_path(names::kHealthAnnotation), encode_health(*record));
  else
    patch.remove(annotation_path(names::kHealthAnnotation));
  steps.push_back(Write{.verb = Verb::kJsonPatch,
                        .object = object,
                        .body = patch.str(),
                        .field_manager = names::kManagerPolicy,
                        .reason = std::move(reason)});
  if (cordon == Cordon::kSet) return cordons_.push_back({&node_, std::move(steps)});
  for (Step& step : steps) plan_.add(object, std::move(step));
}

void NodeHealthSteps::tell(bool warning, const char* reason, const char* action, std::string note) {
  plan_.events.push_back({.regarding = ref_of(node_),
                          .warning = warning,
                          .reason = reason,
                          .action = action,
                          .note = std::move(note)});
}

}  // namespace berth
