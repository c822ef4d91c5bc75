// SPDX-License-Identifier: Apache-2.0
#include "controller/server/process_facts.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

namespace berth {
namespace {

// /proc/self/stat after the command's name, which may contain blanks and brackets. Field 3 comes
// first. See proc(5).
struct Stat {
  double user_ticks = 0;      // 14
  double system_ticks = 0;    // 15
  double start_ticks = 0;     // 22, since boot
  double virtual_bytes = 0;   // 23
  double resident_pages = 0;  // 24
};

Stat read_stat() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  Stat stat;
  const std::size_t end_of_name = line.rfind(')');
  if (end_of_name == std::string::npos) return stat;
  std::istringstream fields(line.substr(end_of_name + 1));
  std::string field;
  for (int number = 3; number <= 24 && fields >> field; ++number) {
    const double value = std::strtod(field.c_str(), nullptr);
    if (number == 14) stat.user_ticks = value;
    if (number == 15) stat.system_ticks = value;
    if (number == 22) stat.start_ticks = value;
    if (number == 23) stat.virtual_bytes = value;
    if (number == 24) stat.resident_pages = value;
  }
  return stat;
}

double boot_time() {
  timespec wall{};
  timespec since_boot{};
  clock_gettime(CLOCK_REALTIME, &wall);
  clock_gettime(CLOCK_BOOTTIME, &since_boot);
  return static_cast<double>(wall.tv_sec - since_boot.tv_sec);
}

}  // namespace

ProcessFacts read_process_facts() {
  const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  const Stat stat = read_stat();
  // Once: a step of the clock must not change the start time.
  static const double booted_at = boot_time();
  ProcessFacts facts;
  facts.cpu_seconds = (stat.user_ticks + stat.system_ticks) / ticks;
  facts.resident_bytes = stat.resident_pages * static_cast<double>(sysconf(_SC_PAGESIZE));
  facts.virtual_bytes = stat.virtual_bytes;
  facts.start_time_seconds = booted_at + stat.start_ticks / ticks;
  std::error_code error;
  for (std::filesystem::directory_iterator it("/proc/self/fd", error), end; !error && it != end;
       it.increment(error))
    ++facts.open_fds;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) facts.max_fds = static_cast<double>(limit.rlim_cur);
  return facts;
}

}  // namespace berth
