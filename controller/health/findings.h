// SPDX-License-Identifier: Apache-2.0
// Findings: what is wrong with a node's GPUs, from what they were measured to do, from what the
// node offers and from what others say of it. Data that is missing, stale, or older than this
// process is no finding. berth acts on a finding from Prometheus only if the node's own exporter
// shows it, too.
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
  kGpuMissing,        // measured a while ago, and not any more, while others on the node are
  kDevicesUnhealthy,  // the node offers fewer than it has
  kNodeCondition,     // what a cloud's agent, or NVIDIA's, says of it (apis/kinds/gpu_conditions.h)
};
const char* to_string(FaultKind kind);
// "Hot/3"
std::string key_of(FaultKind kind, std::string_view which);

struct GpuFault {
  FaultKind kind = FaultKind::kFatalXid;
  std::string which;  // the GPU's index, the resource's name, or the condition's type and reason
  std::string text;   // a clause: "GPU 3: XID 79, it fell off the bus"
  Time at{};          // when it was last seen
  bool acts = true;   // else berth only reports it
  // Why the node's own exporter does not confirm a finding from Prometheus.
  enum class Doubt { kNone, kSilent, kDisagrees };
  Doubt doubt = Doubt::kNone;

  std::string key() const { return key_of(kind, which); }
};

struct NodeFindings {
  std::vector<GpuFault> all;  // by GPU
  std::int64_t gpus = 0;      // measured now, or a while ago; 0: nobody measures
  std::int64_t measured = 0;
  std::optional<Duration> next_in;  // when there may be more, without anything else changing

  bool act() const;
  // The first that would act if its node's exporter had confirmed it; null: none.
  const GpuFault* doubted() const;
  Time last() const;         // of one that has any
  std::string keys() const;  // "FatalXid/0,Hot/3"
  std::string text() const;  // of the first few
};
NodeFindings find_trouble(const Snapshot& snapshot, const Node& node, const HealthSpec& spec);

}  // namespace berth
