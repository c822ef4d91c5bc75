// SPDX-License-Identifier: Apache-2.0
#include "controller/admission/pod_slice.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth {
namespace {

std::string_view name_of(ContainerList list) {
  switch (list) {
    case ContainerList::kMain:
      break;
    case ContainerList::kInit:
      return "initContainers";
    case ContainerList::kEphemeral:
      return "ephemeralContainers";
  }
  return "containers";
}

}  // namespace

std::string PodSlice::field(std::string_view under_spec) const {
  return std::string(home == PodHome::kJob ? "spec.template.spec." : "spec.").append(under_spec);
}

std::string PodSlice::field(const ContainerSlice& container) const {
  return field(fmt::format("{}[{}]", name_of(container.list), container.index));
}

std::string PodSlice::pointer(std::string_view under_spec) const {
  return std::string(home == PodHome::kJob ? "/spec/template/spec/" : "/spec/").append(under_spec);
}

std::string PodSlice::pointer(const ContainerSlice& container) const {
  return pointer(name_of(container.list)).append("/").append(std::to_string(container.index));
}

std::string PodSlice::metadata_pointer() const {
  return home == PodHome::kJob ? "/spec/template/metadata" : "/metadata";
}

bool names_gpu(const PodSlice& pod) {
  return std::ranges::any_of(pod.containers,
                             [](const ContainerSlice& c) { return !c.gpus.empty(); });
}

}  // namespace berth
