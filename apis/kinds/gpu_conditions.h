// SPDX-License-Identifier: Apache-2.0
// GpuConditions: node conditions with which node components of clouds and of NVIDIA report GPU
// faults. berth reads only these conditions, and keeps them only while they are bad.
#pragma once

#include <string_view>

#include "apis/kinds/core.h"

namespace berth {

struct GpuCondition {
  std::string_view type;
  std::string_view bad;  // the status that means a fault
  // true: berth takes the node out of service (controller/health). false: berth only reports it.
  bool acts = false;
};

// berth only reports a condition that comes and goes, or that is no fault of a GPU. XIDs may come
// from a program. NVSentinel reports a link as down even if no IMEX daemon should run
// (NVSentinel#1471). If the device plugin fails, the node offers no GPUs anyway.
inline constexpr GpuCondition kGpuConditions[] = {
    // EKS node monitoring agent (docs.aws.amazon.com/eks, node-health-nma).
    {"AcceleratedHardwareReady", "False", true},
    // AKS node problem detector (learn.microsoft.com/azure/aks/node-problem-detector).
    {"GPUMissing", "True", true},
    {"NVLinkStatusInactive", "True"},
    {"XIDErrors", "True"},
    {"GPUClockThrottling", "True"},
    {"UnhealthyNvidiaDevicePlugin", "True"},
    // NVIDIA's NVSentinel. It sets conditions for faults that it considers fatal.
    {"GpuMemWatch", "True", true},
    {"GpuPcieWatch", "True", true},
    {"GpuInforomWatch", "True", true},
    {"GpuNvswitchFatalWatch", "True", true},
    {"SysLogsGPUFallenOff", "True", true},
    {"GpuNvlinkWatch", "True"},
    {"GpuThermalWatch", "True"},
    {"SysLogsXIDError", "True"},
    {"SysLogsSXIDError", "True"},
};

// nullptr if berth does not read this type.
const GpuCondition* find_gpu_condition(std::string_view type);

// Readers call this for each condition of the node; it keeps a bad GPU condition.
void take_condition(std::string_view type, std::string_view status, std::string_view reason,
                    Node& node);

}  // namespace berth
