// SPDX-License-Identifier: Apache-2.0
// ExporterPod: the labels of dcgm-exporter's pods. Any user can put them on a pod, so check the
// pod's namespace too before you trust it.
#pragma once

#include <string_view>
#include <utility>

#include "apis/kinds/meta.h"

namespace berth {

// The label from the GPU operator, and the one from the exporter's own chart.
inline constexpr std::pair<std::string_view, std::string_view> kExporterLabels[] = {
    {"app", "nvidia-dcgm-exporter"}, {"app.kubernetes.io/name", "dcgm-exporter"}};

inline bool has_exporter_labels(const StringMap& labels) {
  for (const auto& [key, value] : kExporterLabels)
    if (const Text* found = labels.find(key); found != nullptr && *found == value) return true;
  return false;
}

}  // namespace berth
