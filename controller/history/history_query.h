// SPDX-License-Identifier: Apache-2.0
// HistoryQuery: which lines the user requests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apis/base/result.h"
#include "controller/history/history_line.h"

namespace berth {

struct HistoryQuery {
  std::string kind;        // "Node"; empty: any
  std::string namespace_;  // empty: any
  std::string name;        // empty: any
  Time since{};
};

// Parses "node/n3", "node n3", "job/train" or "job/team-a/train": every kind in the history, also
// by kubectl's short names. No word selects all lines. `namespace_` is the namespace of an object
// whose word names none.
Result<HistoryQuery> parse_history_query(const std::vector<std::string>& words,
                                         std::string_view namespace_);

// Some objects match further lines. A node also matches the pods that were evicted from it, a Job
// its pods, and a layout, a queue and the policy the lines that they caused.
bool matches(const HistoryQuery& query, const HistoryLine& line);

}  // namespace berth
