// SPDX-License-Identifier: Apache-2.0
// Bugs of our own: what no object, no person and no server can bring about, only berth's own code.
// The process ends, in release builds too, with a line that says what to report: its successor
// starts from what the cluster says, and whatever went wrong has not been written there. What
// objects or people can cause is a fact instead, to be reported on the object and planned around.
#pragma once

#include <source_location>
#include <string_view>

namespace berth {

[[noreturn]] void bug(std::string_view what,
                      std::source_location at = std::source_location::current());

}  // namespace berth
