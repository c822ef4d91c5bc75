// SPDX-License-Identifier: Apache-2.0
// Allocatable: what a node's status must offer once a layout is in force. This, not the agent's
// word, ends a repartition.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "apis/flat_map.h"
#include "apis/quantity.h"
#include "controller/fleet/node_layout.h"

namespace berth {

// How the device plugin multiplies one resource: time-slicing (or MPS, on whole GPUs).
struct ResourceSharing {
  std::int64_t replicas = 1;
  bool renamed = false;  // renameByDefault: advertised as <name>.shared
  bool operator==(const ResourceSharing&) const = default;
};
// By base resource name (nvidia.com/gpu, nvidia.com/mig-1g.10gb). What is not named is not shared.
using Sharing = std::map<std::string, ResourceSharing>;

// As gpu-feature-discovery's labels tell it. Labels lag behind the node by up to a minute, and say
// nothing of profiles that the node does not have yet.
Sharing read_sharing(const StringMap& node_labels);

// "1g.10gb+me" → "nvidia.com/mig-1g.10gb.me".
std::string mig_resource_name(std::string_view profile);
// The profile of the product that the MIG resource offers, by any driver's name; nullptr: none.
const Profile* profile_behind(const Product& product, std::string_view mig_resource);

// Resource name → count. A layout that the strategy can't show (check_strategy) promises nothing.
std::map<std::string, std::int64_t> expected_allocatable(const NodeLayout& layout,
                                                         MigStrategy strategy,
                                                         const Sharing& sharing);

// Nothing if the node offers exactly what is expected of NVIDIA's resources: a missing resource and
// one of 0 are the same, and no other may be above 0. Else a sentence part that names each
// difference.
std::optional<std::string> allocatable_mismatch(const std::map<std::string, std::int64_t>& expected,
                                                const ResourceList& actual);

// Whether the node offers of each of NVIDIA's resources at most what is expected.
bool allocatable_within(const std::map<std::string, std::int64_t>& expected,
                        const ResourceList& actual);

}  // namespace berth
