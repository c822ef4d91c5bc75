// SPDX-License-Identifier: Apache-2.0
// PoolKeys: what the policy has set on a node, recorded in the node's annotation
// gpu.berth.dev/pool-keys. When the node leaves the pool, berth removes exactly this, whatever the
// policy says by then. Any other label or taint belongs to another writer.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "apis/kinds/core.h"

namespace berth {

// A label, or a taint identified by key and effect.
struct PoolItem {
  Text key;
  Text effect;  // empty: a label
  bool is_label() const { return effect.empty(); }
  std::string str() const;  // "label a/b", "taint a/b:NoSchedule"
  std::strong_ordering operator<=>(const PoolItem&) const = default;
  bool operator==(const PoolItem&) const = default;
};
using PoolItems = std::map<PoolItem, Text>;  // with their values

struct PoolKeys {
  std::string pool;
  PoolItems items;
  // How often berth has restored a value that another writer changed, since the items last changed.
  std::int64_t corrections = 0;
  bool operator==(const PoolKeys&) const = default;
};

// Returns JSON with members in a fixed order.
std::string encode_pool_keys(const PoolKeys& keys);
// Returns nothing if the text is not such an annotation: a user may have edited it.
std::optional<PoolKeys> decode_pool_keys(std::string_view text);

// Returns the node's value for the item; nothing if it has no such label or taint.
std::optional<Text> shown(const Node& node, const PoolItem& item);

}  // namespace berth
