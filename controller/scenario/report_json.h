// SPDX-License-Identifier: Apache-2.0
// ReportJson: a run as one JSON document for machines: its events, and how it has left the cluster.
// docs/simulation.md lists the fields.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "controller/scenario/end_state.h"
#include "controller/scenario/rollout_times.h"
#include "controller/scenario/transcript.h"

namespace berth {

inline constexpr char kSimulationApiVersion[] = "simulation.gpu.berth.dev/v1";

struct RunReport {
  std::string scenario;
  std::uint64_t seed = 0;
  std::string unsettled;  // empty: it ended as expected
  std::chrono::milliseconds elapsed{0};
  std::vector<TranscriptEntry> events;
  EndState end;
  std::vector<NodeOut> outs;
};
std::string print_json(const RunReport& report);

}  // namespace berth
