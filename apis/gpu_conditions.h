// SPDX-License-Identifier: Apache-2.0
// GpuConditions: the conditions of nodes by which clouds' agents and NVIDIA's say that something is
// wrong with GPUs. Of a node's many conditions these are read, and kept while they are bad.
#pragma once

#include <string_view>

#include "apis/core.h"

namespace berth {

struct GpuCondition {
  std::string_view type;
  std::string_view bad;  // its status then
  bool acts = false;     // it takes a node out of service (controller/health); else it is only told
};

// Only told is what comes and goes, or is no fault of a GPU: an XID that may be a program's own; a
// link that is down, as NVSentinel says too where no IMEX daemon is meant to run (NVSentinel#1471);
// a device plugin that is away, of which all GPUs go.
inline constexpr GpuCondition kGpuConditions[] = {
    // EKS' node monitoring agent (docs.aws.amazon.com/eks, node-health-nma).
    {"AcceleratedHardwareReady", "False", true},
    // AKS' node problem detector (learn.microsoft.com/azure/aks/node-problem-detector).
    {"GPUMissing", "True", true},
    {"NVLinkStatusInactive", "True"},
    {"XIDErrors", "True"},
    {"GPUClockThrottling", "True"},
    {"UnhealthyNvidiaDevicePlugin", "True"},
    // NVIDIA's NVSentinel, which makes conditions of what it takes for fatal.
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

// nullptr: none of these.
const GpuCondition* find_gpu_condition(std::string_view type);

// One condition of the node, as readers come upon it.
void take_condition(std::string_view type, std::string_view status, std::string_view reason,
                    Node& node);

}  // namespace berth
