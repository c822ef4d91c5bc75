// SPDX-License-Identifier: Apache-2.0
// Bugs of berth's own: states that no object, user or server can cause, only berth's code. The
// process ends, in release builds too, and prints what to report. The next process starts from the
// state in the cluster, which the bug has not reached. A state that objects or users can cause is
// no bug: berth reports it on the object and plans around it.
#pragma once

#include <source_location>
#include <string_view>

namespace berth {

[[noreturn]] void bug(std::string_view what,
                      std::source_location at = std::source_location::current());

}  // namespace berth
