// SPDX-License-Identifier: Apache-2.0
// Findings: the faults of a node's GPUs, from measurements, from what the node offers, and from
// conditions that other components set. Data that is missing, stale or older than this process is
// no finding. berth acts on a finding from Prometheus only if the node's own exporter confirms it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/core/snapshot.h"

namespace berth {

enum class FaultKind {
  kFatalXid,
  kUnknownXid,
  kDoubleBitErrors,
  kRemapFailed,
  kHot,
  kLinkErrors,
  kPcieReplays,
  kThrottled,
  kGpuMissing,        // no longer measured, while other GPUs of the node are
  kDevicesUnhealthy,  // the node offers fewer than it has
  kNodeCondition,     // set by an agent of the cloud or of NVIDIA (apis/kinds/gpu_conditions.h)
};
const char* to_string(FaultKind kind);
// "Hot/3"
std::string key_of(FaultKind kind, std::string_view which);

struct GpuFault {
  FaultKind kind = FaultKind::kFatalXid;
  std::string which;  // the GPU's index, the resource's name, or the condition's type and reason
  std::string text;   // a clause: "GPU 3: XID 79, it fell off the bus"
  Time at{};          // last seen
  bool acts = true;   // false: berth only reports it
  // Why the node's own exporter does not confirm a finding from Prometheus.
  enum class Doubt { kNone, kSilent, kDisagrees };
  Doubt doubt = Doubt::kNone;

  std::string key() const { return key_of(kind, which); }
};

struct NodeFindings {
  std::vector<GpuFault> all;  // by GPU
  std::int64_t gpus = 0;      // measured now or a while ago; 0: none
  std::int64_t measured = 0;
  std::optional<Duration> next_in;  // time after which there may be more, without any other change

  bool act() const;
  // The first finding that berth would act on if the node's exporter had confirmed it; null: none.
  const GpuFault* doubted() const;
  Time last() const;         // latest `at`, if there is a finding
  std::string keys() const;  // "FatalXid/0,Hot/3"
  std::string text() const;  // the first few, for messages
};
NodeFindings find_trouble(const Snapshot& snapshot, const Node& node, const HealthSpec& spec);

}  // namespace berth
