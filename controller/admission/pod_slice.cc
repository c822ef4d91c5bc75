// SPDX-License-Identifier: Apache-2.0
#include "controller/admission/pod_slice.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/names.h"

namespace berth {
namespace {

// More than anybody means, and little enough to be held against every node.
constexpr std::size_t kMaxGpuResources = 64;      // in one container
constexpr std::size_t kMaxPlacementTerms = 1024;  // keys and values of nodeSelector and affinity

bool read_present(od::value& value, bool& present) { return present = !is_null(value); }

// "/dev//shm/" and "/dev/./shm" are /dev/shm.
std::string simplify_path(std::string_view path) {
  std::string out;
  std::size_t at = 0;
  while (at < path.size()) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    if (!part.empty() && part != ".") out.append("/").append(part);
    at = end + 1;
  }
  return out;
}

// nvidia.com/GPU and nvidia.com/mig1g.10gb mean a GPU too, and are told that nobody offers them.
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

bool read_amounts(od::value list, bool limits, ContainerSlice& out, Fault& fault) {
  return each_field(list, fault, [&](std::string_view key, od::value value) {
    if (limits && key == "memory") return read(value, out.memory_limit.emplace(), fault);
    if (!means_gpu(key)) return true;
    GpuAmount* amount = amount_of(out, key);
    if (amount == nullptr)
      return fault.bad(fmt::format("names more than {} GPU resources", kMaxGpuResources));
    return read(value, (limits ? amount->limit : amount->request).emplace(), fault);
  });
}

bool read_resources(od::value resources, ContainerSlice& out, Fault& fault) {
  return each_field(resources, fault, [&](std::string_view key, od::value value) {
    if (key == "limits") {
      return !read_present(value, out.has_limits) || read_amounts(value, true, out, fault);
    }
    return key != "requests" || read_amounts(value, false, out, fault);
  });
}

// Values under which NVIDIA's runtime shows no device.
bool shows_no_device(std::string_view value) {
  return value.empty() || value == "void" || value == "none";
}

bool read_env(od::value env, ContainerSlice& out, Fault& fault) {
  out.visible_devices.reset();
  std::size_t index = 0;
  return each_item(env, fault, [&](od::value item) {
    std::string_view name, text;
    bool from_elsewhere = false;
    const bool good = each_field(item, fault, [&](std::string_view key, od::value value) {
      if (key == "name") return read(value, name, fault);
      if (key == "value") return read(value, text, fault);
      if (key == "valueFrom") (void)read_present(value, from_elsewhere);
      return true;
    });
    if (good && name == "NVIDIA_VISIBLE_DEVICES" && (from_elsewhere || !shows_no_device(text)))
      out.visible_devices = index;
    ++index;
    return good;
  });
}

bool read_mounts(od::value mounts, ContainerSlice& out, Fault& fault) {
  out.mounts_shared_memory = false;
  if (!read_present(mounts, out.has_volume_mounts)) return true;
  return each_item(mounts, fault, [&](od::value mount) {
    return each_field(mount, fault, [&](std::string_view key, od::value value) {
      if (key != "mountPath") return true;
      std::string_view path;
      if (!read(value, path, fault)) return false;
      if (simplify_path(path) == "/dev/shm") out.mounts_shared_memory = true;
      return true;
    });
  });
}

bool read_zero(od::value value, bool& is_zero, Fault& fault) {
  if (is_null(value)) return true;
  std::int64_t number = 0;
  if (!read(value, number, fault)) return false;
  is_zero = number == 0;
  return true;
}

bool read_capabilities(od::value capabilities, bool& sys_admin, Fault& fault) {
  return each_field(capabilities, fault, [&](std::string_view key, od::value added) {
    if (key != "add") return true;
    return each_item(added, fault, [&](od::value item) {
      std::string_view name;
      if (!read(item, name, fault)) return false;
      if (name == "SYS_ADMIN" || name == "CAP_SYS_ADMIN") sys_admin = true;
      return true;
    });
  });
}

bool read_security(od::value context, ContainerSlice& out, Fault& fault) {
  if (!read_present(context, out.has_security_context)) return true;
  return each_field(context, fault, [&](std::string_view key, od::value value) {
    if (key == "privileged") return read(value, out.privileged, fault);
    if (key == "allowPrivilegeEscalation") (void)read_present(value, out.says_privilege_escalation);
    if (key == "runAsNonRoot") (void)read_present(value, out.says_run_as_non_root);
    if (key == "runAsUser") return read_zero(value, out.runs_as_root, fault);
    if (key == "capabilities") return read_capabilities(value, out.adds_sys_admin, fault);
    return true;
  });
}

bool read_container(od::value container, ContainerSlice& out, Fault& fault) {
  return each_field(container, fault, [&](std::string_view key, od::value value) {
    if (key == "name") return read(value, out.name, fault);
    if (key == "resources") return read_resources(value, out, fault);
    if (key == "env") return read_env(value, out, fault);
    if (key == "volumeMounts") return read_mounts(value, out, fault);
    if (key == "securityContext") return read_security(value, out, fault);
    return true;
  });
}

bool read_containers(od::value list, bool is_init, PodSlice& pod, Fault& fault) {
  std::erase_if(pod.containers, [&](const ContainerSlice& c) { return c.is_init == is_init; });
  std::size_t index = 0;
  return each_item(list, fault, [&](od::value item) {
    ContainerSlice& container = pod.containers.emplace_back();
    container.is_init = is_init;
    container.index = index++;
    return read_container(item, container, fault);
  });
}

bool read_volume(od::value volume, std::size_t index, PodSlice& pod, Fault& fault) {
  std::string_view name, medium, path;
  const bool good = each_field(volume, fault, [&](std::string_view key, od::value value) {
    if (key == "name") return read(value, name, fault);
    if (key == "emptyDir")
      return each_field(value, fault, [&](std::string_view field, od::value text) {
        return field != "medium" || read(text, medium, fault);
      });
    if (key == "hostPath")
      return each_field(value, fault, [&](std::string_view field, od::value text) {
        return field != "path" || read(text, path, fault);
      });
    return true;
  });
  if (!good) return false;
  pod.volume_names.push_back(name);
  if (name == kSharedMemoryVolume && medium == "Memory") pod.has_shared_memory_volume = true;
  if (!path.empty() && simplify_path(path).starts_with("/dev/nvidia"))
    pod.device_paths.push_back({.volume = index, .path = path});
  return true;
}

bool read_volumes(od::value volumes, PodSlice& pod, Fault& fault) {
  pod.volume_names.clear();
  pod.device_paths.clear();
  if (!read_present(volumes, pod.has_volumes)) return true;
  std::size_t index = 0;
  return each_item(volumes, fault,
                   [&](od::value volume) { return read_volume(volume, index++, pod, fault); });
}

bool read_term(od::value value, TermSlice& out, Fault& fault) {
  return each_field(value, fault, [&](std::string_view key, od::value list) {
    if (key == "matchFields") return read(list, out.term.match_fields, fault);
    if (key != "matchExpressions" || !read_present(list, out.has_expressions)) return true;
    return read(list, out.term.match_expressions, fault);
  });
}

bool read_required(od::value required, PodSlice& pod, Fault& fault) {
  return each_field(required, fault, [&](std::string_view key, od::value terms) {
    if (key != "nodeSelectorTerms") return true;
    pod.terms.clear();
    return each_item(terms, fault, [&](od::value term) {
      return read_term(term, pod.terms.emplace_back(), fault);
    });
  });
}

bool read_affinity(od::value affinity, PodSlice& pod, Fault& fault) {
  if (!read_present(affinity, pod.has_affinity)) return true;
  return each_field(affinity, fault, [&](std::string_view kind, od::value node_affinity) {
    if (kind != "nodeAffinity" || !read_present(node_affinity, pod.has_node_affinity)) return true;
    return each_field(node_affinity, fault, [&](std::string_view when, od::value required) {
      if (when != "requiredDuringSchedulingIgnoredDuringExecution") return true;
      return !read_present(required, pod.has_required_affinity) ||
             read_required(required, pod, fault);
    });
  });
}

bool read_pod_security(od::value context, PodSlice& pod, Fault& fault) {
  if (!read_present(context, pod.has_security_context)) return true;
  return each_field(context, fault, [&](std::string_view key, od::value value) {
    if (key == "runAsNonRoot") (void)read_present(value, pod.says_run_as_non_root);
    if (key == "seccompProfile") (void)read_present(value, pod.says_seccomp);
    if (key == "runAsUser") return read_zero(value, pod.runs_as_root, fault);
    return true;
  });
}

bool read_os(od::value os, PodSlice& pod, Fault& fault) {
  return each_field(os, fault, [&](std::string_view key, od::value value) {
    if (key != "name") return true;
    std::string_view name;
    if (!read(value, name, fault)) return false;
    pod.is_windows = name == "windows";
    return true;
  });
}

bool read_spec(od::value spec, PodSlice& pod, Fault& fault) {
  return each_field(spec, fault, [&](std::string_view key, od::value value) {
    if (key == "containers") return read_containers(value, false, pod, fault);
    if (key == "initContainers") return read_containers(value, true, pod, fault);
    if (key == "nodeName") return read(value, pod.node_name, fault);
    if (key == "nodeSelector") return read(value, pod.node_selector, fault);
    if (key == "affinity") return read_affinity(value, pod, fault);
    if (key == "tolerations")
      return !read_present(value, pod.has_tolerations) || read(value, pod.tolerations, fault);
    if (key == "volumes") return read_volumes(value, pod, fault);
    if (key == "securityContext") return read_pod_security(value, pod, fault);
    if (key == "priorityClassName") return read(value, pod.priority_class_name, fault);
    if (key == "priority") (void)read_present(value, pod.has_priority);
    if (key == "preemptionPolicy") (void)read_present(value, pod.has_preemption_policy);
    if (key == "hostIPC") return read(value, pod.host_ipc, fault);
    if (key == "os") return read_os(value, pod, fault);
    return true;
  });
}

bool read_owners(od::value owners, PodSlice& pod, Fault& fault) {
  return each_item(owners, fault, [&](od::value owner) {
    return each_field(owner, fault, [&](std::string_view key, od::value value) {
      if (key != "kind") return true;
      std::string_view kind;
      if (!read(value, kind, fault)) return false;
      if (kind == "Node") pod.belongs_to_node = true;
      return true;
    });
  });
}

bool read_metadata(od::value metadata, PodSlice& pod, Fault& fault) {
  if (!read_present(metadata, pod.has_metadata)) return true;
  return each_field(metadata, fault, [&](std::string_view key, od::value value) {
    if (key == "ownerReferences") return read_owners(value, pod, fault);
    if (key != "annotations" || !read_present(value, pod.has_annotations)) return true;
    return each_field(value, fault, [&](std::string_view name, od::value text) {
      if (name == names::kMirrorAnnotation) pod.belongs_to_node = true;
      return name != names::kMutationsAnnotation || read(text, pod.mutations, fault);
    });
  });
}

bool read_pod(od::value object, PodSlice& pod, Fault& fault) {
  return each_field(object, fault, [&](std::string_view key, od::value value) {
    if (key == "metadata") return read_metadata(value, pod, fault);
    return key != "spec" || read_spec(value, pod, fault);
  });
}

// spec.template of a Job. Who owns the Job is of no interest.
bool read_job(od::value object, PodSlice& pod, Fault& fault) {
  return each_field(object, fault, [&](std::string_view key, od::value spec) {
    if (key != "spec") return true;
    return each_field(spec, fault, [&](std::string_view field, od::value value) {
      return field != "template" || read_pod(value, pod, fault);
    });
  });
}

std::size_t size_of(const std::vector<SelectorRequirement>& requirements) {
  std::size_t size = requirements.size();
  for (const SelectorRequirement& requirement : requirements) size += requirement.values.size();
  return size;
}

bool check_placement(const PodSlice& pod, Fault& fault) {
  std::size_t size = pod.node_selector.size() + pod.terms.size();
  for (const TermSlice& term : pod.terms)
    size += size_of(term.term.match_expressions) + size_of(term.term.match_fields);
  return size <= kMaxPlacementTerms ||
         fault.bad(
             fmt::format("nodeSelector and node affinity hold {} keys and values; berth looks "
                         "at {}",
                         size, kMaxPlacementTerms));
}

}  // namespace

std::string PodSlice::field(std::string_view under_spec) const {
  return std::string(home == PodHome::kJob ? "spec.template.spec." : "spec.").append(under_spec);
}

std::string PodSlice::field(const ContainerSlice& container) const {
  return field(
      fmt::format("{}[{}]", container.is_init ? "initContainers" : "containers", container.index));
}

std::string PodSlice::pointer(std::string_view under_spec) const {
  return std::string(home == PodHome::kJob ? "/spec/template/spec/" : "/spec/").append(under_spec);
}

std::string PodSlice::pointer(const ContainerSlice& container) const {
  return pointer(container.is_init ? "initContainers/" : "containers/")
      .append(std::to_string(container.index));
}

std::string PodSlice::metadata_pointer() const {
  return home == PodHome::kJob ? "/spec/template/metadata" : "/metadata";
}

bool read_pod_slice(od::value object, PodSlice& out, Fault& fault) {
  const bool good =
      out.home == PodHome::kJob ? read_job(object, out, fault) : read_pod(object, out, fault);
  return good && check_placement(out, fault);
}

bool names_gpu(const PodSlice& pod) {
  return std::ranges::any_of(pod.containers,
                             [](const ContainerSlice& c) { return !c.gpus.empty(); });
}

}  // namespace berth
