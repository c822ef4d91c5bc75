// SPDX-License-Identifier: Apache-2.0
#include "controller/admission/host_path.h"

#include <algorithm>
#include <string>

namespace berth {
namespace {

// Each path includes everything below it. /proc/1/root is the root of the whole node, /run/nvidia
// holds the pipes of MPS, and a writer to the kubelet's folders can pose as a device plugin.
constexpr std::string_view kOfTheNode[] = {"/proc",           "/sys",      "/run/cdi",
                                           "/run/containerd", "/run/crio", "/run/docker.sock",
                                           "/var/lib/kubelet"};
constexpr std::string_view kNvidiaRuns = "/run/nvidia";
// Below /dev, in addition to nvidia…: links to devices by number, and other names of GPUs and of
// memory.
constexpr std::string_view kDevices[] = {"char", "dri", "vfio", "fd", "mem", "kmem"};

bool is_at_or_below(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

// /var/run is usually a symbolic link to /run.
std::string without_var_run(std::string path) {
  constexpr std::string_view kVarRun = "/var/run";
  if (is_at_or_below(path, kVarRun)) path.replace(0, kVarRun.size(), "/run");
  return path;
}

bool is_device(std::string_view path) {
  constexpr std::string_view kDev = "/dev/";
  if (!path.starts_with(kDev)) return false;
  path.remove_prefix(kDev.size());
  return path.starts_with("nvidia") ||
         std::ranges::find(kDevices, path.substr(0, path.find('/'))) != std::end(kDevices);
}

}  // namespace

HostReach reach_of(std::string_view path) {
  const std::string normal = without_var_run(normal_path(path));
  if (normal == "/" || normal == "/dev") return HostReach::kAllDevices;
  if (is_device(normal)) return HostReach::kDevice;
  if (normal.starts_with(kNvidiaRuns)) return HostReach::kNode;
  const bool of_the_node = std::ranges::any_of(kOfTheNode, [&](std::string_view folder) {
    return is_at_or_below(normal, folder) || is_at_or_below(folder, normal);
  });
  return of_the_node ? HostReach::kNode : HostReach::kNothing;
}

std::string normal_path(std::string_view path) {
  std::string out;
  std::size_t at = 0;
  while (at < path.size()) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    if (part == "..")
      out.erase(std::min(out.rfind('/'), out.size()));
    else if (!part.empty() && part != ".")
      out.append("/").append(part);
    at = end + 1;
  }
  return out.empty() ? "/" : out;
}

}  // namespace berth
