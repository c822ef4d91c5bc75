// SPDX-License-Identifier: Apache-2.0
// Unmet: the first requirement of a pod that a node's labels do not meet.
#pragma once

#include <string>
#include <string_view>

#include "apis/kinds/core.h"

namespace berth {

struct Unmet {
  std::string asked;  // "nodeSelector tier=training"
  std::string found;  // "tier=research", "no tier"
  // Both set if the pod requires a single value of a key; else empty.
  std::string key, value;
};
// `node` must be one that the pod does not select.
Unmet unmet_of(const Pod& pod, const Node& node);
// "not selected: the pod asks for …, and here it is …".
std::string told(const Unmet& unmet);

// The pod without the affinity that the webhook added: in a namespace with other pools, a
// re-created pod would get another one.
Pod as_written(const Pod& pod);

}  // namespace berth
