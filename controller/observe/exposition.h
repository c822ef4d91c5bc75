// SPDX-License-Identifier: Apache-2.0
// Exposition: Prometheus' text format, version 0.0.4, as dcgm-exporter serves it. Of it only the
// series that berth reads.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "apis/base/result.h"
#include "controller/observe/counters.h"
#include "controller/observe/identity.h"

namespace berth {

// Of more series than one node can have somebody is lying.
inline constexpr std::size_t kMaxSeriesOfNode = 20'000;

// The labels live until it returns.
using OnSeries =
    std::function<void(const CounterInfo& counter, const LabelViews& labels, double value)>;

// How many series there were, berth's or not. Lines that are no series are passed over; a text in
// which there is none at all, and which is not empty, is an error.
Result<std::size_t> read_exposition(std::string_view text, const OnSeries& on_series);

}  // namespace berth
