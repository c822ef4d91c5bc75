// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>

namespace berth::queue::test {

// How many random cases a test tries: BERTH_QUEUE_CASES, or else as many as it is content with, as
// under sanitizers one takes ten times as long.
inline int cases(int otherwise) {
  const char* wanted = std::getenv("BERTH_QUEUE_CASES");
  return wanted == nullptr ? otherwise : std::atoi(wanted);
}

}  // namespace berth::queue::test
