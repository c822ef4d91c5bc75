// SPDX-License-Identifier: Apache-2.0
// `berth import`: converts other projects' queues, quotas and layouts to berth's objects, on
// standard output for `kubectl apply -f -`. Standard error lists what it could not convert. Exit
// code 0: it read everything, even if it could not convert all of it. 1: some input was wrong, and
// it prints no objects.
#pragma once

#include <string>
#include <vector>

#include "controller/cmd/line/flags.h"
#include "controller/import/import.h"

namespace berth {

struct ImportFlags {
  std::vector<std::string> files;
  std::string output = "yaml";
  bool policy = false;  // the GPUClusterPolicy as an object
  std::string label_domain = kLabelDomain;
};
FlagTable import_flags(ImportFlags& flags);

int run_import(const ImportFlags& flags);

}  // namespace berth
