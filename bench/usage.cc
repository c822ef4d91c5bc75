// SPDX-License-Identifier: Apache-2.0
#include "bench/usage.h"

#include <sys/resource.h>

#include <fstream>
#include <string>

namespace berth {
namespace {

double seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
}

}  // namespace

Usage usage_now() {
  rusage r{};
  getrusage(RUSAGE_SELF, &r);
  return {seconds(r.ru_utime) + seconds(r.ru_stime), std::chrono::steady_clock::now()};
}

double wall_s(const Usage& from, const Usage& to) {
  return std::chrono::duration<double>(to.at - from.at).count();
}

Memory memory_now() {
  Memory memory;
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string field; file >> field;) {
    double kib = 0;
    if (field == "Rss:" && file >> kib) memory.resident_mib = kib / 1024;
    if (field == "Anonymous:" && file >> kib) memory.anonymous_mib = kib / 1024;
  }
  return memory;
}

}  // namespace berth
