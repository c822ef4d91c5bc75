// SPDX-License-Identifier: Apache-2.0
// RepeatedConflicts: distinguishes a conflict that a new look at the object resolves from one that
// repeats while the object does not change. The second one is an error in berth or in the API
// server, and does not end by itself.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "controller/core/plan.h"
#include "controller/runtime/write_barrier.h"

namespace berth {

class RepeatedConflicts {
 public:
  // Call it after a conflict of a write that the key planned, with the cached version of the
  // object. Returns true when the version has been the same kUnchanged times in a row, and again
  // after as many.
  bool note(const std::string& key, const ObjectRef& object, const CachedVersion& cached);
  void forget(const std::string& key) { last_.erase(key); }

 private:
  // With the work queue's backoff, more than a second passes from the first to the last, so that
  // the object was fetched live in between.
  static constexpr std::uint32_t kUnchanged = 8;
  struct Last {
    ObjectRef object;
    std::string resource_version;
    std::uint32_t times = 0;
  };
  std::map<std::string, Last> last_;  // by key
};

}  // namespace berth
