// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/rollout_measures.h"

#include <chrono>

namespace berth {
namespace {

constexpr double kPhaseBuckets[] = {1, 5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400};
constexpr Measure::Label kResults[] = {{"result", "repartitioned"},
                                       {"result", "rolled_back"},
                                       {"result", "put_back"},
                                       {"result", "failed"}};

}  // namespace

constinit const Measure kRolloutPhaseSeconds = {
    .type = Measure::Type::kHistogram,
    .name = "berth_rollout_phase_seconds",
    .help =
        "Seconds that a node spent in a phase of its MIG rollout, observed when it leaves the "
        "phase.",
    .buckets = kPhaseBuckets};
constinit const Measure kNodeRollouts = {.type = Measure::Type::kCounter,
                                         .name = "berth_node_rollouts_total",
                                         .help = "Rollouts of single nodes by result.",
                                         .zeroes = kResults};

const char* to_string(RolloutEnd end) {
  switch (end) {
    case RolloutEnd::kRepartitioned:
      return "repartitioned";
    case RolloutEnd::kRolledBack:
      return "rolled_back";
    case RolloutEnd::kPutBack:
      return "put_back";
    case RolloutEnd::kFailed:
      return "failed";
  }
  return "?";
}

std::optional<RolloutEnd> rollout_end(const RolloutRecord& before, const NodeRollout& after) {
  if (before.idle() || before.rollout->phase == after.phase) return std::nullopt;
  if (after.phase == RolloutPhase::kFailed) return RolloutEnd::kFailed;
  if (after.phase != RolloutPhase::kIdle) return std::nullopt;
  switch (before.rollout->phase) {
    case RolloutPhase::kCordoned:
      return RolloutEnd::kPutBack;
    case RolloutPhase::kApplying:
      return RolloutEnd::kRepartitioned;
    case RolloutPhase::kRollingBack:
      return RolloutEnd::kRolledBack;
    case RolloutPhase::kFailed:
      // The failed config succeeded after all, or berth released the node as it is, which is no
      // end.
      return after.failed_config.empty() ? std::optional(RolloutEnd::kRepartitioned) : std::nullopt;
    case RolloutPhase::kIdle:
      break;
  }
  return std::nullopt;
}

std::vector<Observation> observe_rollout(const ObjectRef& node, const RolloutRecord& before,
                                         const NodeRollout& after) {
  std::vector<Observation> out;
  if (before.idle() || before.rollout->phase == after.phase) return out;
  // If the clock was set back, no duration is known.
  if (after.since >= before.rollout->since)
    out.push_back(
        {.regarding = node,
         .measure = &kRolloutPhaseSeconds,
         .labels = {{"phase", to_string(before.rollout->phase)}},
         .value = std::chrono::duration<double>(after.since - before.rollout->since).count()});
  if (const auto end = rollout_end(before, after))
    out.push_back({.regarding = node,
                   .measure = &kNodeRollouts,
                   .labels = {{"result", to_string(*end)}},
                   .value = 1});
  return out;
}

}  // namespace berth
