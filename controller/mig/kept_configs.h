// SPDX-License-Identifier: Apache-2.0
// KeptConfigs: the configs that the agents' file keeps because nodes name them, whoever wrote them.
// Once mig-manager reads berth's file it asserts them there, and cuts a node again, under its pods,
// where the file says something else than before.
#pragma once

#include "controller/core/snapshot.h"
#include "controller/mig/agent_config.h"

namespace berth {

// Adds each config that a node names and `configs` lacks: as berth's file has it, else as the file
// of each such node has it. Where these differ, since NVIDIA's agents generate a file for each
// node, each GPU model gets entries of its own.
void add_kept_configs(const Snapshot& snapshot, MigConfigs& configs);

}  // namespace berth
