// SPDX-License-Identifier: Apache-2.0
// CrashTrace: what a process that crashes leaves on stderr: the signal, the address, the build id
// of the program, and a backtrace in addresses relative to its files, which `addr2line` reads with
// the symbols of that build. Then the signal does what it always did.
#pragma once

#include <string>

namespace berth {

// From now on, for SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT. Not in a build with
// AddressSanitizer, which tells more. `version` is printed, too.
void leave_crash_traces(const std::string& version);

}  // namespace berth
