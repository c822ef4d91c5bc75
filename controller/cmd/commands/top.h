// SPDX-License-Identifier: Apache-2.0
// `berth top`: GPUs by queue, namespace or pool, as a table.
#pragma once

#include <string>

#include "controller/cmd/line/flags.h"

namespace berth {

struct TopFlags {
  std::string of = "queues";
  std::string namespace_;       // for `namespaces`; empty: that of the context
  bool all_namespaces = false;  // for `namespaces`
  std::string by;               // usage by "queue" or "namespace"; empty: one of the tables
  bool cost = false;            // costs, by those, "pool" or "owner"
  std::string since = "7d";     // for usage and costs
  std::string snapshot;         // empty: the live cluster
  std::string output = "text";
  ConfigFlags connection;
  Settings settings;
};
FlagTable top_flags(TopFlags& flags);

int run_top(const TopFlags& flags);

}  // namespace berth
