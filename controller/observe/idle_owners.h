// SPDX-License-Identifier: Apache-2.0
// IdleOwners: whose the pods are that are told of idle GPUs, so that whoever looks at the
// StatefulSet or the Job hears of it as well: `kubectl describe` shows an object's own events
// alone.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "controller/observe/gpu_use.h"

namespace berth {

class IdleOwners {
 public:
  // One that is told now; those that were told before are their owner's no longer news.
  void add(const Snapshot& snapshot, const PodUse& use);
  // One event for each owner, however many of its pods are told. `tail` of one of them ends its
  // note.
  void tell(const std::function<std::string(const Pod&)>& tail, Plan& plan) const;

 private:
  struct Owned {
    std::string api_version;
    std::vector<const Pod*> pods;
    std::int64_t gpus = 0;
  };
  std::map<ObjectRef, Owned> owners_;
};

}  // namespace berth
