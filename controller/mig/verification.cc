// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/verification.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/patience.h"
#include "controller/core/seeded_bugs.h"
#include "controller/disruption/drain.h"
#include "controller/fleet/allocatable.h"
#include "controller/fleet/node_facts.h"
#include "controller/mig/config_label.h"

namespace berth {
namespace {

// Compares with the promise of the written config, from any layout that still knows it. For an
// unknown config, such as a previous one by another user, any offered GPU is enough.
std::optional<std::string> config_mismatch(const Situation& s, const std::string& config) {
  const MIGLayout* taker = find_layout_by_uid(s.snapshot.cluster, s.record.rollout->layout_uid);
  for (const MIGLayout* layout : {s.owner, taker}) {
    if (layout == nullptr) continue;
    TargetResolver& resolver = s.view.resolver(*layout);
    const Target& target = resolver.resolve(s.node);
    if (target.ok() && target.config == config) return resolver.mismatch(target, s.node);
  }
  if (config == names::kAllDisabled)
    if (std::optional<Inventory> inventory = inventory_of(s.node))
      return allocatable_mismatch(expected_without_mig(s.node, *inventory), s.node.allocatable);
  if (offers_gpus(s.node)) return std::nullopt;
  return "none of NVIDIA's resources is allocatable";
}

// Returns what mig-manager waits for, as far as its labels show. With paused labels, it waits for
// NVIDIA's pods to stop or to start.
std::string agent_step(const Situation& s) {
  std::vector<std::string> paused = paused_labels(s.node);
  for (std::string& label : paused) label.erase(0, std::string_view(names::kDeployPrefix).size());
  if (s.state() == "rebooting") return "the node is rebooting into the new MIG mode";
  // An ordinary repartitioning pauses them too, for a minute or two.
  const bool late = s.snapshot.now >= patience_ends(s.snapshot, s.record.rollout->since,
                                                    s.rules->rollout.progress_deadline);
  if (s.state() == "pending" && !paused.empty() && !late)
    return fmt::format(
        "mig-manager is repartitioning the GPUs, and has paused {} ({}…) until that is done",
        fmt::join(paused, ", "), names::kDeployPrefix);
  if (s.state() == "pending" && !paused.empty())
    return fmt::format("mig-manager has paused {} ({}…) and not resumed {}; see its log",
                       fmt::join(paused, ", "), names::kDeployPrefix,
                       paused.size() == 1 ? "it" : "them");
  if (s.state() == "pending") return "mig-manager is repartitioning the GPUs";
  if (!s.state().empty())
    return fmt::format("mig-manager reports the unknown state \"{}\"", s.state());
  return "mig-manager has not reacted to the label yet; check that its pod runs on the node";
}

}  // namespace

Verification verify(const Situation& s) {
  using State = Verification::State;
  const NodeRollout& rollout = *s.record.rollout;
  const bool is_ours = names_config(s.label(), rollout.config);
  if (!is_ours && !s.is_right())
    return {State::kForeignLabel,
            {reasons::kContested,
             fmt::format("{} was changed to \"{}\" while berth applied {}; set it back, or change "
                         "the layout",
                         names::kMigConfig, s.label(), rollout.config)}};
  if (s.state() == "failed")
    return {State::kAgentFailed,
            {reasons::kAgentFailed,
             fmt::format("mig-manager reports failed for {}; its log on the node says why",
                         s.label())}};
  if (s.state() != "success") {
    const char* reason =
        s.state() == "rebooting" ? reasons::kAgentRebooting : reasons::kAgentPending;
    return {State::kAgentWorking, {reason, agent_step(s)}};
  }
  if (auto mismatch = is_ours ? config_mismatch(s, rollout.config) : std::nullopt;
      mismatch && !seeded(SeededBug::kTrustSuccess))
    return {State::kMismatch,
            {reasons::kAllocatableMismatch,
             fmt::format("mig-manager reports success, but {}", *mismatch)}};
  if (!s.node.ready) return {State::kMismatch, {reasons::kNodeNotReady, "the node is not Ready"}};
  const Time steady_since =
      std::max(rollout.since, s.snapshot.cluster.allocatable_since(s.node.meta.name));
  const Time due = steady_since + s.snapshot.settings.verify_for;
  if (s.snapshot.now < due)
    return {
        State::kSteadying,
        {reasons::kVerifying, fmt::format("allocatable is as promised; watched for {}",
                                          format_duration_short(s.snapshot.settings.verify_for))},
        due};
  return {State::kDone, {reasons::kVerifying, "allocatable is as promised"}, due};
}

std::string late_pods(const Situation& s) {
  std::vector<std::string> pods;
  for (const PodVerdict& verdict : pods_leaving(s.snapshot, s.node, s.rules->drain))
    pods.push_back(
        fmt::format("{}/{}", verdict.pod->meta.namespace_.view(), verdict.pod->meta.name));
  return fmt::format("{}", fmt::join(pods, ", "));
}

}  // namespace berth
