// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/commands/page.h"

#include <utility>

#include "controller/cmd/cluster/cluster_dump.h"
#include "controller/cmd/line/console.h"
#include "controller/page/page.h"

namespace berth {

FlagTable page_flags(PageFlags& flags) {
  FlagTable table = {
      file_flag("--snapshot", flags.snapshot,
                "show this file, as `berth snapshot` wrote it, instead of a live cluster"),
  };
  for (Flag& flag : login_flags(flags.connection)) table.push_back(std::move(flag));
  for (Flag& flag : settings_flags(flags.settings)) table.push_back(std::move(flag));
  return table;
}

int run_page(const PageFlags& flags) {
  const Result<ClusterDump> read = read_cluster(flags.snapshot, flags.connection,
                                                {.settings = flags.settings, .workloads = true});
  if (!read) return complain("berth page", read.error());
  const Dump& dump = read->dump;
  const Answers answers;
  const Snapshot snapshot{.cluster = dump.cluster,
                          .answers = answers,
                          .settings = flags.settings,
                          .now = dump.taken_at,
                          .offline = true};
  put(print_page(snapshot, dump.clues));
  return 0;
}

}  // namespace berth
