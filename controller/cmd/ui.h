// SPDX-License-Identifier: Apache-2.0
// `berth ui`: the fleet at a glance in a browser on this machine, as it changes.
#pragma once

#include <string>

#include "controller/cmd/flags.h"

namespace berth {

struct UiFlags {
  std::string snapshot;  // empty: the live cluster
  int port = 0;          // 0: any free one
  bool measure = false;
  ConfigFlags connection;
  Settings settings;
};
FlagTable ui_flags(UiFlags& flags);

int run_ui(const UiFlags& flags);

}  // namespace berth
