// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "controller/admission/pod_slice.h"
#include "controller/fleet/cuda.h"

namespace berth {
namespace {

// More than any real container names.
constexpr std::size_t kMaxGpuResources = 64;  // in one container

// Kubernetes' resource names for devices of a DeviceClass, which are allocated by a claim.
constexpr std::string_view kDeviceClassPrefix = "deviceclass.resource.kubernetes.io/";

constexpr std::string_view kVisibleDevices = "NVIDIA_VISIBLE_DEVICES";
// With these, NVIDIA's runtime gives the container the devices that configure or monitor MIG.
constexpr std::string_view kMigVariables[] = {"NVIDIA_MIG_CONFIG_DEVICES",
                                              "NVIDIA_MIG_MONITOR_DEVICES"};
constexpr std::string_view kMpsPipe = "CUDA_MPS_PIPE_DIRECTORY";
// NVIDIA's runtime takes the name of a mount below this path for a requested device.
constexpr std::string_view kDeviceMounts = "/var/run/nvidia-container-devices";

bool read_present(dom::element value, bool& present) { return present = !value.is_null(); }

// Misspelled names such as nvidia.com/GPU mean a GPU too, so that berth can refuse them as unknown.
bool means_gpu(std::string_view resource) {
  constexpr std::string_view kDomain = "nvidia.com/";
  if (!resource.starts_with(kDomain)) return resource == kLegacyGpu;
  resource.remove_prefix(kDomain.size());
  const auto begins = [&](std::string_view word) {
    return resource.size() >= word.size() &&
           std::ranges::equal(resource.substr(0, word.size()), word,
                              [](char a, char b) { return (a | 0x20) == b; });
  };
  return begins("gpu") || begins("mig");
}

GpuAmount* amount_of(ContainerSlice& container, std::string_view resource) {
  auto it = std::ranges::find(container.gpus, resource, &GpuAmount::resource);
  if (it != container.gpus.end()) return &*it;
  if (container.gpus.size() == kMaxGpuResources) return nullptr;
  container.gpus.push_back({.resource = resource});
  return &container.gpus.back();
}

bool read_amounts(dom::element list, bool limits, ContainerSlice& out, Fault& fault) {
  return each_field(list, fault, [&](std::string_view key, dom::element value) {
    if (limits && key == "memory") return read(value, out.memory_limit.emplace(), fault);
    if (key.starts_with(kDeviceClassPrefix) && out.class_resource.empty()) out.class_resource = key;
    if (!means_gpu(key)) return true;
    GpuAmount* amount = amount_of(out, key);
    if (amount == nullptr)
      return fault.bad(fmt::format("names more than {} GPU resources", kMaxGpuResources));
    return read(value, (limits ? amount->limit : amount->request).emplace(), fault);
  });
}

bool read_resources(dom::element resources, ContainerSlice& out, Fault& fault) {
  out.has_limits = false;
  return each_field(resources, fault, [&](std::string_view key, dom::element value) {
    if (key == "limits") {
      return !read_present(value, out.has_limits) || read_amounts(value, true, out, fault);
    }
    return key != "requests" || read_amounts(value, false, out, fault);
  });
}

// With these values NVIDIA's runtime shows no device.
bool shows_no_device(std::string_view value) {
  return value.empty() || value == "void" || value == "none";
}

bool read_env(dom::element env, bool& names_devices, ContainerSlice& out, Fault& fault) {
  out.visible_devices.reset(), out.mig_env.reset(), out.mps_env.reset();
  names_devices = false;
  std::size_t index = 0;
  return each_item(env, kAnyNumber, fault, [&](dom::element item) {
    std::string_view name, text;
    bool from_elsewhere = false;
    const bool good = each_field(item, fault, [&](std::string_view key, dom::element value) {
      if (key == "name") return read(value, name, fault);
      if (key == "value") return read(value, text, fault);
      if (key == "valueFrom") (void)read_present(value, from_elsewhere);
      return true;
    });
    const bool says = from_elsewhere || !shows_no_device(text);
    if (good && name == kVisibleDevices) {
      names_devices = true;
      if (says) out.visible_devices = index;
    }
    if (good && says && std::ranges::find(kMigVariables, name) != std::end(kMigVariables))
      out.mig_env = NamedPlace{index, name};
    if (good && name == kMpsPipe) out.mps_env = index;
    if (good && name == kRequireCuda) out.require_cuda = text;
    ++index;
    return good;
  });
}

// A ConfigMap or Secret may hold any key; the kubelet puts the prefix before it.
bool read_env_from(dom::element sources, ContainerSlice& out, Fault& fault) {
  out.open_env_from.reset();
  std::size_t index = 0;
  return each_item(sources, kAnyNumber, fault, [&](dom::element item) {
    std::string_view prefix;
    const bool good = each_field(item, fault, [&](std::string_view key, dom::element value) {
      return key != "prefix" || read(value, prefix, fault);
    });
    if (good && item.is_object() && !out.open_env_from && kVisibleDevices.starts_with(prefix))
      out.open_env_from = index;
    ++index;
    return good;
  });
}

bool read_mounts(dom::element mounts, ContainerSlice& out, Fault& fault) {
  out.mounts_shared_memory = false;
  out.device_mount.reset();
  if (!read_present(mounts, out.has_volume_mounts)) return true;
  std::size_t index = 0;
  return each_item(mounts, kAnyNumber, fault, [&](dom::element mount) {
    const std::size_t at = index++;
    return each_field(mount, fault, [&](std::string_view key, dom::element value) {
      if (key != "mountPath") return true;
      std::string_view path;
      if (!read(value, path, fault)) return false;
      const std::string normal = normal_path(path);
      if (normal == "/dev/shm") out.mounts_shared_memory = true;
      if (normal.starts_with(kDeviceMounts)) out.device_mount = NamedPlace{at, path};
      return true;
    });
  });
}

bool read_zero(dom::element value, bool& is_zero, Fault& fault) {
  if (value.is_null()) return true;
  std::int64_t number = 0;
  if (!read(value, number, fault)) return false;
  is_zero = number == 0;
  return true;
}

bool read_capabilities(dom::element capabilities, bool& sys_admin, Fault& fault) {
  return each_field(capabilities, fault, [&](std::string_view key, dom::element added) {
    if (key != "add") return true;
    return each_item(added, kAnyNumber, fault, [&](dom::element item) {
      std::string_view name;
      if (!read(item, name, fault)) return false;
      if (name == "SYS_ADMIN" || name == "CAP_SYS_ADMIN") sys_admin = true;
      return true;
    });
  });
}

bool read_security(dom::element context, ContainerSlice& out, Fault& fault) {
  if (!read_present(context, out.has_security_context)) return true;
  return each_field(context, fault, [&](std::string_view key, dom::element value) {
    if (key == "privileged") return read(value, out.privileged, fault);
    if (key == "allowPrivilegeEscalation") (void)read_present(value, out.says_privilege_escalation);
    if (key == "runAsNonRoot") (void)read_present(value, out.says_run_as_non_root);
    if (key == "runAsUser") return read_zero(value, out.runs_as_root, fault);
    if (key == "capabilities") return read_capabilities(value, out.adds_sys_admin, fault);
    return true;
  });
}

bool read_container(dom::element container, ContainerSlice& out, Fault& fault) {
  bool names_devices = false;
  const bool good = each_field(container, fault, [&](std::string_view key, dom::element value) {
    if (key == "name") return read(value, out.name, fault);
    if (key == "resources") return read_resources(value, out, fault);
    if (key == "env") return read_env(value, names_devices, out, fault);
    if (key == "envFrom") return read_env_from(value, out, fault);
    if (key == "volumeMounts") return read_mounts(value, out, fault);
    if (key == "securityContext") return read_security(value, out, fault);
    return true;
  });
  if (names_devices) out.open_env_from.reset();  // env overrides envFrom
  return good;
}

}  // namespace

bool read_containers(dom::element list, ContainerList which, std::vector<ContainerSlice>& out,
                     Fault& fault) {
  std::size_t index = 0;
  return each_item(list, kMaxPodItems, fault, [&](dom::element item) {
    ContainerSlice container{.list = which, .index = index++};
    if (item.is_null()) return true;  // no patch can add to it
    if (!read_container(item, container, fault)) return false;
    out.push_back(std::move(container));
    return true;
  });
}

}  // namespace berth
