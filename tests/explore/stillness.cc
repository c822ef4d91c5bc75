// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/stillness.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "apis/kinds/mig_layout.h"
#include "tests/explore/promised.h"

namespace berth::explore {
namespace {

const Condition* find(const MIGLayout& layout, std::string_view type) {
  const auto& conditions = layout.status.conditions;
  const auto found = std::ranges::find_if(
      conditions, [&](const Condition& condition) { return condition.type == type; });
  return found == conditions.end() ? nullptr : &*found;
}

std::string judge_ready(const Truth& truth, const TrueLayout& layout, ScenarioRun& run) {
  for (const auto& [name, node] : truth.nodes) {
    if (!truth.selects(layout, node) || node.config.empty()) continue;
    const bool names_it = std::ranges::any_of(
        layout.object.status.configs,
        [&](const RenderedConfig& config) { return node.config.starts_with(config.name); });
    if (!names_it) continue;  // it belongs to another layout
    std::map<std::string, std::int64_t> is;
    for (const auto& [resource, count] : run.agents().devices(name))
      if (count != 0) is[resource] = count;
    const auto gpus = node.labels.find(names::kGpuCount);
    if (gpus == node.labels.end()) continue;
    if (is != promised(layout.object.spec, std::atoi(gpus->second.c_str())))
      return fmt::format("layout {} is Ready, and the GPUs of {} are cut otherwise",
                         layout.object.meta.name, name);
  }
  return "";
}

std::string judge_layout(const Truth& truth, const TrueLayout& layout, ScenarioRun& run) {
  const MIGLayout& object = layout.object;
  const Condition* ready = find(object, "Ready");
  if (ready == nullptr) return fmt::format("layout {} says nothing", object.meta.name);
  if (object.status.observed_generation != object.meta.generation)
    return fmt::format("layout {} tells of generation {}, and has {}", object.meta.name,
                       object.status.observed_generation, object.meta.generation);
  if (ready->status == "True") return judge_ready(truth, layout, run);
  if (ready->reason.empty() || ready->message.empty())
    return fmt::format("layout {} is {} without a reason", object.meta.name, ready->status);
  return "";
}

std::string judge_node(const Truth& truth, const std::string& name, const TrueNode& node) {
  const auto slot = truth.slots.find(name);
  const bool has_slot = slot != truth.slots.end() && slot->second.node_uid == node.uid;
  if (!node.open()) {
    if (has_slot && !node.record_text.empty() && node.record)
      return fmt::format("{} is back, and its slot is not", name);
    const bool known = node.out_for_health || (node.record && node.record->berth_cordoned);
    if (node.berth_cordoned && !node.disowned && !known)
      return fmt::format("{} is cordoned by berth, and berth has forgotten it", name);
    return "";
  }
  const auto layout = truth.layouts.find(node.record->layout_uid);
  const bool told = std::ranges::any_of(
      truth.layouts, [&](const auto& entry) { return tells_of(entry.second.object, name); });
  if (layout == truth.layouts.end() && !told && !node.held)
    return fmt::format("{} is {} for a layout that is gone", name, to_string(node.record->phase));
  if (!told) return fmt::format("{} is {} without a reason", name, to_string(node.record->phase));
  return "";
}

}  // namespace

std::string unstill(const Truth& truth, ScenarioRun& run) {
  for (const auto& [uid, layout] : truth.layouts)
    if (std::string why = judge_layout(truth, layout, run); !why.empty()) return why;
  for (const auto& [name, node] : truth.nodes)
    if (std::string why = judge_node(truth, name, node); !why.empty()) return why;
  for (const auto& [name, slot] : truth.slots)
    if (!truth.nodes.contains(name)) return fmt::format("the slot of {} outlives it", name);
  return "";
}

}  // namespace berth::explore
