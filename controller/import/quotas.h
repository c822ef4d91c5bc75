// SPDX-License-Identifier: Apache-2.0
// What Kueue's resource groups say of GPUs, as a GPUQueue's quotas.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "apis/gpu_queue.h"
#include "controller/import/pool_names.h"
#include "controller/import/report.h"

namespace berth {

// Flavor → where the first quota that berth holds stands.
struct FlavorUse {
  const Source* source = nullptr;
  std::string path;
};
using FlavorUses = std::map<std::string, FlavorUse>;

// In the order of the flavors, which is that of preference. `limited`: within a cohort, where
// borrowing and lending have a meaning. Resources that berth holds no quota of, and amounts that it
// can't have, go to the report.
std::vector<QuotaSpec> import_quotas(const Source& source, const std::vector<ResourceGroup>& groups,
                                     bool limited, const PoolNames& pools, FlavorUses& uses,
                                     ImportReport& report);

// A count of devices as berth writes it: whole, and within its bounds; what is lost by it goes to
// the report.
std::int64_t import_count(const Source& source, const std::string& field, const Quantity& amount,
                          ImportReport& report);

}  // namespace berth
