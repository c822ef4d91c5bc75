// SPDX-License-Identifier: Apache-2.0
// A stand-in for libnvidia-ml.so.1 with one A100 80GB, so that the check itself is tested where
// there is no GPU. Built twice: with BERTH_FAKE_NVML_WRONG it claims a 3g that may start at unit 2.
#include <cstring>

#include "tests/nvml/nvml.h"

using namespace berth::nvml_abi;

namespace {

struct Row {
  unsigned kind, id;
  const char* name;
  unsigned slices, count, memory_mib, size;
  unsigned starts[8], starts_count;
};

#ifdef BERTH_FAKE_NVML_WRONG
constexpr unsigned kSecondStart = 2;
#else
constexpr unsigned kSecondStart = 4;
#endif

constexpr Row kRows[] = {
    {0, 19, "MIG 1g.10gb", 1, 7, 9856, 1, {0, 1, 2, 3, 4, 5, 6}, 7},
    {7, 20, "MIG 1g.10gb+me", 1, 1, 9856, 1, {0, 1, 2, 3, 4, 5, 6}, 7},
    {9, 15, "MIG 1g.20gb", 1, 4, 19968, 2, {0, 2, 4, 6}, 4},
    {1, 14, "MIG 2g.20gb", 2, 3, 19968, 2, {0, 2, 4}, 3},
    {2, 9, "MIG 3g.40gb", 3, 2, 40192, 4, {0, kSecondStart}, 2},
    {3, 5, "MIG 4g.40gb", 4, 1, 40192, 4, {0}, 1},
    {4, 0, "MIG 7g.80gb", 7, 1, 80384, 8, {0}, 1},
};

}  // namespace

extern "C" {

int nvmlInit_v2() { return kSuccess; }
int nvmlShutdown() { return kSuccess; }

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 1;
  return kSuccess;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  static int gpu;
  *device = &gpu;
  return index == 0 ? kSuccess : kInvalidArgument;
}

int nvmlDeviceGetName(void*, char* name, unsigned length) {
  std::strncpy(name, "NVIDIA A100-SXM4-80GB", length);
  return kSuccess;
}

int nvmlDeviceGetPciInfo_v3(void*, PciInfo* pci) {
  pci->pci_device_id = 0x20B210DE;
  return kSuccess;
}

int nvmlDeviceGetMemoryInfo(void*, Memory* memory) {
  memory->total = 81920ULL << 20;
  return kSuccess;
}

int nvmlDeviceGetGpuInstanceProfileInfoV(void*, unsigned kind, ProfileInfo* info) {
  if (info->version != kProfileInfoV2) return kArgumentVersionMismatch;
  for (const Row& row : kRows) {
    if (row.kind != kind) continue;
    info->id = row.id;
    info->slice_count = row.slices;
    info->instance_count = row.count;
    info->memory_size_mb = row.memory_mib;
    std::strncpy(info->name, row.name, sizeof info->name - 1);
    return kSuccess;
  }
  return kNotSupported;
}

int nvmlDeviceGetGpuInstancePossiblePlacements_v2(void*, unsigned id, Placement* placements,
                                                  unsigned* count) {
  for (const Row& row : kRows) {
    if (row.id != id) continue;
    *count = row.starts_count;
    for (unsigned i = 0; placements != nullptr && i < row.starts_count; ++i)
      placements[i] = {row.starts[i], row.size};
    return kSuccess;
  }
  return kInvalidArgument;
}
}
