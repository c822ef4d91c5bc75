// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/commands/log_level.h"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "controller/cmd/cluster/cluster_client.h"
#include "controller/cmd/line/console.h"
#include "controller/live/system_host.h"

namespace berth {
namespace {

int refuse(std::string message) {
  return complain("berth log-level", Error{.message = std::move(message)});
}

}  // namespace

FlagTable log_level_flags(LogLevelFlags& flags) {
  const std::vector<std::string> levels = {"debug", "flag"};
  return {
      {.name = "LEVEL",
       .help = "debug, or flag: what --log-level said when it was started",
       .kind = Flag::Kind::kPositional,
       .set = [&flags, levels](const std::string& text) -> Result<void> {
         if (Result<void> known = one_of("LEVEL", text, levels); !known) return known;
         flags.level = text;
         return {};
       },
       .show = [&flags] { return flags.level; }},
      count_flag("--pid", flags.pid, "the process; in berth's container it is 1"),
  };
}

int run_log_level(const LogLevelFlags& flags) {
  if (flags.level.empty()) return refuse("LEVEL: write debug or flag");
  if (flags.pid < 1) return refuse("--pid: must be above zero");
  // The signal would end other programs.
  const FileText name = SystemHost().read_file(fmt::format("/proc/{}/comm", flags.pid));
  if (!name.text) return refuse(fmt::format("there is no process {}", flags.pid));
  if (*name.text != "berth\n")
    return refuse(
        fmt::format("process {} is no berth; run this in berth's container: kubectl -n "
                    "berth-system exec deploy/berth -- berth log-level {}",
                    flags.pid, flags.level));
  const int signal = flags.level == "debug" ? kDebugSignal : kFlagLevelSignal;
  if (kill(flags.pid, signal) != 0)
    return refuse(fmt::format("process {}: {}", flags.pid, std::strerror(errno)));
  return 0;
}

}  // namespace berth
