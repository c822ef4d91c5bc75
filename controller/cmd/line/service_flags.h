// SPDX-License-Identifier: Apache-2.0
// ServiceFlags: flags of all berth services, and checks of flag values.
#pragma once

#include <initializer_list>
#include <string>

#include "apis/base/result.h"
#include "controller/cmd/line/flags.h"

namespace berth {

// --metrics-bind-address, --metrics-authorization and --health-probe-bind-address.
FlagTable probe_flags(ProbeFlags& flags);
Result<void> validate(const ProbeFlags& flags);
Flag print_config_flag(bool& field);

// Whether an address enables its listener.
bool enabled(const std::string& address);

// A flag and its value, for error messages.
struct FlagText {
  const char* flag;
  const std::string& text;
};
Result<void> require_texts(std::initializer_list<FlagText> flags);
// Checks the addresses of enabled listeners.
Result<void> require_addresses(std::initializer_list<FlagText> flags);

}  // namespace berth
