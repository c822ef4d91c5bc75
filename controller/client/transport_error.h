// SPDX-License-Identifier: Apache-2.0
// TransportError: a transport's outcome without a complete reply, as a typed Error.
#pragma once

#include <string>

#include "apis/base/result.h"
#include "controller/io/transport.h"

namespace berth {

// `detail` is the transport's own message; if it is empty, the outcome's message is used.
Error transport_error(TransportOutcome outcome, std::string detail);

// The reply was larger than the limit: a smaller request may succeed.
bool is_too_large(const Error& error);

}  // namespace berth
