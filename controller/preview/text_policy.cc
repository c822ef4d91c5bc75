// SPDX-License-Identifier: Apache-2.0
#include "controller/preview/text_policy.h"

#include <fmt/format.h>

#include <iterator>
#include <set>

#include "controller/preview/tell.h"
#include "controller/preview/words.h"

namespace berth {
namespace {

using Out = std::back_insert_iterator<std::string>;

std::string_view told(LayoutSummary::Change change, bool removed = false) {
  if (removed) return "removed";
  switch (change) {
    case LayoutSummary::Change::kCreated:
      return "created";
    case LayoutSummary::Change::kEdited:
      return "edited";
    case LayoutSummary::Change::kUnchanged:
      return "unchanged";
    case LayoutSummary::Change::kDeleted:
      return "deleted";
  }
  return "?";
}

std::string told(const DisruptionStatus& windows) {
  if (windows.open)
    return windows.closes ? fmt::format("open until {}", format_time(*windows.closes)) : "open";
  return windows.next_opening
             ? fmt::format("closed, open from {}", format_time(*windows.next_opening))
             : "closed, and they do not open again";
}

// "label a/b=c", "taint a/b=c:NoSchedule".
std::string told(const PoolSummary::Edit& edit, const std::string& value) {
  return edit.effect.empty()
             ? fmt::format("label {}={}", edit.key, value)
             : "taint " + format(Taint{Text(edit.key), Text(value), Text(edit.effect)});
}

std::string told(const PoolSummary::Edit& edit) {
  const std::string nodes = name_some(edit.nodes);
  if (!edit.from) return fmt::format("sets {} on {}", told(edit, *edit.to), nodes);
  if (!edit.to) return fmt::format("takes {} from {}", told(edit, *edit.from), nodes);
  return fmt::format("sets {} in place of {} on {}", told(edit, *edit.to), *edit.from, nodes);
}

void print_pool(const PoolSummary& pool, Out out) {
  const bool empty = pool.enter.empty() && pool.leave.empty() && pool.stay == 0;
  const std::string nodes = empty ? std::string("selects no node that has GPUs")
                                  : fmt::format("{} enter, {} leave, {} stay", pool.enter.size(),
                                                pool.leave.size(), pool.stay);
  tell(out, "  pool {} ({}): {}{}\n", pool.name, told(pool.change, pool.removed), nodes,
       pool.sharing.empty() ? "" : "; " + pool.sharing);
  if (!pool.enter.empty()) tell(out, "    enter: {}\n", name_some(pool.enter));
  if (!pool.leave.empty()) tell(out, "    leave: {}\n", name_some(pool.leave));
  for (const PoolSummary::Edit& edit : pool.edits) tell(out, "    {}\n", told(edit));
}

}  // namespace

std::string print_text(const PolicySummary& policy) {
  std::string text;
  const Out out = std::back_inserter(text);
  tell(out, "\nGPUClusterPolicy/{} ({})\n", policy.name, told(policy.change));
  if (!policy.left.empty()) tell(out, "  {}\n", policy.left);
  if (policy.windows) tell(out, "  disruption windows: {}\n", told(*policy.windows));
  for (const PoolSummary& pool : policy.pools) print_pool(pool, out);
  for (const PoolConflict& conflict : policy.conflicts)
    tell(out, "  {} is selected by {}: {} owns it, being the first in the list\n", conflict.node,
         fmt::format("{}", fmt::join(conflict.pools, ", ")), conflict.pools.front());
  for (const Condition& condition : policy.conditions)
    if (condition.type == "Stalled" && condition.status == "True")
      tell(out, "  {}: {}\n", condition.reason, condition.message);
  if (policy.pods.empty()) return text;
  text += "\nRunning pods that conflict with the policy\n";
  for (const PodConcern& concern : policy.pods)
    tell(out, "  {} on {}\n    {}\n", name_some(concern.pods, "pod"), name_some(concern.nodes),
         concern.message);
  return text;
}

std::size_t nodes_edited(const PolicySummary& policy) {
  std::set<std::string> nodes;
  for (const PoolSummary& pool : policy.pools) {
    nodes.insert(pool.enter.begin(), pool.enter.end());
    nodes.insert(pool.leave.begin(), pool.leave.end());
    for (const PoolSummary::Edit& edit : pool.edits)
      nodes.insert(edit.nodes.begin(), edit.nodes.end());
  }
  return nodes.size();
}

}  // namespace berth
