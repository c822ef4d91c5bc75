// SPDX-License-Identifier: Apache-2.0
// PolicyStatus: the status of a GPUClusterPolicy: counts, conflicts, when nodes may be taken, and
// conditions as kstatus defines them.
#pragma once

#include "controller/core/cause.h"
#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "controller/policy/plugin_file.h"
#include "controller/policy/plugin_labels.h"
#include "controller/policy/pool_survey.h"
#include "controller/policy/priority_classes.h"

namespace berth {

struct PolicyProgress {
  const PoolSurvey& survey;
  const PluginFile& file;
  const std::optional<Cause>& unread;  // why the device plugin does not read the file
  const PluginLabels& labels;
  const PriorityClassPlan& classes;
};

// Returns the full desired status. `differs` says whether it differs from the current one.
StatusUpdate compute_policy_status(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                                   const PolicyProgress& progress);
// Returns the status of a policy that berth does not act on. It keeps all other fields, because
// nothing was checked.
StatusUpdate compute_stuck_status(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                                  const Cause& why);

}  // namespace berth
