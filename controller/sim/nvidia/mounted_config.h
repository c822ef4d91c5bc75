// SPDX-License-Identifier: Apache-2.0
// MountedConfig: mig-manager's ConfigMap as pods on the nodes see it. Each kubelet updates its copy
// once per period, at its own time, so a node may read an older version.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>

#include "controller/sim/nvidia/mig_parted.h"
#include "controller/sim/world/store.h"
#include "controller/sim/world/virtual_clock.h"

namespace berth::sim {

class MountedConfig {
 public:
  using Span = std::chrono::nanoseconds;
  MountedConfig(std::string namespace_, std::string name, Span period);

  // True if the ConfigMap is new: pods that waited for it can start.
  bool on_change(const Change& change, MonotonicTime now);

  bool exists() const { return exists_; }
  // The file as seen by a pod that mounted the map at `mounted_at`; `phase` is the time in the
  // period at which its kubelet updates it. Null: there never was one. Valid until the map changes.
  const PartedFile* read(MonotonicTime mounted_at, Span phase, MonotonicTime now);

 private:
  struct Version {
    MonotonicTime since;
    ObjectPtr object;
    std::optional<PartedFile> file{};  // parsed once for all nodes
  };

  const std::string namespace_;
  const std::string name_;
  const Span period_;
  bool exists_ = false;
  std::deque<Version> versions_;  // oldest first; versions that no kubelet has any more are dropped
};

}  // namespace berth::sim
