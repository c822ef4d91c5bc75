// SPDX-License-Identifier: Apache-2.0
// `berth plan --simulate`: the planned change carried out to its end on a simulated copy of the
// cluster, with how long it may take.
#pragma once

#include <string>
#include <vector>

#include "apis/result.h"
#include "controller/core/settings.h"

namespace berth {

struct PlannedRun {
  std::string snapshot;                // as DumpWriter writes it
  std::vector<std::string> manifests;  // JSON, to be applied
  Settings settings;
  int seed = 1;
};

struct PlannedEnd {
  std::string text;  // for people, a JSON document, or the page's
  bool settled = false;
};
// `format` is "text", "json" or "page". An error says why the cluster cannot be copied.
Result<PlannedEnd> simulate_plan(const PlannedRun& planned, const std::string& format);

}  // namespace berth
