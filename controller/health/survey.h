// SPDX-License-Identifier: Apache-2.0
// HealthSurvey: the nodes of the policy's pools with a finding or a health record, and the pools
// with more faulty nodes than spec.health.maxUnhealthyFraction. In such a pool the measurement is
// probably broken, not the nodes.
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
inline constexpr char kNotConfirmed[] = "NotConfirmed";    // also a condition's type

struct NodeHealth {
  const Node* node = nullptr;
  const PoolSpec* pool = nullptr;
  std::optional<HealthRecord> record;
  NodeFindings found;

  // Whether it has a fault that takes nodes out of service, or is out of service for one.
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
  std::vector<std::pair<std::string, GpuFault>> doubted;  // by node, with its first such fault
  std::optional<Duration> next_in;

  // Returns why no further node of the pool may be cordoned; nothing: it may be.
  std::optional<Cause> refuse(const PoolSpec& pool) const;
  // For the policy's status; nothing: no pool has too many.
  std::optional<Cause> told() const;
  // Reports the faults that berth would act on if the node's exporter had confirmed them; nothing:
  // none.
  std::optional<Cause> not_confirmed() const;
  // The number of nodes with any finding now, or out of service for one.
  std::int32_t unhealthy() const;
};
HealthSurvey survey_health(const Snapshot& snapshot, const GPUClusterPolicy& policy);

}  // namespace berth
