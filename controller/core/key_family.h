// SPDX-License-Identifier: Apache-2.0
// KeyFamily: a family of workqueue keys and the function that reconciles them. The reconcilers list
// all families in reconcilers/key_families.h. The shell and `berth plan` both use that list.
#pragma once

#include <chrono>
#include <functional>
#include <string_view>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

struct KeyFamily {
  // "node/" for keys that end in a name, or a single key such as "policy".
  std::string_view prefix;
  // Exactly one of the two is set. The function from starts() keeps state from one plan to the
  // next, for example what it has counted since the last write. Every process starts its own.
  Plan (*reconcile)(const Snapshot& snapshot, std::string_view name) = nullptr;
  std::function<Plan(const Snapshot& snapshot)> (*starts)() = nullptr;
  // What makes the key due, in addition to the changes in its folder's *_keys_for().
  bool on_policy_edit = false;  // of the GPUClusterPolicy
  bool on_samples = false;      // each round of samples
  // For a reconcile that reads every node: the least time between two starts for the same key.
  std::chrono::nanoseconds interval{0};
  // A short step for one object. It runs before reconciles that read all nodes.
  bool urgent = false;
  // After its first run it only cleans up: what-ifs run it when no other key is left.
  bool tidies = false;

  bool has(std::string_view key) const {
    return prefix.ends_with('/') ? key.starts_with(prefix) : key == prefix;
  }
  // The part after the prefix; empty for a single key.
  std::string_view name_in(std::string_view key) const { return key.substr(prefix.size()); }
};

}  // namespace berth
