// SPDX-License-Identifier: Apache-2.0
// ResourceQuota: what the pods of a namespace may ask for in all, and what they ask for now.
#pragma once

#include "apis/meta.h"
#include "apis/quantity.h"

namespace berth {

struct ResourceQuota {
  ObjectMeta meta;
  // spec.hard. Keys are as quotas write them: "requests.nvidia.com/gpu" bounds the resource
  // nvidia.com/gpu.
  ResourceList hard;
  // status.used, by the API server's own count, which follows with a delay.
  ResourceList used;
  bool operator==(const ResourceQuota&) const = default;
};
template <>
inline constexpr KindInfo kKind<ResourceQuota>{"", "v1", "resourcequotas", "ResourceQuota", true};

}  // namespace berth
