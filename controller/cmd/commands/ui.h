// SPDX-License-Identifier: Apache-2.0
// `berth ui`: the live fleet in a browser on this machine.
#pragma once

#include <string>

#include "controller/cmd/line/flags.h"

namespace berth {

struct UiFlags {
  std::string snapshot;  // empty: the live cluster
  int port = 0;          // 0: any free port
  bool measure = false;
  ConfigFlags connection;
  Settings settings;
};
FlagTable ui_flags(UiFlags& flags);

int run_ui(const UiFlags& flags);

}  // namespace berth
