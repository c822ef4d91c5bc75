// SPDX-License-Identifier: Apache-2.0
// Outline: what is due by the record's phase; then what each of them does; then the patch.
#include "controller/health/node_health_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "apis/cut.h"
#include "apis/names.h"
#include "apis/reasons.h"
#include "controller/core/merge_patch.h"
#include "controller/core/seeded_bugs.h"
#include "controller/disruption/rollouts.h"
#include "controller/fleet/node_facts.h"
#include "controller/health/proof.h"
#include "controller/health/reconcile.h"
#include "controller/mig/drain_steps.h"

namespace berth {
namespace {

constexpr char kUnschedulable[] = "/spec/unschedulable";
constexpr Duration kLongestWait = std::chrono::hours(24);
constexpr std::int64_t kDoublings = 10;
// A record's `last` is behind what is seen by at most this part of spec.health.recoverAfter, so
// that a GPU that stays hot does not have its node written at each look.
constexpr int kRefreshes = 4;
constexpr std::size_t kLongestProof = 400;

std::set<std::string, std::less<>> split(std::string_view keys) {
  std::set<std::string, std::less<>> out;
  while (!keys.empty()) {
    const std::size_t end = std::min(keys.find(','), keys.size());
    out.emplace(keys.substr(0, end));
    keys.remove_prefix(std::min(end + 1, keys.size()));
  }
  return out;
}

std::optional<std::string> annotation_if_any(const Node& node, std::string_view key) {
  const Text* text = node.meta.annotations.find(key);
  return text != nullptr ? std::optional(text->str()) : std::nullopt;
}

}  // namespace

void NodeHealthSteps::step(const std::optional<Cause>& too_many, DisruptionBudgets& budgets) {
  if (is_left_alone()) return;
  const bool out = health_.record && health_.record->phase == HealthPhase::kCordoned;
  if (out && !node_.cordoned()) {
    if (seeded(SeededBug::kArgueWithPeople) && !health_.found.all.empty())
      return begin(too_many, budgets);
    write(next(HealthPhase::kOverruled), Cordon::kKeep, "a person put it back into service");
    return tell(true, reasons::kUncordonedByHand, "Keep",
                fmt::format("uncordoned by hand; what was found is not acted on again: {}",
                            health_.record->findings));
  }
  if (out) return health_.found.all.empty() ? recover() : keep_out(budgets);
  if (health_.found.all.empty()) return forget_in_time();
  begin(too_many, budgets);
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
  const bool overruled = health_.record && health_.record->phase == HealthPhase::kOverruled;
  if (overruled && !is_news()) return refresh();
  const std::optional<std::string> kept = why_not(too_many, budgets);
  if (!kept) {
    budgets.take(node_);
    HealthRecord record = next(HealthPhase::kCordoned);
    ++record.cordons;
    record.proofs = 0;
    record.proof.clear();
    write(record, Cordon::kSet, fmt::format("cordon: {}", record.findings));
    return tell(true, reasons::kUnhealthyCordoned, "Cordon",
                fmt::format("cordoned: {}; back when nothing has been found for {}",
                            record.findings, format_duration_short(wait_after(record))));
  }
  const bool told = health_.record && health_.record->phase == HealthPhase::kReported;
  if (told && !is_news()) return refresh();
  if (overruled) return;
  const HealthRecord record = next(HealthPhase::kReported);
  write(record, Cordon::kKeep, "tell what is wrong with its GPUs");
  tell(true, reasons::kGpusUnhealthy, "Report",
       fmt::format("{}{}{}", record.findings, kept->empty() ? "" : "; left in service: ", *kept));
}

// Nothing stays for ever: what does not come again is forgotten, later where it once did.
void NodeHealthSteps::forget_in_time() {
  if (!health_.record) return;
  const HealthRecord& record = *health_.record;
  const Time due = record.cordons > 0
                       ? record.since + std::max<Duration>(kLongestWait, 2 * wait_after(record))
                       : record.last + spec_.recover_after;
  if (snapshot_.now < due)
    return plan_.requeue_in(std::chrono::ceil<Duration>(due - snapshot_.now));
  write(std::nullopt, Cordon::kKeep, "forget what was wrong with its GPUs");
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
  // Nobody looks, or a GPU that was there is not: that nothing is found says nothing.
  if (health_.found.measured < record.gpus && !seeded(SeededBug::kRecoverUnmeasured)) return;
  const Time due = record.last + wait_after(record);
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

// Whether its proof has passed; if not, what is due for it is planned.
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

// As if a fault had just been found: the next proof comes after another wait.
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
  // What is known already to an overruled berth stays known.
  if (record.phase != HealthPhase::kOverruled) {
    seen.keys = health_.found.keys();
    seen.findings = health_.found.text();
  }
  if (seen != record) write(seen, Cordon::kKeep, "what is wrong with its GPUs is so still");
}

// Within the policy's windows, for as long as a drain lasts: what stays then is its owner's to
// move.
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

// --- what decides ---

// A person's, or about to be upgraded or deleted.
bool NodeHealthSteps::is_left_alone() const {
  const bool held = node_.meta.annotations.contains(names::kHoldAnnotation);
  return (held && !seeded(SeededBug::kIgnoreHealthHold)) || in_others_hands(node_);
}

// Or in a slot of the ledger that is about to become one.
bool NodeHealthSteps::is_in_a_rollout() const {
  return nodes_under_way(snapshot_.cluster).contains(&node_) ||
         read_ledger(snapshot_).find(node_.meta.name) != nullptr;
}

// Something of another kind or GPU than the record tells of; of a fault that came, another one.
bool NodeHealthSteps::is_news() const {
  const HealthRecord& record = *health_.record;
  const std::set<std::string, std::less<>> known = split(record.keys);
  const bool overruled = record.phase == HealthPhase::kOverruled;
  return std::ranges::any_of(health_.found.all, [&](const GpuFault& finding) {
    if (!overruled) return !known.contains(finding.key());
    return finding.acts &&
           (finding.stands ? !known.contains(finding.key()) : finding.at > record.since);
  });
}

// Nothing: it may be cordoned. Empty: nobody asks for that.
std::optional<std::string> NodeHealthSteps::why_not(const std::optional<Cause>& too_many,
                                                    DisruptionBudgets& budgets) const {
  if (!health_.found.act() || spec_.action == HealthAction::kReport) return "";
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
  record.findings = health_.found.text();
  record.gpus = health_.found.gpus;
  return record;
}

// --- the patch ---

void NodeHealthSteps::write(const std::optional<HealthRecord>& record, Cordon cordon,
                            std::string reason) {
  const ObjectRef object = ref_of(node_);
  std::vector<Step> steps;
  // A JSON patch can't test a key of a map that isn't there.
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
