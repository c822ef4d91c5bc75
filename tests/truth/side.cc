// SPDX-License-Identifier: Apache-2.0
#include "tests/truth/side.h"

#include "tests/truth/objects.h"

namespace berth::truth {

void prepare(Side& side) {
  sim::Random random(0);
  ObjectWriter objects("zzz", random);
  for (const Kind& kind : kinds()) {
    if (kind.namespaced) continue;
    Operation operation{Verb::kCreate, std::string(kind.plural), "", "POST",
                        collection_path(kind, "")};
    operation.body = objects.full(kind, "zzz").dump();
    side.answer(operation, Memory().fill(operation));
  }
}

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
