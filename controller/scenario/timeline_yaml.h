// SPDX-License-Identifier: Apache-2.0
// TimelineYaml: the timeline of a scenario file, read strictly against the table of incidents.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "apis/layout_fields.h"
#include "controller/scenario/fields.h"
#include "controller/scenario/scenario.h"

namespace berth {

// Reads `timeline` into the scenario, whose nodes and number of berths are known by now: what an
// incident names must be among them. `folder` is where `file:` is looked for.
void read_timeline(Fields& top, const std::string& folder, Scenario& scenario,
                   std::vector<Complaint>& complaints);

}  // namespace berth
