// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/cluster/cluster_dump.h"

#include <fmt/format.h>

#include <utility>

#include "controller/cmd/cluster/fetch_dump.h"
#include "controller/cmd/input/input_text.h"
#include "controller/cmd/line/build_facts.h"
#include "controller/cmd/line/console.h"
#include "controller/explain/controller_lease.h"

namespace berth {

Result<ClusterDump> read_cluster(const std::string& file, const ConfigFlags& connection,
                                 const DumpQuery& query) {
  // Each of these selects a cluster, and one would be ignored.
  for (const auto& [flag, value] : {std::pair("--kubeconfig", &connection.kubeconfig),
                                    std::pair("--context", &connection.context)})
    if (!file.empty() && !value->empty())
      return invalid_spec(
          "--snapshot",
          fmt::format("conflicts with {}: it is either a saved cluster or a live one", flag));
  Result<std::string> text =
      file.empty() ? dump_of_cluster(connection, query) : read_text(file, kMaxSnapshotBytes);
  if (!text) return std::move(text).error();
  Result<Dump> dump = load_dump(*text);
  if (dump) {
    const std::string other = told_other_version(dump->clues, build_facts().version);
    if (file.empty() && !other.empty()) complain("note: " + other);
    return ClusterDump{*std::move(text), *std::move(dump)};
  }
  Error error = std::move(dump).error();
  if (!file.empty()) error.where = file + (error.where.empty() ? "" : ": " + error.where);
  return error;
}

}  // namespace berth
