// SPDX-License-Identifier: Apache-2.0
// IdleOwners: the owners of the pods that berth reports as idle. Each gets an event of its own,
// because `kubectl describe` of a StatefulSet or a Job shows only events about that object.
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
  // Adds a pod that berth reports now. Pods that it has reported before are no news for the owner.
  void add(const Snapshot& snapshot, const PodUse& use);
  // Plans one event for each owner, however many of its pods are idle. The note ends with `tail` of
  // the first of these pods.
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
