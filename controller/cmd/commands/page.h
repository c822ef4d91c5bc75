// SPDX-License-Identifier: Apache-2.0
// `berth page`: the fleet as one HTML file.
#pragma once

#include <string>

#include "controller/cmd/line/flags.h"

namespace berth {

struct PageFlags {
  std::string snapshot;  // empty: the live cluster
  ConfigFlags connection;
  Settings settings;
};
FlagTable page_flags(PageFlags& flags);

int run_page(const PageFlags& flags);

}  // namespace berth
