// SPDX-License-Identifier: Apache-2.0
// FetchDump: reads from an API server what a dump holds (preview/dump.h). Never a Secret; of
// ConfigMaps the slot ledger and mig-parted's files.
#pragma once

#include <stop_token>
#include <string>

#include "controller/client/api_client.h"
#include "controller/client/kubeconfig.h"
#include "controller/core/settings.h"

namespace berth {

// Errors say what could not be read. `client` outlives the task.
Task<Result<std::string>> fetch_dump(ApiClient& client, Settings settings, std::stop_token stop);

// The whole conversation: finds the cluster, reads, leaves. An error names the server.
Result<std::string> dump_of_cluster(const ConfigFlags& connection, const Settings& settings);

}  // namespace berth
