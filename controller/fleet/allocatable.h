// SPDX-License-Identifier: Apache-2.0
// Allocatable: what a node's status must offer once a layout is in effect. This, and not
// mig-manager's report, ends a repartitioning.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "apis/base/flat_map.h"
#include "apis/base/quantity.h"
#include "controller/fleet/node_layout.h"

namespace berth {

// How the device plugin multiplies one resource: time-slicing (or MPS, on whole GPUs).
struct ResourceSharing {
  std::int64_t replicas = 1;
  bool renamed = false;  // renameByDefault: advertised as <name>.shared
  bool operator==(const ResourceSharing&) const = default;
};
// By base resource name (nvidia.com/gpu, nvidia.com/mig-1g.10gb). A resource that is not listed is
// not shared.
using Sharing = std::map<std::string, ResourceSharing>;

// Reads the labels of gpu-feature-discovery. They lag behind the node by up to a minute, and have
// no profiles that the node does not have yet.
Sharing read_sharing(const StringMap& node_labels);

// "1g.10gb+me" → "nvidia.com/mig-1g.10gb.me".
std::string mig_resource_name(std::string_view profile);
// Returns the product's profile for the MIG resource, by any driver's name; nullptr: none.
const Profile* profile_behind(const Product& product, std::string_view mig_resource);

// Returns resource name → count. A layout that the strategy can't show (check_strategy) promises
// nothing.
std::map<std::string, std::int64_t> expected_allocatable(const NodeLayout& layout,
                                                         MigStrategy strategy,
                                                         const Sharing& sharing);

// Returns nothing if the node offers exactly what is expected of NVIDIA's resources. A missing
// resource equals one of 0, and no other one may be above 0. Otherwise it returns a part of a
// sentence that names each difference.
std::optional<std::string> allocatable_mismatch(const std::map<std::string, std::int64_t>& expected,
                                                const ResourceList& actual);

// Whether the node offers of each of NVIDIA's resources at most the expected count.
bool allocatable_within(const std::map<std::string, std::int64_t>& expected,
                        const ResourceList& actual);

}  // namespace berth
