// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/commands/history.h"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "controller/client/api_client.h"
#include "controller/cmd/cluster/cluster_session.h"
#include "controller/cmd/line/console.h"
#include "controller/explain/since.h"
#include "controller/history/history_chunk.h"
#include "controller/history/history_query.h"
#include "controller/preview/yaml.h"

namespace berth {
namespace {

constexpr char kHistoryProgram[] = "berth history";

Error cannot_read(Error error, const std::string& namespace_) {
  if (error.kind == ErrorKind::kForbidden)
    error.message = fmt::format(
        "this account may not read the history's ConfigMaps in {}: bind it "
        "to Role berth-snapshot; {}",
        namespace_, error.message);
  return error;
}

// Reads the existing ones. An empty text means success.
Task<Result<std::string>> fetch(ApiClient& client, const std::string& namespace_,
                                std::vector<ConfigMap>& found, std::stop_token stop) {
  for (const std::string& name : history_config_maps()) {
    ObjectKey key{namespace_, name};
    Result<ConfigMap> read = co_await client.get<ConfigMap>(std::move(key), CallOptions(stop));
    if (read)
      found.push_back(*std::move(read));
    else if (read.error().kind != ErrorKind::kNotFound)
      co_return cannot_read(std::move(read).error(), namespace_);
  }
  co_return std::string();
}

void print(const std::vector<HistoryLine>& lines, const std::string& output) {
  if (output == "text") {
    for (const HistoryLine& line : lines) put_line(format(line));
    return;
  }
  nlohmann::json list = nlohmann::json::array();
  for (const HistoryLine& line : lines)
    list.push_back({{"time", format_time(line.at)},
                    {"actor", line.actor},
                    {"object", line.object},
                    {"what", line.what},
                    {"reason", line.reason},
                    {"cause", line.cause}});
  const std::string text = list.dump(2) + "\n";
  put(output == "json" ? text : json_to_yaml(text));
}

// A namespaced subject without a namespace is in the context's namespace, as in kubectl.
Result<HistoryQuery> query_of(const HistoryFlags& flags) {
  Result<HistoryQuery> query = parse_history_query(flags.subject, flags.namespace_);
  const bool namespaced = query && (query->kind == "Job" || query->kind == "Pod");
  if (namespaced && query->namespace_.empty()) {
    Result<std::string> namespace_ = namespace_of(flags.connection);
    if (!namespace_) return std::move(namespace_).error();
    query->namespace_ = *std::move(namespace_);
  }
  if (!query) return query;
  const Time now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  const Result<Time> since = parse_since(flags.since, now);
  if (!since) return since.error();
  query->since = *since;
  return query;
}

}  // namespace

FlagTable history_flags(HistoryFlags& flags) {
  FlagTable table = {
      words_flag("SUBJECT", flags.subject,
                 "whose history: KIND/NAME or KIND NAME, with KIND node, job, pod, miglayout, "
                 "gpuqueue or gpuclusterpolicy; NAMESPACE/ may stand before the name. Without it: "
                 "everything"),
      text_flag("-n,--namespace", flags.namespace_,
                "namespace of the job or pod; without SUBJECT: only what is in this namespace"),
      text_flag("--since", flags.since, "since then, as 24h, 7d or 2026-11-01T22:00:00Z"),
      choice_flag("-o,--output", flags.output, {"text", "json", "yaml"},
                  "how the lines are written"),
      text_flag("--berth-namespace", flags.berth_namespace, "berth's own namespace"),
  };
  table.back().group = kPlacesGroup;
  for (Flag& flag : login_flags(flags.connection)) table.push_back(std::move(flag));
  return table;
}

int run_history(const HistoryFlags& flags) {
  const Result<HistoryQuery> query = query_of(flags);
  if (!query) return complain(kHistoryProgram, query.error());
  std::vector<ConfigMap> found;
  std::string server;
  const Result<std::string> read =
      converse(flags.connection, server, [&](ApiClient& client, std::stop_token stop) {
        return fetch(client, flags.berth_namespace, found, std::move(stop));
      });
  if (!read) {
    Error error = read.error();
    if (error.where.empty()) error.where = server;
    return complain(kHistoryProgram, error);
  }
  if (found.empty())
    complain(
        fmt::format("berth history: namespace {} has none; a controller with --history keeps it",
                    flags.berth_namespace));
  std::vector<HistoryLine> lines = lines_of(found);
  std::erase_if(lines, [&](const HistoryLine& line) { return !matches(*query, line); });
  print(lines, flags.output);
  return 0;
}

}  // namespace berth
