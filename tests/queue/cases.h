// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>

namespace berth::queue::test {

// How many random cases a test tries: BERTH_QUEUE_CASES, or the test's own number, since with
// sanitizers a case takes ten times as long.
inline int cases(int otherwise) {
  const char* wanted = std::getenv("BERTH_QUEUE_CASES");
  return wanted == nullptr ? otherwise : std::atoi(wanted);
}

}  // namespace berth::queue::test
