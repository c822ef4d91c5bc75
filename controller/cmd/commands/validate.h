// SPDX-License-Identifier: Apache-2.0
// `berth validate`: checks manifests offline and reports errors with file and line: fields, rules
// and, if the product is known, geometry. Exit code 0: valid, 1: not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "controller/cmd/line/flags.h"

namespace berth {

struct ValidateFlags {
  std::vector<std::string> files;
  std::string product;       // the hardware, if productSelector is missing
  std::string gpus;          // GPUs per node; empty: as many as the layout names
  std::string mig_strategy;  // the device plugin's strategy; empty: not checked
  std::string list_layouts;  // a product: only print its MIG layouts
};
FlagTable validate_flags(ValidateFlags& flags);

int run_validate(const ValidateFlags& flags);

}  // namespace berth
