// SPDX-License-Identifier: Apache-2.0
// Rounds: the same piece of work, several times over.
#pragma once

#include <functional>

namespace berth {

// The median of what each round cost this process, in milliseconds of CPU. Each begins with cold
// caches.
double median_cpu_ms(int rounds, const std::function<void()>& work);

}  // namespace berth
