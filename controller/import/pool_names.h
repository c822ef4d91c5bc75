// SPDX-License-Identifier: Apache-2.0
// PoolNames: maps ResourceFlavors to pool names.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controller/import/kueue_objects.h"

namespace berth {

class PoolNames {
 public:
  // `flavors` must outlive this.
  explicit PoolNames(const std::vector<ResourceFlavor>& flavors);

  // The flavor's name, fitted to a pool's name; "*" for a flavor without node labels, which matches
  // every node.
  std::string of(const std::string& flavor) const;
  // nullptr: the files have no such flavor.
  const ResourceFlavor* find(const std::string& flavor) const;

 private:
  std::map<std::string, const ResourceFlavor*> flavors_;
};

}  // namespace berth
