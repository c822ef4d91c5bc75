// SPDX-License-Identifier: Apache-2.0
// PoolChange: what to change on a node, computed from what the node shows, what berth has set
// there, and what its pool wants. berth leaves a key alone, and reports it, if it existed before
// berth or another writer keeps changing it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controller/core/writable_keys.h"
#include "controller/policy/pool_intent.h"
#include "controller/policy/pool_keys.h"

namespace berth {

// How often berth restores a value that another writer changed on a node. After that it leaves the
// value alone.
inline constexpr std::int64_t kMaxCorrections = 3;

struct PoolEdit {
  PoolItem item;
  std::optional<Text> from;  // as the node shows it; nothing: absent
  std::optional<Text> to;    // nothing: removed
};

struct PoolChange {
  std::vector<PoolEdit> edits;
  std::optional<std::string> record;  // the annotation's new text; nothing: no annotation
  bool record_differs = false;
  std::vector<PoolItem> corrected;  // edits of values that another writer had changed
  std::vector<PoolItem> contested;  // another writer changed these too often
  std::vector<PoolItem> foreign;    // existed before, with another value
  std::vector<PoolItem> forbidden;  // berth may not write these, and leaves them as they are
  std::vector<PoolItem> kept;       // no longer wanted, and not to be removed yet

  bool empty() const { return edits.empty() && !record_differs; }
};

// When to remove a label or taint that the pool no longer wants. Until then it stays recorded.
enum class Retreat { kNow, kLater };

// `intent` is null for a node that no pool selects. Without a record, nothing on the node is
// berth's. An unreadable record is rebuilt: what the pool wants counts as berth's.
PoolChange compute_pool_change(const Node& node, const PoolIntent* intent,
                               const WritableKeys& may = {}, Retreat retreat = Retreat::kNow);

}  // namespace berth
