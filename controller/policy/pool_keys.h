// SPDX-License-Identifier: Apache-2.0
// PoolKeys: what the policy has put on a node, as the node's own annotation gpu.berth.dev/pool-keys
// says. Leaving a pool takes exactly that away, whatever the policy says by then; a label or taint
// that is not in it is somebody else's.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "apis/core.h"

namespace berth {

// A label, or a taint by what makes it unique on its node.
struct PoolItem {
  Text key;
  Text effect;  // empty: a label
  bool is_label() const { return effect.empty(); }
  std::string str() const;  // "label a/b", "taint a/b:NoSchedule"
  std::strong_ordering operator<=>(const PoolItem&) const = default;
  bool operator==(const PoolItem&) const = default;
};
using PoolItems = std::map<PoolItem, Text>;  // each with its value

struct PoolKeys {
  std::string pool;
  PoolItems items;
  // How often berth has put back what somebody else changed, since the items are what they are.
  std::int64_t corrections = 0;
  bool operator==(const PoolKeys&) const = default;
};

// JSON in a fixed order.
std::string encode_pool_keys(const PoolKeys& keys);
// Nothing if the text is no such annotation: a person may have edited it.
std::optional<PoolKeys> decode_pool_keys(std::string_view text);

// The value that the node shows for the item; nothing if it has no such label or taint.
std::optional<Text> shown(const Node& node, const PoolItem& item);

}  // namespace berth
