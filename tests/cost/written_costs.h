// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apis/base/names.h"
#include "apis/kinds/core.h"
#include "controller/core/snapshot.h"
#include "controller/cost/cost_ledger.h"

namespace berth::test {

// The cost ledger in the form that berth stores.
inline ConfigMap written_costs(cost::CostLedger ledger, const Settings& settings) {
  ConfigMap costs;
  costs.meta.namespace_ = settings.berth_namespace;
  costs.meta.name = names::kCostsConfigMap;
  for (auto& [key, text] : cost::encode_costs(ledger)) costs.data[key] = text;
  return costs;
}

}  // namespace berth::test
