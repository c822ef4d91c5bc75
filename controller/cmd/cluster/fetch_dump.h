// SPDX-License-Identifier: Apache-2.0
// FetchDump: reads a dump (dump/dump.h) from an API server. It never reads a Secret. Of
// ConfigMaps it reads the slot ledger and the files of mig-manager and the device plugin.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "controller/client/api_client.h"
#include "controller/client/kubeconfig.h"
#include "controller/core/settings.h"

namespace berth {

struct DumpQuery {
  Settings settings;
  // Pods of this namespace are in the dump whatever they request. Kinds that the account may not
  // list in all namespaces are listed only here. Empty: no such namespace.
  std::string namespace_ = {};
  bool workloads = false;  // also controllers of its pods, and events about refused pods
  bool tolerant = false;   // resources that may not be read are noted in the dump, and are no error
};

// One error lists everything that could not be read; `notes` says what the dump lacks. `client` and
// `notes` must outlive the task.
Task<Result<std::string>> fetch_dump(ApiClient& client, DumpQuery query,
                                     std::vector<std::string>& notes, std::stop_token stop);

// The parts of a dump that change too often, or matter too little, for a watch: controllers of
// pods, events about refused pods, and the controller's Lease.
Task<Result<std::string>> fetch_clues(ApiClient& client, DumpQuery query,
                                      std::vector<std::string>& notes, std::stop_token stop);

// The whole session: finds the cluster and reads it. An error names the server; notes go to
// standard error.
Result<std::string> dump_of_cluster(const ConfigFlags& connection, const DumpQuery& query);

}  // namespace berth
