// SPDX-License-Identifier: Apache-2.0
// Recut: what else the room of one MIG instance could be, whatever stands beside it on its GPU.
#pragma once

#include <string>
#include <vector>

#include "apis/core.h"
#include "controller/fleet/geometry.h"

namespace berth {

struct Recut {
  const Profile* profile = nullptr;  // of the same product, without attributes
  int count = 0;                     // that many of it alone, where one instance is now
};

// Largest profile first; none of what is as large as the instance itself.
std::vector<Recut> recuts_of(const Product& product, const Profile& instance);

// Of the MIG instances that a pod on the node asks for, in words: "an instance of
// nvidia.com/mig-3g.40gb could be 1 of nvidia.com/mig-2g.20gb or 3 of nvidia.com/mig-1g.10gb".
// Empty: it asks for none, for what can't be cut further, or of GPUs that nobody knows.
std::string describe_recuts(const Node& node, const Pod& pod);

}  // namespace berth
