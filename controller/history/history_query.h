// SPDX-License-Identifier: Apache-2.0
// HistoryQuery: which lines somebody asks for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apis/result.h"
#include "controller/history/history_line.h"

namespace berth {

struct HistoryQuery {
  std::string kind;        // "Node"; empty: any
  std::string namespace_;  // empty: any
  std::string name;        // empty: any
  Time since{};
};

// "node/n3", "node n3", "job/train", "job/team-a/train", any kind of KIND that history tells of, or
// what kubectl shortens it to; no word: everything. `namespace_` is where an object is that names
// none.
Result<HistoryQuery> parse_history_query(const std::vector<std::string>& words,
                                         std::string_view namespace_);

// Of a node also the pods that had to leave it, of a Job also its pods, of a layout, a queue and
// the policy also what they asked for.
bool matches(const HistoryQuery& query, const HistoryLine& line);

}  // namespace berth
