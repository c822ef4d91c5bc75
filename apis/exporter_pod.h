// SPDX-License-Identifier: Apache-2.0
// ExporterPod: by which labels dcgm-exporter's pods are known. Anybody may put them on a pod:
// whoever believes such a pod has to look at its namespace as well.
#pragma once

#include <string_view>
#include <utility>

#include "apis/meta.h"

namespace berth {

// The GPU operator's label, and that of the exporter's own chart.
inline constexpr std::pair<std::string_view, std::string_view> kExporterLabels[] = {
    {"app", "nvidia-dcgm-exporter"}, {"app.kubernetes.io/name", "dcgm-exporter"}};

inline bool has_exporter_labels(const StringMap& labels) {
  for (const auto& [key, value] : kExporterLabels)
    if (const Text* found = labels.find(key); found != nullptr && *found == value) return true;
  return false;
}

}  // namespace berth
