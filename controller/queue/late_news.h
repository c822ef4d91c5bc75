// SPDX-License-Identifier: Apache-2.0
// LateNews: that this leader has not heard as much as the one before it (heard_before.h), and so
// admits nobody. At a takeover that is over in a moment; what lasts is told.
#pragma once

#include <optional>

#include "controller/core/cause.h"
#include "controller/core/snapshot.h"

namespace berth::queue {

struct LateNews {
  std::optional<Cause> cause;     // to be told
  std::optional<Duration> again;  // when to look again, as long as it has not heard
};
LateNews find_late_news(const Snapshot& snapshot);

}  // namespace berth::queue
