// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/node_pool.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/fleet/node_facts.h"
#include "controller/fleet/pools.h"
#include "controller/policy/pool_change.h"
#include "controller/policy/pool_intent.h"
#include "controller/policy/pool_keys.h"
#include "controller/preview/words.h"

namespace berth {
namespace {

std::string told(const PoolItem& item, const Text& value) {
  return item.is_label() ? fmt::format("label {}={}", item.key.view(), value.view())
                         : "taint " + format(Taint{item.key, value, item.effect});
}

// Which of the pool's labels and taints the node has, by berth's own annotation, and which not.
void note_pool_keys(const Snapshot& snapshot, const Node& node, const PoolSpec& pool,
                    Explanation& out) {
  const PoolIntent intent = intent_of(pool, agent_tolerations(snapshot));
  const PoolChange change = compute_pool_change(node, &intent);
  std::vector<std::string> put, due, others, held_back;
  if (const Text* record = node.meta.annotations.find(names::kPoolKeysAnnotation))
    if (const auto keys = decode_pool_keys(record->view()))
      for (const auto& [item, value] : keys->items) put.push_back(told(item, value));
  if (std::string_view config = label_of(node, names::kDevicePluginConfig); !config.empty())
    put.push_back(fmt::format("label {}={}", names::kDevicePluginConfig, config));
  for (const PoolEdit& edit : change.edits)
    due.push_back(edit.to ? told(edit.item, *edit.to) : "no " + edit.item.str());
  for (const std::vector<PoolItem>* items : {&change.contested, &change.foreign})
    for (const PoolItem& item : *items) others.push_back(item.str());
  for (const Taint& taint : intent.held_back) held_back.push_back("taint " + format(taint));
  if (!put.empty()) out.add("pool", fmt::format("berth has put there {}", fmt::join(put, ", ")));
  if (!due.empty()) out.add("pool", fmt::format("still to be put there: {}", fmt::join(due, ", ")));
  if (!others.empty())
    out.add("pool", fmt::format("left as somebody else set it: {}", fmt::join(others, ", ")),
            reasons::kKeysContested);
  if (!held_back.empty())
    out.add(
        "pool",
        fmt::format("held back, since NVIDIA's agents do not tolerate it: {}; let ClusterPolicy's "
                    "spec.daemonsets.tolerations do so",
                    fmt::join(held_back, ", ")),
        reasons::kOperandsNotTolerant);
}

// What happens to the label on a node that no pool selects.
std::string fate_of_label(const Node& node, std::string_view label) {
  if (label.empty()) return {};
  const PoolChange change = compute_pool_change(node, nullptr);
  const bool leaves = std::ranges::any_of(change.edits, [](const PoolEdit& edit) {
    return edit.item.is_label() && edit.item.key == names::kPoolLabel;
  });
  return leaves ? fmt::format("; berth removes label {}={}, as far as spec.disruption allows it",
                              names::kPoolLabel, label)
                : fmt::format(
                      "; label {}={} is not berth's and stays: remove it there and in the "
                      "node group's template, or let the pool select the node",
                      names::kPoolLabel, label);
}

}  // namespace

void note_pool(const Snapshot& snapshot, const Node& node, Explanation& out) {
  const GPUClusterPolicy* policy = find_policy(snapshot.cluster);
  const std::string_view label = label_of(node, names::kPoolLabel);
  if (policy == nullptr) {
    if (!label.empty())
      out.add("pool", fmt::format("labelled {}={}, but there is no GPUClusterPolicy",
                                  names::kPoolLabel, label));
    return;
  }
  const std::vector<const PoolSpec*> pools = pools_selecting(*policy, node);
  if (pools.empty()) {
    out.add("pool", "none: no pool's nodeSelector takes it" + fate_of_label(node, label));
    return;
  }
  const PoolSpec& pool = *pools.front();
  out.add("pool", fmt::format("{}: its nodeSelector is {}", pool.name, format(pool.node_selector)));
  if (!may_join_pools(node))
    return out.add("pool", "the node shows no GPU yet; berth adds the pool's label once it does");
  if (pools.size() > 1) {
    std::vector<std::string> others;
    for (std::size_t i = 1; i < pools.size(); ++i) others.push_back(pools[i]->name);
    out.add("pool",
            fmt::format("{} would take it too; the first in the policy's list has it: narrow a "
                        "nodeSelector",
                        name_some(others, "pool")),
            reasons::kPoolConflict);
  }
  note_pool_keys(snapshot, node, pool, out);
}

}  // namespace berth
