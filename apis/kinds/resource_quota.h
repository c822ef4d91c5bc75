// SPDX-License-Identifier: Apache-2.0
// ResourceQuota: what the pods of a namespace may request in total, and what they request now.
#pragma once

#include "apis/base/quantity.h"
#include "apis/kinds/meta.h"

namespace berth {

struct ResourceQuota {
  ObjectMeta meta;
  // spec.hard. Its keys have a prefix: "requests.nvidia.com/gpu" limits the resource
  // nvidia.com/gpu.
  ResourceList hard;
  // status.used, as the API server counts it, with a delay.
  ResourceList used;
  bool operator==(const ResourceQuota&) const = default;
};
template <>
inline constexpr KindInfo kKind<ResourceQuota>{"", "v1", "resourcequotas", "ResourceQuota", true};

}  // namespace berth
