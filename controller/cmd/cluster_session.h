// SPDX-License-Identifier: Apache-2.0
// ClusterSession: one short conversation with an API server, for commands that look and leave.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "apis/result.h"
#include "controller/client/api_client.h"
#include "controller/client/kubeconfig.h"

namespace berth {

// Finds the cluster, runs the loop until the task has ended, and returns what it returned. SIGINT
// and SIGTERM cancel it. `where` gets the server's address as soon as it is known.
Result<std::string> converse(
    const ConfigFlags& connection, std::string& where,
    const std::function<Task<Result<std::string>>(ApiClient&, std::stop_token)>& task);

// The namespace that the kubeconfig's context, or the pod's service account, is in.
Result<std::string> namespace_of(const ConfigFlags& connection);

}  // namespace berth
