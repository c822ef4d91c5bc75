// SPDX-License-Identifier: Apache-2.0
// ClusterDump: the cluster for a command, live or from `berth snapshot`. Both use the same text.
#pragma once

#include <string>

#include "controller/client/kubeconfig.h"
#include "controller/cmd/cluster/fetch_dump.h"
#include "controller/dump/dump.h"

namespace berth {

struct ClusterDump {
  std::string text;
  Dump dump;
};

// If `file` is empty, reads the live cluster. An error names the file or the server.
Result<ClusterDump> read_cluster(const std::string& file, const ConfigFlags& connection,
                                 const DumpQuery& query);

}  // namespace berth
