// SPDX-License-Identifier: Apache-2.0
// What a hostPath volume reaches of its node's GPUs.
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
// Judges the path as the node resolves it, however it is written. Symbolic links stay unseen.
HostReach reach_of(std::string_view path);

// "/dev//shm/", "/dev/./shm" and "/x/../dev/shm" are /dev/shm.
std::string normal_path(std::string_view path);

}  // namespace berth
