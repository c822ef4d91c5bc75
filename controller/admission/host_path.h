// SPDX-License-Identifier: Apache-2.0
// Which GPUs of a node a hostPath volume reaches.
#pragma once

#include <string>
#include <string_view>

namespace berth {

enum class HostReach {
  kNothing,
  kDevice,      // devices of GPUs
  kAllDevices,  // a folder that holds those of all GPUs
  kNode,        // the node's processes, devices, kubelet, container runtime, or NVIDIA's sockets
};
// Judges the path as the node resolves it, in whatever spelling. berth can't see symbolic links.
HostReach reach_of(std::string_view path);

// "/dev//shm/", "/dev/./shm" and "/x/../dev/shm" are /dev/shm.
std::string normal_path(std::string_view path);

}  // namespace berth
