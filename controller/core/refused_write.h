// SPDX-License-Identifier: Apache-2.0
// RefusedWrite: a write that the API server refuses for good: an admission policy or webhook,
// rights, a quota, a field that can't be changed. Sending it again is of no use until somebody
// acts, and so it has to be told where people look. Read from the answers, so that nothing of it is
// kept: after a crash the write is tried again, and refused again.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

// No state that passes, and no conflict: asked again unchanged the server says the same.
bool is_refusal(const Error& error);

struct RefusedWrite {
  std::string object;   // "Node/n3"
  std::string message;  // what was to be done, the server's words, and what would change it
  Time at{};
  int times = 0;  // in a row
  Time since{};   // of the first of them
};

// The sentence for a write that was for `purpose`. The server's words are quoted and bounded.
std::string told_refusal(std::string_view purpose, const Error& error);

// Whether the last write of the object by this field manager was refused. Counts for as long as a
// write that is tried again with backoff stays away, and no longer.
std::optional<RefusedWrite> refused_write(const Snapshot& snapshot, const ObjectRef& object,
                                          std::string_view field_manager);
// The first by name of all objects whose last write by this field manager was refused.
std::optional<RefusedWrite> refused_write_by(const Snapshot& snapshot,
                                             std::string_view field_manager);

}  // namespace berth
