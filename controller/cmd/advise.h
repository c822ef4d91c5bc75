// SPDX-License-Identifier: Apache-2.0
// `berth advise`: what owners of GPUs at little work could do with instead, or, of a model and
// without a cluster, which share of which GPU has room for it.
#pragma once

#include <string>

#include "controller/cmd/flags.h"

namespace berth {

struct AdviseFlags {
  std::string model;  // empty: of owners
  std::string precision = "fp16";
  int tokens = 8192;
  int sequences = 1;
  std::string gpu;       // empty: all products
  std::string snapshot;  // of owners; empty: the live cluster
  bool sharing = false;  // of owners: advise parts of shared GPUs too
  bool layouts = false;  // of owners: what they need as manifests, instead of the table
  std::string output = "text";
  ConfigFlags connection;
  Settings settings;
};
FlagTable advise_flags(AdviseFlags& flags);

int run_advise(const AdviseFlags& flags);

}  // namespace berth
