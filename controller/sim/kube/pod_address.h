// SPDX-License-Identifier: Apache-2.0
// PodAddress: the address of a node's dcgm-exporter pod, "10.93.20.7".
#pragma once

#include <string>

namespace berth::sim {

inline constexpr char kExporterApp[] = "nvidia-dcgm-exporter";

std::string pod_address(const std::string& node);

}  // namespace berth::sim
