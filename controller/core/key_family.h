// SPDX-License-Identifier: Apache-2.0
// KeyFamily: the keys of one kind of work, and how that is done. The reconcilers have a table of
// them (reconcilers/key_families.h); the shell, and what `berth plan` plays, go by it.
#pragma once

#include <chrono>
#include <functional>
#include <string_view>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"

namespace berth {

struct KeyFamily {
  // "node/" of keys that a name ends, or the one key itself: "policy".
  std::string_view prefix;
  // Exactly one of the two. What starts() returns keeps something in mind from one plan to the
  // next, such as what it has counted since the last write. Every process starts its own.
  Plan (*reconcile)(const Snapshot& snapshot, std::string_view name) = nullptr;
  std::function<Plan(const Snapshot& snapshot)> (*starts)() = nullptr;
  // What makes it due, beside the changes that its folder's *_keys_for() name.
  bool on_policy_edit = false;  // of the GPUClusterPolicy
  bool on_samples = false;      // each round of them
  // Work that looks at every node starts at most once in so long, on its own key.
  std::chrono::nanoseconds interval{0};
  // One object's next step, which takes a moment: it overtakes walks over the whole fleet.
  bool urgent = false;
  // After its first run it only finds what is superfluous: what-ifs look when nothing else is left.
  bool tidies = false;

  bool has(std::string_view key) const {
    return prefix.ends_with('/') ? key.starts_with(prefix) : key == prefix;
  }
  // Behind the prefix; empty for the one key.
  std::string_view name_in(std::string_view key) const { return key.substr(prefix.size()); }
};

}  // namespace berth
