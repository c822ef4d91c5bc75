// SPDX-License-Identifier: Apache-2.0
// ServiceFlags: the flags that berth's long-running programs have in common, and what they check of
// any flag.
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

// Whether an address switches its listener on.
bool enabled(const std::string& address);

// What a flag was given: an error names it.
struct FlagText {
  const char* flag;
  const std::string& text;
};
Result<void> require_texts(std::initializer_list<FlagText> flags);
// Those that are not off.
Result<void> require_addresses(std::initializer_list<FlagText> flags);

}  // namespace berth
