// SPDX-License-Identifier: Apache-2.0
// Steps that the phases share: writing the label, changing to another target, giving up.
#include "controller/mig/node_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/seeded_bugs.h"
#include "controller/core/stop.h"
#include "controller/fleet/node_facts.h"
#include "controller/mig/config_label.h"
#include "controller/mig/drain_steps.h"
#include "controller/mig/node_patch.h"
#include "controller/mig/preflight.h"

namespace berth {
namespace {

constexpr std::int64_t kMaxBackoff = 16;  // times the base

}  // namespace

std::optional<std::string> NodeSteps::reason_not_ours(const Node& live, std::string_view uid,
                                                      const std::optional<std::string>& text) {
  if (live.meta.uid != uid) return "the node was replaced by another of the same name";
  if (!live.cordoned()) return "the node is schedulable";
  if (read_rollout(live).text != text) return "the rollout annotation has changed";
  return std::nullopt;
}

// Every write of mig.config goes through here. The node must be cordoned and still ours, with no
// pod that a repartitioning would break. A guard asks the API server right before.
void NodeSteps::write_label(NodeRollout written, const std::string& reason, const char* event) {
  std::optional<std::string> label = next_label(written.config, s_.label());
  if (seeded(SeededBug::kRelabelSameValue)) label = written.config;
  if (!label) return fail(fmt::format("{}; {} has no room for an alias", reason, written.config));
  if (is_stopped(s_.snapshot)) return;  // while berth is stopped, no new repartitioning begins
  if (!s_.node.cordoned())
    return fail(fmt::format("{}; but the node was uncordoned by hand", reason));
  // Pods that were bound after the cordon are drained like the others.
  if (now().phase != RolloutPhase::kCordoned) {
    const Time patience =
        now().not_before.value_or(now().since + s_.rules->rollout.progress_deadline);
    const DrainProgress late = plan_drain(s_.snapshot, s_.node, s_.rules->drain, patience, plan_);
    if (late.timed_out)
      return fail(fmt::format("pods bound after the cordon don't leave: {}", late.cause.message));
    if (!late.empty) return;
  }
  Guard guard;
  guard.node = ref_of(s_.node);
  guard.question = "is the node still cordoned and ours, with no GPU pod bound?";
  guard.refuse = [uid = s_.node.meta.uid, text = s_.record.text, drain = s_.rules->drain,
                  settings = s_.snapshot.settings](
                     const Node& node, const std::vector<Pod>& pods) -> std::optional<std::string> {
    if (auto why = reason_not_ours(node, uid, text)) return why;
    for (const Pod& pod : pods)
      if (is_in_the_way(pod, drain, settings))
        return fmt::format("pod {}/{} is bound to the node", pod.meta.namespace_.view(),
                           pod.meta.name);
    return std::nullopt;
  };
  std::optional<Guard> asked = std::move(guard);
  if (seeded(SeededBug::kSkipLiveGuard)) asked.reset();
  NodePatch(s_).label(*label).restore_paused_labels().rollout(written).plan(plan_, reason,
                                                                            std::move(asked));
  tell(written.attempt > 0 || written.phase == RolloutPhase::kRollingBack, event, "Repartition",
       fmt::format("{}={} ({})", names::kMigConfig, *label, reason));
}

bool NodeSteps::asks_for_another() const {
  return s_.owner != nullptr && s_.target->ok() && s_.target->config != now().config &&
         s_.target->config != now().failed_config && !s_.owner->spec.rollout.paused && !s_.held() &&
         s_.node.cordoned() && check_rules(*s_.owner).empty() && !s_.view.halted(*s_.owner) &&
         !is_stopped(s_.snapshot) && !agent_not_configured(s_.snapshot);
}

// Does not uncordon in between. Pods that were bound meanwhile are drained like any others.
void NodeSteps::go_on_to_target() {
  NodeRollout onward = next(RolloutPhase::kCordoned);
  onward.layout_uid = s_.owner->meta.uid;
  onward.layout = s_.owner->meta.name;
  onward.config = s_.target->config;
  onward.attempt = 0;
  onward.failed_config = now().phase == RolloutPhase::kFailed ? now().failed_config : "";
  NodePatch(s_).rollout(onward).plan(
      plan_, fmt::format("continue with {}, which the layout asks for now", s_.target->config));
}

void NodeSteps::fail(const std::string& why) {
  NodeRollout failed = next(RolloutPhase::kFailed);
  if (failed.failed_config.empty()) failed.failed_config = now().config;
  // berth has written nothing since the failure, so the label still names the failed config.
  if (now().phase == RolloutPhase::kCordoned) failed.config = failed.failed_config;
  failed.why = why;
  NodePatch patch(s_);
  // If the mig-manager works for another user, it has paused these labels for a reason.
  const bool foreign = !names_config(s_.label(), now().config);
  if (!foreign || s_.state() != "pending") patch.restore_paused_labels();
  patch.rollout(failed).plan(plan_, fmt::format("give up: {}", why));
  tell(true, reasons::kRolloutFailed, "Repartition",
       fmt::format("berth gave up on {}; the node stays cordoned: {}", failed.failed_config, why));
}

NodeRollout NodeSteps::next(RolloutPhase phase) const {
  NodeRollout rollout = now();
  rollout.phase = phase;
  rollout.since = s_.snapshot.now;
  rollout.not_before.reset();
  return rollout;
}

bool NodeSteps::wait_until(Time due) {
  if (s_.snapshot.now >= due) return false;
  plan_.requeue_in(std::chrono::ceil<Duration>(due - s_.snapshot.now));
  return true;
}

Duration NodeSteps::back_off(Duration base, std::int64_t attempt) const {
  return base *
         std::min<std::int64_t>(kMaxBackoff, std::int64_t{1} << std::min<std::int64_t>(attempt, 4));
}

// berth tries again later what it gave up, and records the reason until then.
void NodeSteps::put_off(NodeRollout& idle, Duration base, const std::string& why,
                        std::string_view cause) const {
  idle.not_before = s_.snapshot.now + back_off(base, idle.attempt);
  ++idle.attempt;
  idle.cause = cause;
  // After a failure, `why` keeps the failure's reason.
  if (idle.failed_config.empty()) idle.why = why;
}

void NodeSteps::tell(bool warning, const char* reason, const char* action, std::string note) {
  plan_.events.push_back({ref_of(s_.node), warning, reason, action, std::move(note)});
}

Step NodeSteps::any_patch() const {
  return Write{.verb = Verb::kJsonPatch,
               .object = ref_of(s_.node),
               .body = {},
               .field_manager = names::kManagerMig};
}

}  // namespace berth
