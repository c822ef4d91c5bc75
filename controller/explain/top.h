// SPDX-License-Identifier: Apache-2.0
// Top: tables of GPUs: what queues hold, what namespaces hold and wait for, what pools offer. The
// queues' rows come from their statuses, so that users need no right to read pods.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/core/snapshot.h"

namespace berth {

// Cells are texts for users; an empty one is printed as "-". In JSON each row is an object.
struct TopTable {
  std::string kind;  // "QueueTop"
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

// One row for each quota of each queue, by name.
TopTable top_queues(const Snapshot& snapshot);
// One row for each namespace and queue with workloads; an empty namespace means all.
TopTable top_namespaces(const Snapshot& snapshot, std::string_view namespace_);
// One row for each pool and GPU resource that its nodes offer or a quota names.
TopTable top_pools(const Snapshot& snapshot);

std::string print_text(const TopTable& table);
std::string print_json(const TopTable& table);

}  // namespace berth
