// SPDX-License-Identifier: Apache-2.0
// PluginPreflight: whether NVIDIA's device plugin reads the file that berth writes. berth writes
// the file anyway, because the plugin's pods don't start without it. berth labels no node before
// the plugin reads the file.
#pragma once

#include <optional>

#include "controller/core/cause.h"
#include "controller/core/snapshot.h"
#include "controller/policy/plugin_file.h"
#include "controller/policy/pool_survey.h"

namespace berth {

// Returns why the device plugin does not read berth's file although a pool asks for a config, with
// the line to set, or with what has to be done first so that nodes keep their configs. Nothing if
// NVIDIA's ClusterPolicy names the file, or, if it names none, a DaemonSet of NVIDIA's components
// mounts it.
std::optional<Cause> plugin_not_configured(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                                           const PoolSurvey& survey, const PluginFile& file);

}  // namespace berth
