// SPDX-License-Identifier: Apache-2.0
// The address that a kubelet gives to the pod of dcgm-exporter on its node: "10.93.20.7".
#pragma once

#include <string>

namespace berth::sim {

inline constexpr char kExporterApp[] = "nvidia-dcgm-exporter";

std::string pod_address(const std::string& node);

}  // namespace berth::sim
