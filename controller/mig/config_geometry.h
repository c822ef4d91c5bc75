// SPDX-License-Identifier: Apache-2.0
// ConfigGeometry: what the entries of a mig-parted config do to the GPUs of one node.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "controller/fleet/geometry.h"
#include "controller/fleet/node_layout.h"
#include "controller/mig/agent_config.h"

namespace berth {

// Returns the GPU indices that an entry names, each once; nothing for "all". It stops at
// kMaxGpusPerEntry, more GPUs than any node has.
std::optional<std::vector<std::int64_t>> gpus_of(const MigConfigEntry& entry);

// Returns the product of a device-filter; "0x20B210DE" is device and vendor. nullptr: berth does
// not know it.
const Product* product_of_filter(std::string_view filter);

// Whether an entry is for any product.
bool takes_any_product(const MigConfigEntry& entry);

// Whether the config gives a node's GPUs the layout. Where entries overlap, the last one counts, as
// for mig-parted. mig-parted leaves a GPU that no entry names unchanged. Under strategy mixed such
// a GPU may count as MIG off: if the node offers what the layout promises, the GPU has no MIG
// instances.
bool config_gives(const std::vector<MigConfigEntry>& entries, const Product& product,
                  const NodeLayout& layout, MigStrategy strategy);

}  // namespace berth
