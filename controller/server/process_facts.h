// SPDX-License-Identifier: Apache-2.0
// What /proc says about this process, for process_* metrics. Reads memory, never a disk.
#pragma once

#include "controller/runtime/metrics.h"

namespace berth {

ProcessFacts read_process_facts();

}  // namespace berth
