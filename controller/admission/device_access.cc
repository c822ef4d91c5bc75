// SPDX-License-Identifier: Apache-2.0
// Ways to GPUs that bypass the device plugin. Outline: containers, volumes, the pod; then the
// containers that a debugger adds.
#include <fmt/format.h>

#include <algorithm>

#include "controller/admission/pod_review.h"

namespace berth {
namespace {

void check_privileged(const std::string& field, const ContainerSlice& container,
                      ReviewFindings& findings) {
  if (container.privileged)
    findings.refuse(field + ".securityContext.privileged",
                    "a privileged container reaches every GPU of its node, whatever it asks for; "
                    "write privileged: false");
}

void check_variables(const std::string& field, const ContainerSlice& container, bool host_ipc,
                     ReviewFindings& findings) {
  const auto refuse = [&](std::size_t index, std::string message) {
    findings.refuse(fmt::format("{}.env[{}]", field, index), std::move(message));
  };
  if (container.visible_devices)
    refuse(*container.visible_devices,
           "NVIDIA_VISIBLE_DEVICES bypasses the device plugin, which sets it itself; remove it and "
           "ask for nvidia.com/gpu: 1");
  if (container.mig_env)
    refuse(container.mig_env->index,
           fmt::format("{} shows the container the MIG devices of all GPUs of the node; remove it",
                       container.mig_env->name));
  if (container.mps_env && host_ipc)
    refuse(
        *container.mps_env,
        "CUDA_MPS_PIPE_DIRECTORY and hostIPC together reach the MPS server of other pods; remove "
        "them and ask for nvidia.com/gpu.shared: 1");
}

void check_mounts(const std::string& field, const ContainerSlice& container,
                  ReviewFindings& findings) {
  if (container.device_mount)
    findings.refuse(
        fmt::format("{}.volumeMounts[{}].mountPath", field, container.device_mount->index),
        fmt::format("{} asks NVIDIA's runtime for devices past the device plugin; "
                    "remove it and ask for nvidia.com/gpu: 1",
                    shorten(container.device_mount->name)));
}

void check_containers(const PodSlice& pod, const std::vector<ContainerSlice>& containers,
                      ReviewFindings& findings) {
  for (const ContainerSlice& container : containers) {
    const std::string field = pod.field(container);
    check_privileged(field, container, findings);
    check_variables(field, container, pod.host_ipc, findings);
    check_mounts(field, container, findings);
  }
  // Only one warning: berth can't read these sources, and nearly none of them holds that variable.
  const auto open = std::ranges::find_if(
      containers, [](const ContainerSlice& c) { return c.open_env_from.has_value(); });
  if (open != containers.end())
    findings.warn(fmt::format("{}.envFrom[{}]", pod.field(*open), *open->open_env_from),
                  "berth can't read it; if it holds NVIDIA_VISIBLE_DEVICES, the container bypasses "
                  "the device plugin: keep that key out of it");
}

std::string words_for(const HostPath& host) {
  const std::string path = shorten(host.path);
  switch (host.reach) {
    case HostReach::kAllDevices:
      return fmt::format(
          "{} holds the devices of all GPUs and bypasses the device plugin; mount "
          "only the folder below it that the pod needs",
          path);
    case HostReach::kNode:
      return fmt::format(
          "{} reaches the node's processes, kubelet or container runtime, and "
          "through them the GPUs of other pods; remove the volume",
          path);
    default:
      return fmt::format(
          "{} bypasses the device plugin and takes GPUs that were given to other "
          "pods; remove the volume and ask for nvidia.com/gpu: 1",
          path);
  }
}

}  // namespace

void check_device_access(const PodSlice& pod, ReviewFindings& findings) {
  for (const HostPath& host : pod.host_paths)
    findings.refuse(pod.field(fmt::format("volumes[{}].hostPath.path", host.volume)),
                    words_for(host));
  if (!pod.cdi_annotation.empty())
    findings.refuse(
        fmt::format("{}metadata.annotations[{}]", pod.home == PodHome::kJob ? "spec.template." : "",
                    shorten(pod.cdi_annotation)),
        "the container runtime adds devices by it, past the device plugin; remove it "
        "and ask for nvidia.com/gpu: 1");
  check_containers(pod, pod.containers, findings);
}

void check_debugging(const PodSlice& pod, ReviewFindings& findings) {
  check_containers(pod, pod.ephemeral, findings);
}

}  // namespace berth
