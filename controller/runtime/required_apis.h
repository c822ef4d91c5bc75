// SPDX-License-Identifier: Apache-2.0
// RequiredApis: the APIs that the controller needs, and the wait for them at the start. The log
// reports a missing CRD once, with what to do, before an informer runs into it.
#pragma once

#include <chrono>
#include <stop_token>
#include <vector>

#include "controller/client/api_client.h"
#include "controller/client/discovery.h"
#include "controller/io/log.h"

namespace berth {

// Depends on the mode: a dry run only reads.
std::vector<ResourceNeed> required_apis(bool writes, bool leader_elect);

// What to do about a resource that is not served, as a command or a question.
std::string remedy(const ResourceNeed& need);

// False if an API is still missing after `limit` (logged), or a stop was requested.
Task<bool> wait_for_apis(ApiClient& client, Log& log, std::vector<ResourceNeed> needs,
                         std::chrono::nanoseconds limit, std::stop_token stop);

}  // namespace berth
