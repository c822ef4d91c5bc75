// SPDX-License-Identifier: Apache-2.0
// Converts the GPU quotas in Kueue's resource groups to a GPUQueue's quotas.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "apis/kinds/gpu_queue.h"
#include "controller/import/pool_names.h"
#include "controller/import/report.h"

namespace berth {

// By flavor: the first place that uses it in a quota that berth imports.
struct FlavorUse {
  const Source* source = nullptr;
  std::string path;
};
using FlavorUses = std::map<std::string, FlavorUse>;

// In the order of the flavors, which is their preference. `limited`: the queue is in a cohort, so
// that borrowing and lending limits apply. The report gets resources without a quota in berth, and
// amounts outside of berth's bounds.
std::vector<QuotaSpec> import_quotas(const Source& source, const std::vector<ResourceGroup>& groups,
                                     bool limited, const PoolNames& pools, FlavorUses& uses,
                                     ImportReport& report);

// An amount as a whole number of devices within berth's bounds. The report gets what rounding and
// bounds change.
std::int64_t import_count(const Source& source, const std::string& field, const Quantity& amount,
                          ImportReport& report);

}  // namespace berth
