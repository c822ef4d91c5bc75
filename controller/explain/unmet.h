// SPDX-License-Identifier: Apache-2.0
// Unmet: the first thing that a pod asks of a node's labels and that the node does not have.
#pragma once

#include <string>
#include <string_view>

#include "apis/core.h"

namespace berth {

struct Unmet {
  std::string asked;  // "nodeSelector tier=training"
  std::string found;  // "tier=research", "no tier"
  // Where a single value is asked for under a key: both, else empty.
  std::string key, value;
};
// `node` is one that the pod does not select.
Unmet unmet_of(const Pod& pod, const Node& node);
// "not selected: the pod asks for …, and here it is …".
std::string told(const Unmet& unmet);

// Without the affinity that the webhook added: made anew in a namespace to which other pools are
// open, the pod would get another.
Pod as_written(const Pod& pod);

}  // namespace berth
