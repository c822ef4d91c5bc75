// SPDX-License-Identifier: Apache-2.0
// KeptConfigs: the configs that berth's file keeps because nodes name them, even if users wrote
// them. Once a mig-manager reads berth's file, it applies its node's config from there. If the
// content differed, it would repartition the node under running pods.
#pragma once

#include "controller/core/snapshot.h"
#include "controller/mig/agent_config.h"

namespace berth {

// Adds each config that a node names and `configs` lacks, from berth's file, or else from the file
// of each such node. NVIDIA's components generate a file per node, so contents may differ. Then
// each GPU model gets its own entries.
void add_kept_configs(const Snapshot& snapshot, MigConfigs& configs);

}  // namespace berth
