// SPDX-License-Identifier: Apache-2.0
#include "tests/nvml/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace berth {
namespace {

using namespace nvml_abi;
using Device = void*;

// The library's entry points, all of them queries.
struct Library {
  void* handle = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*by_index)(unsigned, Device*) = nullptr;
  int (*name)(Device, char*, unsigned) = nullptr;
  int (*pci)(Device, PciInfo*) = nullptr;
  int (*memory)(Device, Memory*) = nullptr;
  int (*profile)(Device, unsigned, ProfileInfo*) = nullptr;
  int (*placements)(Device, unsigned, Placement*, unsigned*) = nullptr;

  ~Library() {
    if (handle != nullptr) dlclose(handle);
  }
};

template <class F>
bool load(Library& library, F& function, const char* symbol) {
  function = reinterpret_cast<F>(dlsym(library.handle, symbol));
  return function != nullptr;
}

Result<std::unique_ptr<Library>> open_library(const std::string& path) {
  auto library = std::make_unique<Library>();
  library->handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library->handle == nullptr)
    return Error{.kind = ErrorKind::kNotFound, .message = fmt::format("no {}", path)};
  Library& l = *library;
  const bool complete = load(l, l.init, "nvmlInit_v2") && load(l, l.shutdown, "nvmlShutdown") &&
                        load(l, l.count, "nvmlDeviceGetCount_v2") &&
                        load(l, l.by_index, "nvmlDeviceGetHandleByIndex_v2") &&
                        load(l, l.name, "nvmlDeviceGetName") &&
                        load(l, l.pci, "nvmlDeviceGetPciInfo_v3") &&
                        load(l, l.memory, "nvmlDeviceGetMemoryInfo");
  if (!complete)
    return Error{.kind = ErrorKind::kUnavailable, .message = fmt::format("{} is too old", path)};
  load(l, l.profile, "nvmlDeviceGetGpuInstanceProfileInfoV");
  load(l, l.placements, "nvmlDeviceGetGpuInstancePossiblePlacements_v2");
  return library;
}

void read_placements(const Library& library, Device device, unsigned id, NvmlProfile& profile,
                     std::string& note) {
  Placement buffer[64];
  unsigned count = 0;
  if (library.placements == nullptr ||
      library.placements(device, id, nullptr, &count) != kSuccess || count > 64 ||
      library.placements(device, id, buffer, &count) != kSuccess) {
    note =
        "this driver does not tell placements in the GPU's present mode; only counts and slices "
        "are compared";
    return;
  }
  for (unsigned i = 0; i < count; ++i) {
    profile.starts.push_back(static_cast<int>(buffer[i].start));
    profile.memory_units = buffer[i].size;
  }
  std::sort(profile.starts.begin(), profile.starts.end());
}

void read_profiles(const Library& library, Device device, NvmlGpu& gpu) {
  if (library.profile == nullptr) {
    gpu.note =
        "this driver is too old to name profiles (nvmlDeviceGetGpuInstanceProfileInfoV is missing)";
    return;
  }
  int last_failure = kSuccess;
  for (unsigned kind = 0; kind < kProfileKinds; ++kind) {
    ProfileInfo info{};
    info.version = kProfileInfoV2;
    const int code = library.profile(device, kind, &info);
    if (code != kSuccess) {
      last_failure = code;  // NOT_SUPPORTED is how NVML says that a product has no such profile
      continue;
    }
    const std::string_view name(info.name, strnlen(info.name, sizeof info.name));
    NvmlProfile profile{.name = std::string(name.starts_with("MIG ") ? name.substr(4) : name),
                        .compute_slices = info.slice_count,
                        .max_count = info.instance_count,
                        .memory_mib = static_cast<unsigned>(info.memory_size_mb)};
    read_placements(library, device, info.id, profile, gpu.note);
    gpu.profiles.push_back(std::move(profile));
  }
  if (gpu.profiles.empty())
    gpu.note = fmt::format(
        "NVML tells no MIG profile (code {}): not MIG-capable, or this driver answers only with "
        "MIG on",
        last_failure);
}

NvmlGpu read_gpu(const Library& library, Device device) {
  NvmlGpu gpu;
  char name[96] = {};
  PciInfo pci{};
  Memory memory{};
  if (library.name(device, name, sizeof name) == kSuccess)
    gpu.name.assign(name, strnlen(name, sizeof name));
  if (library.pci(device, &pci) == kSuccess)
    gpu.device_id = static_cast<std::uint16_t>(pci.pci_device_id >> 16);
  if (library.memory(device, &memory) == kSuccess) gpu.memory_mib = memory.total >> 20;
  read_profiles(library, device, gpu);
  return gpu;
}

}  // namespace

Result<std::vector<NvmlGpu>> read_nvml(const std::string& path) {
  Result<std::unique_ptr<Library>> opened = open_library(path);
  if (!opened) return opened.error();
  const Library& library = **opened;
  if (int code = library.init(); code != kSuccess)
    return Error{.kind = ErrorKind::kNotFound,
                 .message = fmt::format("nvmlInit_v2 answers {}", code)};
  std::vector<NvmlGpu> gpus;
  unsigned count = 0;
  if (library.count(&count) != kSuccess) count = 0;
  for (unsigned i = 0; i < count; ++i)
    if (Device device = nullptr; library.by_index(i, &device) == kSuccess)
      gpus.push_back(read_gpu(library, device));
  library.shutdown();
  if (gpus.empty()) return Error{.kind = ErrorKind::kNotFound, .message = "NVML sees no GPU"};
  return gpus;
}

}  // namespace berth
