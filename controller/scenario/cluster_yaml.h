// SPDX-License-Identifier: Apache-2.0
// ClusterYaml: the cluster of a scenario file, read strictly: its nodes, workloads and objects, and
// the settings of actors and berth.
#pragma once

#include <vector>

#include "apis/kinds/layout_fields.h"
#include "controller/scenario/fields.h"
#include "controller/scenario/scenario.h"

namespace berth {

// Fills the scenario from `nodes`, `workloads`, `objects`, `kube`, `agents`, `settings` and
// `certificates`.
void read_cluster(Fields& top, Scenario& scenario, std::vector<Complaint>& complaints);

// "minAvailable: 2" or "maxUnavailable: 25%" as field and value; an error says what is wrong.
struct BudgetText {
  std::string field;
  std::string value;  // a whole number, or a percentage
};
Result<BudgetText> parse_budget(const std::string& text);

// The label nvidia.com/gpu.product for a label value or a short model name ("A100-80GB").
Result<std::string> product_label(const std::string& text);

}  // namespace berth
