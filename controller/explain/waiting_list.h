// SPDX-License-Identifier: Apache-2.0
// list_waiting: everything that waits for GPUs: pending pods, workloads whose pods are refused, and
// suspended Jobs in a queue. It also names the kinds that it could not list.
#pragma once

#include <string_view>

#include "controller/core/snapshot.h"
#include "controller/dump/clues.h"
#include "controller/explain/explanation.h"

namespace berth {

// In one namespace; empty: in all.
WaitingList list_waiting(const Snapshot& snapshot, std::string_view namespace_, const Clues& clues);

}  // namespace berth
