// SPDX-License-Identifier: Apache-2.0
// MetricsMissing: what berth can't measure of the GPUs, and what would help: a line for the
// exporter's list of counters, a setting, an address. A condition of the GPUClusterPolicy.
#pragma once

#include <optional>

#include "controller/core/cause.h"
#include "controller/observe/gpu_use.h"

namespace berth {

inline constexpr char kMetricsMissing[] = "MetricsMissing";  // the condition's type
// Also a condition's type, for Samples::ignored.
inline constexpr char kMetricsIgnored[] = "MetricsIgnored";

// Nothing: no metric is missing, or no round has ended yet.
std::optional<Cause> metrics_missing(const Snapshot& snapshot, const GPUClusterPolicy& policy,
                                     const GpuUse& use);

}  // namespace berth
