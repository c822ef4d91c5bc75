// SPDX-License-Identifier: Apache-2.0
// Top: GPUs at a glance, as tables: what queues hold, what namespaces hold and wait for, what pools
// offer. Queues are told from their own statuses: who may read those needs no right to read pods.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/core/snapshot.h"

namespace berth {

// Cells are texts for people; an empty one is told as "-". JSON has a row as an object by columns.
struct TopTable {
  std::string kind;  // "QueueTop"
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

// A row for each quota of each queue, by name.
TopTable top_queues(const Snapshot& snapshot);
// A row for each namespace and queue with workloads; empty: in all namespaces.
TopTable top_namespaces(const Snapshot& snapshot, std::string_view namespace_);
// A row for each pool and GPU resource that its nodes offer or a quota names.
TopTable top_pools(const Snapshot& snapshot);

std::string print_text(const TopTable& table);
std::string print_json(const TopTable& table);

}  // namespace berth
