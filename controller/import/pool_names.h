// SPDX-License-Identifier: Apache-2.0
// PoolNames: which pool a ResourceFlavor becomes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controller/import/kueue_objects.h"

namespace berth {

class PoolNames {
 public:
  // Both outlive this.
  explicit PoolNames(const std::vector<ResourceFlavor>& flavors);

  // The flavor's own name as far as it can be a pool's; "*" for a flavor without node labels, which
  // is any node's.
  std::string of(const std::string& flavor) const;
  // nullptr: it was not among the files.
  const ResourceFlavor* find(const std::string& flavor) const;

 private:
  std::map<std::string, const ResourceFlavor*> flavors_;
};

}  // namespace berth
