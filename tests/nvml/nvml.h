// SPDX-License-Identifier: Apache-2.0
// Nvml: the read-only part of NVIDIA's management library that a geometry check needs, loaded at
// run time. The declarations follow the library's public C interface, so that neither its header
// nor its stub is needed to build.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apis/base/result.h"

namespace berth {

namespace nvml_abi {

inline constexpr int kSuccess = 0;
inline constexpr int kInvalidArgument = 2;
inline constexpr int kNotSupported = 3;
inline constexpr int kArgumentVersionMismatch = 25;
inline constexpr unsigned kProfileKinds = 0x11;  // NVML_GPU_INSTANCE_PROFILE_COUNT

struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device;
  unsigned pci_device_id;  // device in the upper, vendor in the lower half
  unsigned pci_subsystem_id;
  char bus_id[32];
};

struct Memory {
  unsigned long long total, free, used;
};

struct ProfileInfo {  // nvmlGpuInstanceProfileInfo_v2_t
  unsigned version;
  unsigned id;
  unsigned is_p2p_supported;
  unsigned slice_count;
  unsigned instance_count;
  unsigned multiprocessor_count;
  unsigned copy_engine_count, decoder_count, encoder_count, jpeg_count, ofa_count;
  unsigned long long memory_size_mb;
  char name[96];
};
static_assert(sizeof(ProfileInfo) == 0x98);
inline constexpr unsigned kProfileInfoV2 = 0x98 | (2u << 24);

struct Placement {
  unsigned start, size;
};

}  // namespace nvml_abi

struct NvmlProfile {
  std::string name;  // "1g.10gb+me", without NVML's "MIG "
  unsigned compute_slices = 0;
  unsigned max_count = 0;
  unsigned memory_mib = 0;
  std::vector<int> starts;
  unsigned memory_units = 0;  // 0: NVML did not tell placements
};

struct NvmlGpu {
  std::string name;
  std::uint16_t device_id = 0;
  std::uint64_t memory_mib = 0;
  std::vector<NvmlProfile> profiles;
  std::string note;  // why something could not be read; empty: everything was
};

// Loads the library, asks every GPU, and unloads it. kNotFound: no library or no GPU here. Changes
// no setting.
Result<std::vector<NvmlGpu>> read_nvml(const std::string& library);

}  // namespace berth
