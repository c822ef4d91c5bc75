// SPDX-License-Identifier: Apache-2.0
// Side: one of the two that are compared, and what it answers to a script.
#pragma once

#include <vector>

#include "tests/truth/memory.h"
#include "tests/truth/operation.h"

namespace berth::truth {

class Side {
 public:
  virtual ~Side() = default;
  virtual Answer answer(const Operation& operation, const Request& request) = 0;
};

// What was sent and what came back, one by one.
struct Exchange {
  Request request;
  Answer answer;
};
// Puts an object behind all scripts' objects of the cluster-scoped kinds: whether a page is the
// last one must not depend on what other scripts have left.
void prepare(Side& side);
std::vector<Exchange> run(const Script& script, Side& side);

}  // namespace berth::truth
