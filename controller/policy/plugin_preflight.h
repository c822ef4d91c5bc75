// SPDX-License-Identifier: Apache-2.0
// PluginPreflight: whether NVIDIA's device plugin would read what berth writes. The file is written
// in any case, since the plugin's pods don't start before it is there; no node is told to take up a
// config of it before it is read.
#pragma once

#include <optional>

#include "controller/core/cause.h"
#include "controller/core/snapshot.h"
#include "controller/policy/plugin_file.h"
#include "controller/policy/pool_survey.h"

namespace berth {

// Why the device plugin does not read berth's file although a pool asks for a config, with the line
// to set, or what has to be done first so that nodes keep what they use; nothing if NVIDIA's
// ClusterPolicy names it or, where that names none, a DaemonSet of the agents mounts it.
std::optional<Cause> plugin_not_configured(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                                           const PoolSurvey& survey, const PluginFile& file);

}  // namespace berth
