// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/recall/idle_measures.h"

namespace berth::queue {
namespace {

constexpr Measure::Label kPolicies[] = {{"policy", "OnPressure"}, {"policy", "Always"}};

}  // namespace

constinit const Measure kIdleReclaims = {
    .type = Measure::Type::kCounter,
    .name = "berth_idle_reclaims_total",
    .help = "Workloads and single pods from which idle GPUs were taken back, by idle.policy.",
    .buckets = {},
    .zeroes = kPolicies};

Observation reclaimed(const ObjectRef& from, IdlePolicy policy) {
  return {.regarding = from,
          .measure = &kIdleReclaims,
          .labels = {{"policy", to_string(policy)}},
          .value = 1};
}

}  // namespace berth::queue
