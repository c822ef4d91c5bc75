// SPDX-License-Identifier: Apache-2.0
// TimelineYaml: the timeline of a scenario file, read strictly with the table of incidents.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "apis/kinds/layout_fields.h"
#include "controller/scenario/fields.h"
#include "controller/scenario/scenario.h"

namespace berth {

// Reads `timeline` into the scenario. The nodes and the number of berths must already be known,
// because incidents may only name these. `file:` is relative to `folder`.
void read_timeline(Fields& top, const std::string& folder, Scenario& scenario,
                   std::vector<Complaint>& complaints);

}  // namespace berth
