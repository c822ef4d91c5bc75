// SPDX-License-Identifier: Apache-2.0
#include "apis/kinds/gpu_conditions.h"

#include <algorithm>
#include <iterator>

#include "apis/base/cut.h"

namespace berth {

const GpuCondition* find_gpu_condition(std::string_view type) {
  const auto* found = std::ranges::find(kGpuConditions, type, &GpuCondition::type);
  return found == std::end(kGpuConditions) ? nullptr : found;
}

void take_condition(std::string_view type, std::string_view status, std::string_view reason,
                    Node& node) {
  constexpr std::size_t kLongestReason = 64;
  if (type == "Ready") node.ready = status == "True";
  const GpuCondition* condition = find_gpu_condition(type);
  if (condition != nullptr && status == condition->bad)
    node.gpu_conditions.set(Text(type), Text(head(reason, kLongestReason)));
}

}  // namespace berth
