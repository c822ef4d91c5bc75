// SPDX-License-Identifier: Apache-2.0
// tell: turns a change of an object into history lines: what a node or a workload waits for, what
// NVIDIA's node components did on a node, and the conditions of a layout, a queue or the policy.
// berth's own writes are recorded where they are sent. Pure; the lines carry no time.
#pragma once

#include <vector>

#include "apis/kinds/watched_kinds.h"
#include "controller/history/history_line.h"

namespace berth {

using HistoryLines = std::vector<HistoryLine>;

// `old` is null for a new object, `now` for a removed one.
HistoryLines tell(const Node* old, const Node* now);
HistoryLines tell(const MIGLayout* old, const MIGLayout* now);
HistoryLines tell(const GPUQueue* old, const GPUQueue* now);
HistoryLines tell(const GPUClusterPolicy* old, const GPUClusterPolicy* now);
// The reason why it waits in a queue, from its annotation.
HistoryLines tell(const Job* old, const Job* now);
HistoryLines tell(const Pod* old, const Pod* now);

}  // namespace berth
