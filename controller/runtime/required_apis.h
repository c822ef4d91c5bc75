// SPDX-License-Identifier: Apache-2.0
// RequiredApis: what the controller needs an API server to serve, and the wait for it at the start.
// A missing CRD is told once, with what to do about it, before an informer can stumble over it.
#pragma once

#include <chrono>
#include <stop_token>
#include <vector>

#include "controller/client/api_client.h"
#include "controller/client/discovery.h"
#include "controller/io/log.h"

namespace berth {

// By what the controller will do: a dry run only reads.
std::vector<ResourceNeed> required_apis(bool writes, bool leader_elect);

// What to do about a resource that is not served, as a command or a question.
std::string remedy(const ResourceNeed& need);

// False if something is still missing after `limit` (told), or stop was requested.
Task<bool> wait_for_apis(ApiClient& client, Log& log, std::vector<ResourceNeed> needs,
                         std::chrono::nanoseconds limit, std::stop_token stop);

}  // namespace berth
