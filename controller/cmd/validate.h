// SPDX-License-Identifier: Apache-2.0
// `berth validate`: whether manifests are right, told offline, with file and line: fields, rules
// and, where the product is known, geometry. Exit code 0: right, 1: not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "controller/cmd/flags.h"

namespace berth {

struct ValidateFlags {
  std::vector<std::string> files;
  std::string product;       // the hardware, where productSelector doesn't say
  std::string gpus;          // GPUs per node; empty: as many as the layout names
  std::string mig_strategy;  // what the device plugin advertises; empty: not checked
  std::string list_layouts;  // a product: print what it can be cut into, and nothing else
};
FlagTable validate_flags(ValidateFlags& flags);

int run_validate(const ValidateFlags& flags);

}  // namespace berth
