// SPDX-License-Identifier: Apache-2.0
// ProcessFacts: what /proc says about this process, for process_* metrics. Reads no disk.
#pragma once

#include "controller/runtime/metrics.h"

namespace berth {

ProcessFacts read_process_facts();

}  // namespace berth
