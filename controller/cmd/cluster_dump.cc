// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/cluster_dump.h"

#include "controller/cmd/fetch_dump.h"
#include "controller/cmd/manifest_files.h"

namespace berth {

Result<ClusterDump> read_cluster(const std::string& file, const ConfigFlags& connection,
                                 const DumpQuery& query) {
  Result<std::string> text = file.empty() ? dump_of_cluster(connection, query) : read_text(file);
  if (!text) return std::move(text).error();
  Result<Dump> dump = load_dump(*text);
  if (dump) return ClusterDump{*std::move(text), *std::move(dump)};
  Error error = std::move(dump).error();
  if (!file.empty()) error.where = file + (error.where.empty() ? "" : ": " + error.where);
  return error;
}

}  // namespace berth
