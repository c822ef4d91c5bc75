// SPDX-License-Identifier: Apache-2.0
// `berth advise`: what owners of underutilized GPUs could request instead. With --model and without
// a cluster: which share of which GPU has enough memory for a model.
#pragma once

#include <string>

#include "controller/cmd/line/flags.h"

namespace berth {

struct AdviseFlags {
  std::string model;  // empty: advise owners
  std::string precision = "fp16";
  int tokens = 8192;
  int sequences = 1;
  std::string gpu;       // empty: all products
  std::string snapshot;  // for owners; empty: the live cluster
  bool sharing = false;  // for owners: also advise parts of shared GPUs
  bool layouts = false;  // for owners: print manifests instead of the table
  std::string output = "text";
  ConfigFlags connection;
  Settings settings;
};
FlagTable advise_flags(AdviseFlags& flags);

int run_advise(const AdviseFlags& flags);

}  // namespace berth
