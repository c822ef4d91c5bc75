// SPDX-License-Identifier: Apache-2.0
// GpuHolders: which pod has which GPUs of its node, as the kubelet deals them out: whole ones, the
// first that are free, for as long as the pod is there and has not ended. Parts of GPUs are dealt
// out to nobody.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "controller/sim/store.h"

namespace berth::sim {

struct GpuHolder {
  std::string namespace_;
  std::string pod;
  std::string uid;
  std::string app;        // what its workload calls it
  std::string container;  // its first
};

class GpuHolders {
 public:
  // As the cluster is now. Whoever holds a GPU already goes on to hold the same one.
  void look(const Store& store);
  // Null: nobody has it.
  const GpuHolder* of(const std::string& node, std::size_t gpu) const;

 private:
  std::map<std::string, std::map<std::size_t, GpuHolder>> nodes_;
};

}  // namespace berth::sim
