// SPDX-License-Identifier: Apache-2.0
// PluginLabels: which nodes change their device plugin config now. The plugin restarts with it and
// offers other resources. So on nodes where pods hold GPUs this is a disruption, within the
// policy's windows and budgets. The same holds for the removal of labels and taints that no pool
// asks for any more. These are removed last: a node must stop sharing its GPUs before the loss of
// its taints lets other pods come.
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
  std::vector<const PluginLabelDue*> take;  // nodes to label now
  std::vector<const RetreatDue*> retreat;   // nodes whose labels and taints are removed now
  std::vector<const Node*> settling;        // nodes that do not show yet what their label says
  std::int32_t waiting = 0;
  std::optional<Cause> why;  // why the first waiting node waits
};

// `unread` says why the device plugin would not find its config in the file, if so. A plugin that
// does not find its key stops, and the node loses its GPUs.
PluginLabels decide_plugin_labels(const Snapshot& snapshot, const PoolSurvey& survey,
                                  const PluginFile& file, const std::optional<Cause>& unread,
                                  DisruptionBudgets& budgets);

void plan_plugin_label(const PluginLabelDue& due, Plan& plan);
void plan_retreat(const RetreatDue& due, Plan& plan);

}  // namespace berth
