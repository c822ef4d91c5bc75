// SPDX-License-Identifier: Apache-2.0
// ClusterSession: a short session with an API server, for commands that only read.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "apis/base/result.h"
#include "controller/client/api_client.h"
#include "controller/client/kubeconfig.h"

namespace berth {

// Finds the cluster, runs the loop until the task has ended, and returns its result. SIGINT and
// SIGTERM cancel it. `where` gets the server's address as soon as it is known.
Result<std::string> converse(
    const ConfigFlags& connection, std::string& where,
    const std::function<Task<Result<std::string>>(ApiClient&, std::stop_token)>& task);

// The namespace of the kubeconfig's context, or of the pod's service account.
Result<std::string> namespace_of(const ConfigFlags& connection);

}  // namespace berth
