// SPDX-License-Identifier: Apache-2.0
// LoginAdvice: what to do if the API server rejects the credentials. The server only says
// "Unauthorized", so the advice comes from the kind of credentials.
#pragma once

#include <string>

#include "apis/base/time.h"
#include "controller/io/client_config.h"
#include "controller/io/host.h"

namespace berth {

// A sentence without its period: which credentials are rejected, since when if known, and how to
// get new ones.
std::string login_advice(const ClientConfig& config, const Host& host, Time now);

}  // namespace berth
