// SPDX-License-Identifier: Apache-2.0
// `berth history`: what berth did and why workloads waited, as the controller has recorded it.
#pragma once

#include <string>
#include <vector>

#include "controller/cmd/line/flags.h"

namespace berth {

struct HistoryFlags {
  std::vector<std::string> subject;  // empty: everything
  std::string namespace_;
  std::string since = "24h";
  std::string output = "text";
  std::string berth_namespace = Settings().berth_namespace;
  ConfigFlags connection;
};
FlagTable history_flags(HistoryFlags& flags);

int run_history(const HistoryFlags& flags);

}  // namespace berth
