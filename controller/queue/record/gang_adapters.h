// SPDX-License-Identifier: Apache-2.0
// Gang: the group that a pod belongs to, by its labels, annotations and owner. The group is berth's
// own, or that of a framework whose pods run together. The answer is the same for all of a pod's
// life.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "apis/kinds/core.h"

namespace berth::queue {

struct Gang {
  std::string name;       // in its namespace: "ring", or of a framework "JobSet:train"; empty: none
  std::string maker;      // for users: "group ring", "JobSet train"
  std::string role;       // empty: all its pods have the same role
  std::int64_t size = 0;  // 0: not stated, and berth admits the pods one by one
  std::int64_t role_size = 0;  // 0: not stated
  bool of_framework = false;
  bool fast = false;
};

Gang gang_of(const ObjectMeta& pod);

// Returns 0 if the text is not a whole number above 0.
std::int64_t read_gang_size(std::string_view digits);

}  // namespace berth::queue
