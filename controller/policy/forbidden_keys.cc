// SPDX-License-Identifier: Apache-2.0
#include "controller/policy/forbidden_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "apis/base/reasons.h"
#include "apis/kinds/mig_layout.h"

namespace berth {
namespace {

constexpr char kUpgrade[] = "helm upgrade berth … --reset-then-reuse-values";

// Returns the --set argument for the chart's value that has to name the label or taint keys.
std::string value_of(bool labels, const ForbiddenKeys& forbidden, const KeyList& standing) {
  std::vector<std::string> keys = standing.keys;
  for (const ForbiddenKey& key : forbidden)
    if (key.item.is_label() == labels) keys.push_back(key.item.key.str());
  if (keys.size() == standing.keys.size()) return {};
  return fmt::format(" --set '{}={{{}}}'", labels ? "nodeKeys" : "policy.taintKeys",
                     fmt::join(keys, ","));
}

std::string told(const PoolItem& item) {
  return fmt::format("{} {}", item.is_label() ? "label" : "taint", item.key.view());
}

std::string subject(const ForbiddenKey& first, std::size_t more) {
  const std::string others =
      more == 0 ? std::string() : fmt::format(", and {} more key{}", more, more == 1 ? "" : "s");
  return first.leaving
             ? fmt::format("pool {} had set {}{}, which the chart does not allow berth to remove",
                           first.pool, told(first.item), others)
             : fmt::format("pool {} sets {}{}, which the chart does not allow berth to write",
                           first.pool, told(first.item), others);
}

}  // namespace

bool may_write(const WritableKeys& keys, const PoolItem& item) {
  return (item.is_label() ? keys.labels : keys.taints).contains(item.key.view());
}

void add_forbidden(const ForbiddenKey& key, ForbiddenKeys& to) {
  const auto same = std::ranges::find_if(to, [&](const ForbiddenKey& other) {
    return other.item.key == key.item.key && other.item.is_label() == key.item.is_label();
  });
  if (same == to.end())
    to.push_back(key);
  else
    same->nodes += key.nodes;
}

ForbiddenKeys forbidden_by_spec(const GPUClusterPolicy& policy, const WritableKeys& keys) {
  ForbiddenKeys forbidden;
  const std::vector<PoolSpec>& pools = policy.spec.pools;
  for (std::size_t i = 0; i < pools.size(); ++i) {
    const auto look_at = [&](std::string field, PoolItem item) {
      if (!may_write(keys, item))
        add_forbidden({.pool = pools[i].name,
                       .field = fmt::format("spec.pools[{}].{}", i, field),
                       .item = std::move(item)},
                      forbidden);
    };
    for (const auto& [key, value] : pools[i].labels)
      look_at(fmt::format("labels[{}]", key.view()), {key, {}});
    for (std::size_t j = 0; j < pools[i].taints.size(); ++j)
      look_at(fmt::format("taints[{}]", j), {pools[i].taints[j].key, pools[i].taints[j].effect});
  }
  return forbidden;
}

std::string line_that_allows(const ForbiddenKeys& forbidden, const WritableKeys& keys) {
  return kUpgrade + value_of(true, forbidden, keys.labels) +
         value_of(false, forbidden, keys.taints);
}

std::optional<Cause> key_forbidden(const ForbiddenKeys& forbidden, const WritableKeys& keys) {
  if (forbidden.empty()) return std::nullopt;
  const std::string line = "; run " + line_that_allows(forbidden, keys);
  const std::string head = subject(forbidden.front(), forbidden.size() - 1);
  // The command matters more than its purpose, and half a command is useless.
  for (const std::string& text : {head + line, "the chart keeps berth from keys of pools" + line})
    if (text.size() <= limits::kMaxMessage) return Cause{reasons::kKeyForbidden, text};
  return Cause{reasons::kKeyForbidden,
               head +
                   "; name every key of the pools in helm's values nodeKeys and "
                   "policy.taintKeys"};
}

}  // namespace berth
