// SPDX-License-Identifier: Apache-2.0
// CrashTrace: prints a crash report to stderr: the signal, the address, the program's build id, and
// a backtrace in addresses relative to its files, which `addr2line` resolves with the symbols of
// that build. After that, the signal has its default effect.
#pragma once

#include <string>

namespace berth {

// Installs handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT. It does nothing in a build
// with AddressSanitizer, whose reports say more. `version` is printed too.
void leave_crash_traces(const std::string& version);

}  // namespace berth
