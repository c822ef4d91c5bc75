// SPDX-License-Identifier: Apache-2.0
// HealthSurvey: the nodes of the policy's pools that have something wrong or a record of it, and
// the pools in which there are more of them than spec.health.maxUnhealthyFraction: there, what is
// broken is rather what measures.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/core/cause.h"
#include "controller/disruption/health_record.h"
#include "controller/health/findings.h"

namespace berth {

inline constexpr char kHealthLimited[] = "HealthLimited";  // the condition's type
inline constexpr char kNotConfirmed[] = "NotConfirmed";    // likewise

struct NodeHealth {
  const Node* node = nullptr;
  const PoolSpec* pool = nullptr;
  std::optional<HealthRecord> record;
  NodeFindings found;

  // A fault that takes a node out of service, whether or not it has.
  bool faulty() const;
};

struct PoolHealth {
  std::int64_t nodes = 0;
  std::int64_t faulty = 0;
  std::int64_t limit = 0;
  bool too_many() const { return faulty > limit; }
};

struct HealthSurvey {
  std::vector<NodeHealth> nodes;  // by name
  std::map<const PoolSpec*, PoolHealth> pools;
  std::vector<std::pair<std::string, GpuFault>> doubted;  // by node, the first of each
  std::optional<Duration> next_in;

  // Why no further node of the pool is taken.
  std::optional<Cause> refuse(const PoolSpec& pool) const;
  // For the policy's status; nothing where no pool has too many.
  std::optional<Cause> told() const;
  // Which faults would act if their node's exporter had confirmed them; nothing: none.
  std::optional<Cause> not_confirmed() const;
  // With anything wrong now, or out of service for it.
  std::int32_t unhealthy() const;
};
HealthSurvey survey_health(const Snapshot& snapshot, const GPUClusterPolicy& policy);

}  // namespace berth
