// SPDX-License-Identifier: Apache-2.0
// ClusterDump: the cluster that a command looks at, live or as `berth snapshot` saved it. Both go
// through the same text.
#pragma once

#include <string>

#include "controller/client/kubeconfig.h"
#include "controller/cmd/fetch_dump.h"
#include "controller/dump/dump.h"

namespace berth {

struct ClusterDump {
  std::string text;
  Dump dump;
};

// `file` empty: the live cluster. An error names the file, or the server.
Result<ClusterDump> read_cluster(const std::string& file, const ConfigFlags& connection,
                                 const DumpQuery& query);

}  // namespace berth
