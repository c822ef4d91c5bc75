// SPDX-License-Identifier: Apache-2.0
// RefusedWrite: a write that the API server refuses for good, for example because of an admission
// policy or webhook, missing rights, a quota, or an immutable field. Retrying fails until a user
// acts, so berth reports it in conditions. It is derived from Answers and stored nowhere else:
// after a crash berth tries the write again and the server refuses it again.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

// Neither a temporary error nor a conflict: the server refuses the same request again.
bool is_refusal(const Error& error);

struct RefusedWrite {
  std::string object;  // "Node/n3"
  // the purpose of the write, the server's words, and what would change the answer
  std::string message;
  Time at{};
  int times = 0;  // refusals in a row
  Time since{};   // time of the first of them
};

// The message about a refused write. `purpose` says what the write was for. It quotes the server's
// words, shortened.
std::string told_refusal(std::string_view purpose, const Error& error);

// The refusal, if the API server refused this field manager's last write of the object. It counts
// until berth must have tried the write again: retries back off for at most a minute.
std::optional<RefusedWrite> refused_write(const Snapshot& snapshot, const ObjectRef& object,
                                          std::string_view field_manager);
// The first by name of all objects for which the API server refused this field manager's last
// write.
std::optional<RefusedWrite> refused_write_by(const Snapshot& snapshot,
                                             std::string_view field_manager);

}  // namespace berth
