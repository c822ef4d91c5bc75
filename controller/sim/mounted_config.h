// SPDX-License-Identifier: Apache-2.0
// MountedConfig: mig-manager's ConfigMap as the pods on the nodes have it. Each kubelet brings its
// copy up to date once per period, at a moment of its own, so a node may read an older version.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>

#include "controller/sim/mig_parted.h"
#include "controller/sim/store.h"
#include "controller/sim/virtual_clock.h"

namespace berth::sim {

class MountedConfig {
 public:
  using Span = std::chrono::nanoseconds;
  MountedConfig(std::string namespace_, std::string name, Span period);

  // True if there was nothing to mount before: pods that waited for it can start.
  bool on_change(const Change& change, MonotonicTime now);

  bool exists() const { return exists_; }
  // The file that a pod sees which has mounted the map at `mounted_at`; `phase` of the period is
  // when its kubelet looks. Null: there never was one. Good until the map changes.
  const PartedFile* read(MonotonicTime mounted_at, Span phase, MonotonicTime now);

 private:
  struct Version {
    MonotonicTime since;
    ObjectPtr object;
    std::optional<PartedFile> file{};  // once read: every node parses the same text
  };

  const std::string namespace_;
  const std::string name_;
  const Span period_;
  bool exists_ = false;
  std::deque<Version> versions_;  // oldest first; what no kubelet has any more is dropped
};

}  // namespace berth::sim
