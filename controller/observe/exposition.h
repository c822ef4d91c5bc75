// SPDX-License-Identifier: Apache-2.0
// Exposition: Prometheus' text format, version 0.0.4, as dcgm-exporter serves it. berth reads only
// the series that it needs (counters.h).
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "apis/base/result.h"
#include "controller/observe/counters.h"
#include "controller/observe/identity.h"

namespace berth {

// No node can have more series. A text with more is an error.
inline constexpr std::size_t kMaxSeriesOfNode = 20'000;

// The labels are valid until the callback returns.
using OnSeries =
    std::function<void(const CounterInfo& counter, const LabelViews& labels, double value)>;

// Returns the number of series, those that berth does not read included. It skips lines that are no
// series. Errors: more than kMaxSeriesOfNode series, or a text that is not empty and has no series.
Result<std::size_t> read_exposition(std::string_view text, const OnSeries& on_series);

}  // namespace berth
