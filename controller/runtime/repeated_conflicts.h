// SPDX-License-Identifier: Apache-2.0
// RepeatedConflicts: tells a conflict that another look at the object resolves from one that comes
// again and again while the object stays as it is. The second is an error, in berth or in the API
// server: nobody else will end it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "controller/core/plan.h"
#include "controller/runtime/write_barrier.h"

namespace berth {

class RepeatedConflicts {
 public:
  // A write that the key planned conflicted, and the cache holds this version of the object.
  // Returns whether it has been the same version kUnchanged times in a row, for the first time or
  // again after as many.
  bool note(const std::string& key, const ObjectRef& object, const CachedVersion& cached);
  void forget(const std::string& key) { last_.erase(key); }

 private:
  // With the backoff of the work queue more than a second lies between the first and the last, so
  // that the object was fetched past its watch in between.
  static constexpr std::uint32_t kUnchanged = 8;
  struct Last {
    ObjectRef object;
    std::string resource_version;
    std::uint32_t times = 0;
  };
  std::map<std::string, Last> last_;  // by key
};

}  // namespace berth
