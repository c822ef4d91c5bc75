// SPDX-License-Identifier: Apache-2.0
// PluginLabels: which nodes take up another config of the device plugin now. The plugin restarts
// with it and offers other resources, so where pods hold GPUs it is a disruption, and goes by the
// policy's windows and budgets. So do the labels and taints that no pool asks for any more. They go
// last: a node shares its GPUs no more before the loss of its taints lets other pods come.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controller/core/cause.h"
#include "controller/core/plan.h"
#include "controller/disruption/disruption_budgets.h"
#include "controller/policy/plugin_file.h"
#include "controller/policy/pool_survey.h"

namespace berth {

struct PluginLabels {
  std::vector<const PluginLabelDue*> take;  // to be labelled now
  std::vector<const RetreatDue*> retreat;   // whose labels and taints go now
  std::vector<const Node*> settling;        // that do not yet show what their label says
  std::int32_t waiting = 0;
  std::optional<Cause> why;  // of the first that waits
};

// `unread`: why the device plugin would not find its config in the file, if so. A key that it does
// not find takes it down, and the node's GPUs with it.
PluginLabels decide_plugin_labels(const Snapshot& snapshot, const PoolSurvey& survey,
                                  const PluginFile& file, const std::optional<Cause>& unread,
                                  DisruptionBudgets& budgets);

void plan_plugin_label(const PluginLabelDue& due, Plan& plan);
void plan_retreat(const RetreatDue& due, Plan& plan);

}  // namespace berth
