// SPDX-License-Identifier: Apache-2.0
#include "tests/truth/side.h"

namespace berth::truth {

std::vector<Exchange> run(const Script& script, Side& side) {
  Memory memory;
  std::vector<Exchange> out;
  for (const Operation& operation : script.operations) {
    Request request = memory.fill(operation);
    Answer answer = side.answer(operation, request);
    memory.take(operation, answer);
    out.push_back({std::move(request), std::move(answer)});
  }
  return out;
}

}  // namespace berth::truth
