// SPDX-License-Identifier: Apache-2.0
// ConfigGeometry: what the entries of a mig-parted config make of the GPUs of one node.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "controller/fleet/geometry.h"
#include "controller/fleet/node_layout.h"
#include "controller/mig/agent_config.h"

namespace berth {

// The GPU indices that an entry names, each once; nothing for "all". No more than what is too many
// for any node.
std::optional<std::vector<std::int64_t>> gpus_of(const MigConfigEntry& entry);

// The product behind a device-filter: "0x20B210DE" is device and vendor. nullptr: nothing that
// berth knows.
const Product* product_of_filter(std::string_view filter);

// Whether an entry is for any product.
bool takes_any_product(const MigConfigEntry& entry);

// Whether the config makes of a node's GPUs what the layout asks for. Where entries overlap, the
// last one counts, as for mig-parted. mig-parted leaves a GPU that no entry names as it is; under
// strategy mixed such a GPU may pass for MIG off, since a node that offers what the layout promises
// has no other GPU there.
bool config_gives(const std::vector<MigConfigEntry>& entries, const Product& product,
                  const NodeLayout& layout, MigStrategy strategy);

}  // namespace berth
