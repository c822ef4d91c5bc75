// SPDX-License-Identifier: Apache-2.0
// `berth top`: GPUs at a glance, by queue, namespace or pool.
#pragma once

#include <string>

#include "controller/cmd/flags.h"

namespace berth {

struct TopFlags {
  std::string of = "queues";
  std::string namespace_;       // of `namespaces`; empty: the context's
  bool all_namespaces = false;  // of `namespaces`
  std::string by;               // showback by "queue" or "namespace"; empty: one of the tables
  bool cost = false;            // in money, by those, "pool" or "owner"
  std::string since = "7d";     // of showback
  std::string snapshot;         // empty: the live cluster
  std::string output = "text";
  ConfigFlags connection;
  Settings settings;
};
FlagTable top_flags(TopFlags& flags);

int run_top(const TopFlags& flags);

}  // namespace berth
