// SPDX-License-Identifier: Apache-2.0
#include "controller/core/attention.h"

#include <fmt/format.h>

namespace berth {

std::string describe_skew(Duration skew) {
  return fmt::format("berth's clock is {} {} the API server's; mend the clock of that machine",
                     format_duration_short(std::chrono::abs(skew)),
                     skew > Duration() ? "ahead of" : "behind");
}

}  // namespace berth
