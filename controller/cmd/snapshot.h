// SPDX-License-Identifier: Apache-2.0
// `berth snapshot`: saves what `berth plan --snapshot` needs of a cluster.
#pragma once

#include <string>

#include "controller/cmd/flags.h"

namespace berth {

struct SnapshotFlags {
  std::string output = "-";
  ConfigFlags connection;
  Settings settings;
};
FlagTable snapshot_flags(SnapshotFlags& flags);

int run_snapshot(const SnapshotFlags& flags);

// Beside the target and renamed, so that a full disk leaves no half a file. False: errno says.
bool write_file(const std::string& path, const std::string& text);

}  // namespace berth
