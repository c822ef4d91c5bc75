// SPDX-License-Identifier: Apache-2.0
// PolicyStatus: what a GPUClusterPolicy tells of itself: counts, conflicts, when nodes may be
// taken, and conditions after kstatus.
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
  const std::optional<Cause>& unread;  // the file, by the device plugin
  const PluginLabels& labels;
  const PriorityClassPlan& classes;
};

// The full desired status; `differs` from the one that stands is worked out here.
StatusUpdate compute_policy_status(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                                   const PolicyProgress& progress);
// Of one that nothing is done for: nothing was looked at, and what stood of the rest still stands.
StatusUpdate compute_stuck_status(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                                  const Cause& why);

}  // namespace berth
