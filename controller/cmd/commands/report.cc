// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/commands/report.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "controller/cmd/cluster/cluster_session.h"
#include "controller/cmd/commands/report_collector.h"
#include "controller/cmd/commands/snapshot.h"
#include "controller/cmd/line/console.h"
#include "controller/report/anonymizer.h"

namespace berth {
namespace {

bool is_document(const ReportFile& file) { return file.path.ends_with(".json"); }

void anonymize(std::vector<ReportFile>& files, const Settings& settings) {
  Anonymizer names({settings.berth_namespace, settings.agents_namespace});
  for (const ReportFile& file : files)
    if (is_document(file))
      names.learn(nlohmann::json::parse(file.text, nullptr, /*allow_exceptions=*/false));
  for (ReportFile& file : files)
    file.text = is_document(file) ? names.apply_json(file.text) : names.apply(file.text);
}

std::string text_of_gaps(const std::vector<std::string>& gaps) {
  std::string text;
  for (const std::string& gap : gaps) text += gap + "\n";
  return text.empty() ? "none\n" : text;
}

}  // namespace

FlagTable report_flags(ReportFlags& flags) {
  FlagTable table = {
      file_flag("-o,--output", flags.output, "archive to write"),
      switch_flag(
          "--anonymize", flags.anonymize,
          "other names for nodes, namespaces, pods, workloads, layouts and queues, the same "
          "in every file; names of users, images and addresses stay")};
  for (Flag& flag : login_flags(flags.connection)) table.push_back(std::move(flag));
  for (Flag& flag : settings_flags(flags.settings)) table.push_back(std::move(flag));
  return table;
}

int run_report(const ReportFlags& flags) {
  std::vector<ReportFile> files;
  std::vector<std::string> gaps;
  std::string server;
  Time now{};
  const Result<std::string> read =
      converse(flags.connection, server,
               [&](ApiClient& client, std::stop_token stop) -> Task<Result<std::string>> {
                 ReportCollector collector(client, flags.settings);
                 Result<std::string> collected = co_await collector.collect(std::move(stop));
                 files = std::move(collector.files);
                 gaps = std::move(collector.gaps);
                 now = client.loop().wall_now();
                 co_return collected;
               });
  if (!read) {
    Error error = read.error();
    if (error.where.empty()) error.where = server;
    return complain("berth report", error);
  }
  files.push_back({"gaps.txt", text_of_gaps(gaps)});
  if (flags.anonymize) anonymize(files, flags.settings);
  for (ReportFile& file : files) file.path = "berth-report/" + file.path;
  const std::string archive = pack_report(files, now);
  for (const std::string& gap : gaps) complain("gap: " + gap);
  if (!write_file(flags.output, archive))
    return complain("berth report", {.message = std::strerror(errno), .where = flags.output});
  complain(fmt::format("{}: {} files, {} gaps; look into it before you send it", flags.output,
                       files.size(), gaps.size()));
  return 0;
}

}  // namespace berth
