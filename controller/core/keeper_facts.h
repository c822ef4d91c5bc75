// SPDX-License-Identifier: Apache-2.0
// KeeperFacts: for /metrics, the state of the certificate manager process.
#pragma once

#include <optional>

#include "apis/base/time.h"

namespace berth {

struct KeeperFacts {
  std::optional<Time> last_success;   // of a check that found the certificates valid and in place
  std::optional<Time> authority_end;  // according to the last check that could read it
  std::optional<Time> leaf_end;
  double failures_total = 0;  // checks that could not read or write an object
};

}  // namespace berth
