// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/stored_policy.h"

#include "apis/codec/decode_policy.h"

namespace berth::explore {

std::optional<GPUClusterPolicy> policy_after(const sim::Change& change) {
  if (change.kind == sim::Change::Kind::kDeleted) return std::nullopt;
  GPUClusterPolicy policy;
  std::optional<Error> error;
  read(JsonCursor(change.after.get(), error), policy);
  if (error) return std::nullopt;
  return policy;
}

}  // namespace berth::explore
