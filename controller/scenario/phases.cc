// SPDX-License-Identifier: Apache-2.0
#include "controller/scenario/phases.h"

#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "controller/sim/world/object_fields.h"

namespace berth {

const std::vector<std::string>& rollout_phase_names() {
  static const std::vector<std::string> names{"Idle",      "Cordoned",    "Draining", "Applying",
                                              "Verifying", "RollingBack", "Failed"};
  return names;
}

RolloutRecord rollout_of(const nlohmann::json& node) {
  RolloutRecord record;
  const std::string text =
      sim::text_at(node, {"metadata", "annotations", names::kRolloutAnnotation});
  if (text.empty()) return record;
  record.text = text;
  record.rollout = decode_rollout(text);
  return record;
}

std::string rollout_phase(const nlohmann::json& node, bool has_gpu_pods) {
  const RolloutRecord record = rollout_of(node);
  const RolloutPhase phase = record.rollout ? record.rollout->phase : RolloutPhase::kIdle;
  if (phase == RolloutPhase::kCordoned && has_gpu_pods) return "Draining";
  if (phase == RolloutPhase::kApplying &&
      sim::text_at(node, {"metadata", "labels", names::kMigConfigState}) == "success")
    return "Verifying";
  return to_string(phase);
}

}  // namespace berth
