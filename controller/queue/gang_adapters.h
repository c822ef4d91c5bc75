// SPDX-License-Identifier: Apache-2.0
// Which gang a pod is of, by its labels, annotations and owner: berth's own, or a framework's that
// makes its pods to run together. Pure, and the same for all of a pod's life.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "apis/core.h"

namespace berth::queue {

struct Gang {
  std::string name;       // in its namespace: "ring", a framework's "JobSet:train"; empty: none
  std::string maker;      // for people: "group ring", "JobSet train"
  std::string role;       // empty: all its pods have one
  std::int64_t size = 0;  // 0: nobody says it, and the pods go one by one
  std::int64_t role_size = 0;  // 0: likewise
  bool of_framework = false;
  bool fast = false;
};

Gang gang_of(const ObjectMeta& pod);

// 0 of what is no whole number above 0.
std::int64_t read_gang_size(std::string_view digits);

}  // namespace berth::queue
