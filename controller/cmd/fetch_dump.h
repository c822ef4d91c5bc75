// SPDX-License-Identifier: Apache-2.0
// FetchDump: reads from an API server what a dump holds (preview/dump.h). Never a Secret; of
// ConfigMaps the slot ledger, and mig-parted's and the device plugin's files.
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
  // Whose pods are kept whatever they ask for, and to which is narrowed what may not be read
  // everywhere; empty: none.
  std::string namespace_ = {};
  bool workloads = false;  // and what makes its pods, and why those were refused
  bool tolerant = false;   // what may not be read is noted in the dump, and is no error
};

// Errors say what could not be read, all of it in one; `notes` what the dump does without. `client`
// and `notes` outlive the task.
Task<Result<std::string>> fetch_dump(ApiClient& client, DumpQuery query,
                                     std::vector<std::string>& notes, std::stop_token stop);

// Of that, what changes too much, or tells too little, to be watched: what makes pods, why those
// were refused, and the controller's Lease.
Task<Result<std::string>> fetch_clues(ApiClient& client, DumpQuery query,
                                      std::vector<std::string>& notes, std::stop_token stop);

// The whole conversation: finds the cluster, reads, leaves. An error names the server;
// notes go to standard error.
Result<std::string> dump_of_cluster(const ConfigFlags& connection, const DumpQuery& query);

}  // namespace berth
