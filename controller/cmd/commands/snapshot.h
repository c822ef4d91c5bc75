// SPDX-License-Identifier: Apache-2.0
// `berth snapshot`: saves the parts of a cluster that `berth plan --snapshot` needs.
#pragma once

#include <string>

#include "controller/cmd/line/flags.h"

namespace berth {

struct SnapshotFlags {
  std::string output = "-";
  ConfigFlags connection;
  Settings settings;
};
FlagTable snapshot_flags(SnapshotFlags& flags);

int run_snapshot(const SnapshotFlags& flags);

// Writes a temporary file and renames it, so that a full disk leaves no partial file. False: see
// errno.
bool write_file(const std::string& path, const std::string& text);

}  // namespace berth
