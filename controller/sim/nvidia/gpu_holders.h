// SPDX-License-Identifier: Apache-2.0
// GpuHolders: which pod holds which GPUs of its node, as the kubelet assigns them: the first free
// whole GPUs, until the pod has finished or is gone. It assigns no parts of GPUs.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "controller/sim/world/store.h"

namespace berth::sim {

struct GpuHolder {
  std::string namespace_;
  std::string pod;
  std::string uid;
  std::string app;        // the app label of its workload
  std::string container;  // its first container
};

class GpuHolders {
 public:
  // Updates from the cluster. A pod keeps the GPUs that it already holds.
  void look(const Store& store);
  // Null: no pod holds it.
  const GpuHolder* of(const std::string& node, std::size_t gpu) const;

 private:
  std::map<std::string, std::map<std::size_t, GpuHolder>> nodes_;
};

}  // namespace berth::sim
