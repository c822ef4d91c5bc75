// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/commands/snapshot.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "controller/cmd/cluster/fetch_dump.h"
#include "controller/cmd/line/console.h"

namespace berth {

bool write_file(const std::string& path, const std::string& text) {
  const std::string part = path + ".part";
  std::FILE* file = std::fopen(part.c_str(), "w");
  if (file == nullptr) return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) == 0 && written && std::rename(part.c_str(), path.c_str()) == 0)
    return true;
  const int error = errno;
  std::remove(part.c_str());
  errno = error;
  return false;
}

FlagTable snapshot_flags(SnapshotFlags& flags) {
  FlagTable table = {
      file_flag("-o,--output", flags.output, "file to write; - for standard output")};
  for (Flag& flag : login_flags(flags.connection)) table.push_back(std::move(flag));
  for (Flag& flag : settings_flags(flags.settings)) table.push_back(std::move(flag));
  return table;
}

int run_snapshot(const SnapshotFlags& flags) {
  Result<std::string> dump = dump_of_cluster(flags.connection, {.settings = flags.settings});
  if (!dump) return complain("berth snapshot", dump.error());
  if (flags.output == "-") {
    put(*dump);
    return 0;
  }
  if (write_file(flags.output, *dump)) return 0;
  return complain("berth snapshot", {.message = std::strerror(errno), .where = flags.output});
}

}  // namespace berth
