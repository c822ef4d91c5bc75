// SPDX-License-Identifier: Apache-2.0
// LateNews: this leader's watches have not yet delivered what the leader before it had seen
// (heard_before.h), so it admits no workload. After a change of leader this takes a moment. If it
// lasts longer, berth reports it.
#pragma once

#include <optional>

#include "controller/core/cause.h"
#include "controller/core/snapshot.h"

namespace berth::queue {

struct LateNews {
  std::optional<Cause> cause;     // to report
  std::optional<Duration> again;  // when to check again, while it is behind
};
LateNews find_late_news(const Snapshot& snapshot);

}  // namespace berth::queue
