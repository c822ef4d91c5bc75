// SPDX-License-Identifier: Apache-2.0
// `berth plan --simulate`: carries out the planned change on a simulated copy of the cluster, and
// reports how long it may take.
#pragma once

#include <string>
#include <vector>

#include "apis/base/result.h"
#include "controller/core/settings.h"

namespace berth {

struct PlannedRun {
  std::string snapshot;                // as DumpWriter writes it
  std::vector<std::string> manifests;  // JSON, to be applied
  Settings settings;
  int seed = 1;
};

struct PlannedEnd {
  std::string text;  // text for users, a JSON document, or the page's document
  bool settled = false;
};
// `format` is "text", "json" or "page". An error says why the cluster can't be copied.
Result<PlannedEnd> simulate_plan(const PlannedRun& planned, const std::string& format);

}  // namespace berth
