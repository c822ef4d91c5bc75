// SPDX-License-Identifier: Apache-2.0
// KeeperFacts: how the keeping of the webhook's certificates goes, for /metrics.
#pragma once

#include <optional>

#include "apis/time.h"

namespace berth {

struct KeeperFacts {
  std::optional<Time> last_success;   // of a check: all was as it should be
  std::optional<Time> authority_end;  // by the last check that could read it
  std::optional<Time> leaf_end;
  double failures_total = 0;  // checks that could not read or write something
};

}  // namespace berth
