// SPDX-License-Identifier: Apache-2.0
// LoginAdvice: what to do about an API server that does not know who asks. It says "Unauthorized"
// and no more; what we logged in with tells the rest.
#pragma once

#include <string>

#include "apis/time.h"
#include "controller/io/client_config.h"
#include "controller/io/host.h"

namespace berth {

// A sentence without its period: what is not accepted, since when if that can be known, and where
// another goes.
std::string login_advice(const ClientConfig& config, const Host& host, Time now);

}  // namespace berth
