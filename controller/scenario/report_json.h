// SPDX-License-Identifier: Apache-2.0
// ReportJson: a run as one JSON document for programs: its events and the cluster at its end.
// docs/simulation.md lists the fields.
#pragma once

#include <string>

#include "controller/scenario/run_report.h"

namespace berth {

inline constexpr char kSimulationApiVersion[] = "simulation.gpu.berth.dev/v1";

std::string print_json(const RunReport& report);

}  // namespace berth
