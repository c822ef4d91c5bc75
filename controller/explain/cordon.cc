// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/cordon.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/patience.h"
#include "controller/core/refused_write.h"
#include "controller/disruption/health_record.h"
#include "controller/disruption/rollouts.h"
#include "controller/explain/controller_lease.h"
#include "controller/mig/overlap.h"

namespace berth {
namespace {

const char* told_phase(RolloutPhase phase) {
  switch (phase) {
    case RolloutPhase::kCordoned:
      return "being drained";
    case RolloutPhase::kApplying:
      return "being repartitioned";
    case RolloutPhase::kRollingBack:
      return "being rolled back";
    case RolloutPhase::kIdle:
    case RolloutPhase::kFailed:
      break;
  }
  return "out";
}

std::string told_health_cordon(const Snapshot& snapshot, const HealthRecord& health,
                               const Clues& clues) {
  std::string text = fmt::format("cordoned by berth for its health: {}", health.findings);
  if (const std::string absence = told_absence(snapshot, clues); !absence.empty())
    return fmt::format("{}; {}: it stays cordoned until one runs or a person uncordons it", text,
                       absence);
  return text + "; back when nothing is found any more" + promise_condition(snapshot, clues);
}

}  // namespace

// For a node that berth has cordoned and whose rollout annotation is lost.
std::optional<Slot> lost_slot(const Snapshot& snapshot, const Node& node) {
  const SlotLedger& ledger = read_ledger(snapshot);
  const Slot* slot = ledger.find(node.meta.name);
  if (slot == nullptr || slot->node_uid != node.meta.uid ||
      !is_record_lost(*slot, read_rollout(snapshot.cluster, node)))
    return std::nullopt;
  return *slot;
}

// The layout's cause for a refused write to the node, from its status; nullptr if there is none.
const NodeDetail* refusal_told(const MIGLayout& layout, std::string_view node) {
  const auto told = std::ranges::find_if(layout.status.details, [&](const NodeDetail& detail) {
    return detail.node == node && detail.reason == reasons::kWriteRefused;
  });
  return told == layout.status.details.end() ? nullptr : &*told;
}

std::string told_cordon(const Snapshot& snapshot, const Node& node, const Clues& clues) {
  if (!node.cordoned()) return {};
  if (is_out_for_health(node)) return told_health_cordon(snapshot, *health_of(node), clues);
  const RolloutRecord record = read_rollout(snapshot.cluster, node);
  const std::optional<Slot> slot = lost_slot(snapshot, node);
  if (slot && *slot->berth_cordoned)
    return fmt::format(
        "cordoned by berth for {}; annotation {} is gone, and berth continues from its ledger",
        slot->holder, names::kRolloutAnnotation);
  if (record.kept_out())
    return fmt::format(
        "cordoned by berth for MIGLayout/{}, which failed here: {}; it stays so "
        "until another change succeeds or somebody uncordons it",
        record.rollout->layout, record.rollout->why);
  if (record.idle() || !record.rollout->berth_cordoned) {
    if (record.idle() && !slot)
      return "cordoned, and not by berth: it stays so until somebody uncordons it";
    return "cordoned before berth took it: it stays so until somebody uncordons it";
  }
  const NodeRollout& rollout = *record.rollout;
  const MIGLayout* layout = find_layout_by_uid(snapshot.cluster, rollout.layout_uid);
  std::string text = fmt::format("cordoned by berth for MIGLayout/{}", rollout.layout);
  if (rollout.phase == RolloutPhase::kFailed)
    return text +
           ", which failed here: it stays unavailable until the layout is edited or the agent is "
           "repaired";
  text += fmt::format(", {} since {}", told_phase(rollout.phase), format_time(rollout.since));
  if (layout == nullptr) return text;
  if (refusal_told(*layout, node.meta.name) != nullptr)
    return text + "; it stays so until the API server allows berth to write to it";
  if (const std::string absence = told_absence(snapshot, clues); !absence.empty())
    return fmt::format("{}; {}: it stays so until one does", text, absence);
  const bool drains = rollout.phase == RolloutPhase::kCordoned;
  const Duration patience = layout->spec.rollout.progress_deadline +
                            (drains ? layout->spec.drain.timeout : Duration::zero());
  const Time latest = patience_ends(snapshot, rollout.since, patience);
  if (latest < snapshot.now) return fmt::format("{}; overdue since {}", text, format_time(latest));
  return fmt::format("{}; back by itself, at the latest by {} unless the leader changes{}", text,
                     format_time(latest), promise_condition(snapshot, clues));
}

}  // namespace berth
