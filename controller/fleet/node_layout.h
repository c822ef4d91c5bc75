// SPDX-License-Identifier: Apache-2.0
// NodeLayout: spec.devices resolved for one kind of node, GPU by GPU. A layout that the API server
// accepted can still be wrong here, because the server knows neither products nor GPU counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/base/result.h"
#include "apis/kinds/mig_layout.h"
#include "controller/fleet/geometry.h"

namespace berth {

// What each GPU of a node should have, by index in PCI-bus order. An empty set is MIG off.
struct NodeLayout {
  std::vector<ProfileCounts> per_gpu;
  bool operator==(const NodeLayout&) const = default;
};

// Each GPU index of the node gets exactly one entry. Zero counts are dropped. Errors are
// kInvalidSpec, and `where` is the field: spec.devices, spec.devices[i].gpus or
// spec.devices[i].profiles.
Result<NodeLayout> resolve_layout(const std::vector<DeviceLayout>& devices, const Product& product,
                                  std::int32_t gpu_count);

// "3g.40gb ×1 + 2g.20gb ×1 + 1g.10gb ×2", largest first; "MIG off" for an empty set.
std::string format(const ProfileCounts& counts);
// "GPUs 0-1: 3g.40gb ×1 + …; GPUs 2-3: MIG off".
std::string format(const NodeLayout& layout);

// What the device plugin advertises: label nvidia.com/mig.strategy, or else ClusterPolicy, or else
// the pool.
enum class MigStrategy { kNone, kSingle, kMixed };
std::optional<MigStrategy> parse_mig_strategy(std::string_view text);
const char* to_string(MigStrategy strategy);

// Whether the device plugin can advertise the layout: `single` needs one profile on every GPU (or
// MIG off on every GPU), and `none` shows no MIG device.
Result<void> check_strategy(const NodeLayout& layout, MigStrategy strategy);

}  // namespace berth
