// SPDX-License-Identifier: Apache-2.0
// Side: one of the two compared servers, with its answers to a script.
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

// One request and its answer.
struct Exchange {
  Request request;
  Answer answer;
};
// Creates an object that sorts after all scripts' objects of the cluster-scoped kinds: whether a
// page is the last one must not depend on other scripts' objects.
void prepare(Side& side);
std::vector<Exchange> run(const Script& script, Side& side);

}  // namespace berth::truth
