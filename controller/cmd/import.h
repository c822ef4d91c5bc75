// SPDX-License-Identifier: Apache-2.0
// `berth import`: other people's queues, quotas and layouts as berth's objects, on standard output
// for `kubectl apply -f -`; what they do not say, on standard error. Exit code 0: all was read,
// whether or not all of it could be carried over; 1: something was not what it should be, and
// nothing is printed.
#pragma once

#include <string>
#include <vector>

#include "controller/cmd/flags.h"
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
