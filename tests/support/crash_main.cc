// SPDX-License-Identifier: Apache-2.0
// A program that crashes on request: abort, segv, or a stack overflow. Built without sanitizers,
// which print other traces.
#include <csignal>
#include <cstdlib>
#include <string_view>

#include "controller/live/crash_trace.h"

namespace {

int overflow(volatile char* above) {
  if (above == nullptr) return 0;  // never true; without it the compiler reports endless recursion
  volatile char room[4096];
  room[0] = above[0];
  return overflow(room) + room[0];  // never reached
}

}  // namespace

int main(int argc, char** argv) {
  berth::leave_crash_traces("1.2.3");
  const std::string_view how = argc > 1 ? argv[1] : "abort";
  volatile char begin[1] = {1};
  if (how == "segv") *reinterpret_cast<volatile char*>(std::strtoul("24", nullptr, 10)) = 1;
  if (how == "overflow") return overflow(begin);
  std::abort();
}
