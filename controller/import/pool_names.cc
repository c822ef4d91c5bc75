// SPDX-License-Identifier: Apache-2.0
#include "controller/import/pool_names.h"

#include "apis/kinds/gpu_cluster_policy.h"
#include "controller/import/fitted_name.h"

namespace berth {

PoolNames::PoolNames(const std::vector<ResourceFlavor>& flavors) {
  for (const ResourceFlavor& flavor : flavors) flavors_.emplace(flavor.name, &flavor);
}

const ResourceFlavor* PoolNames::find(const std::string& flavor) const {
  const auto found = flavors_.find(flavor);
  return found == flavors_.end() ? nullptr : found->second;
}

std::string PoolNames::of(const std::string& flavor) const {
  const ResourceFlavor* known = find(flavor);
  if (known != nullptr && known->node_labels.empty()) return "*";
  return fitted_name(flavor, limits::kMaxPoolName, NameGrammar::kLabel);
}

}  // namespace berth
