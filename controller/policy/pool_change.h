// SPDX-License-Identifier: Apache-2.0
// PoolChange: from what a node shows, what berth has put there and what its pool wants, what is to
// be changed. A key that was there before berth, or that somebody keeps changing, is left alone and
// told.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controller/core/writable_keys.h"
#include "controller/policy/pool_intent.h"
#include "controller/policy/pool_keys.h"

namespace berth {

// How often berth puts back what somebody else changed on a node before it leaves it to them.
inline constexpr std::int64_t kMaxCorrections = 3;

struct PoolEdit {
  PoolItem item;
  std::optional<Text> from;  // as the node shows it; nothing: absent
  std::optional<Text> to;    // nothing: taken away
};

struct PoolChange {
  std::vector<PoolEdit> edits;
  std::optional<std::string> record;  // the annotation's text to be; nothing: no annotation
  bool record_differs = false;
  std::vector<PoolItem> corrected;  // of the edits: somebody else had changed these
  std::vector<PoolItem> contested;  // somebody changed these once too often
  std::vector<PoolItem> foreign;    // stood there before, with another value
  std::vector<PoolItem> forbidden;  // berth may not write these, and leaves them as they are
  std::vector<PoolItem> kept;       // wanted no more, and not to be taken away yet

  bool empty() const { return edits.empty() && !record_differs; }
};

// When a label or taint goes that the pool does not ask for any more. Until then it stays recorded.
enum class Retreat { kNow, kLater };

// `intent` is null for a node that no pool selects. Without a record, nothing on the node is
// berth's. A record that can't be read is rebuilt: what the pool wants is berth's.
PoolChange compute_pool_change(const Node& node, const PoolIntent* intent,
                               const WritableKeys& may = {}, Retreat retreat = Retreat::kNow);

}  // namespace berth
