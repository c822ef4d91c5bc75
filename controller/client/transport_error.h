// SPDX-License-Identifier: Apache-2.0
// A transport's outcome, other than a complete reply, as a typed Error.
#pragma once

#include <string>

#include "apis/result.h"
#include "controller/io/transport.h"

namespace berth {

// `detail` is the transport's sentence; without one the outcome's own is used.
Error transport_error(TransportOutcome outcome, std::string detail);

// The reply was larger than was accepted: asking for less may do.
bool is_too_large(const Error& error);

}  // namespace berth
