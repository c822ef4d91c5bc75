// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/plan.h"

#include <cstdio>

#include "controller/cmd/fetch_dump.h"
#include "controller/cmd/manifest_files.h"
#include "controller/preview/dump.h"
#include "controller/preview/json.h"
#include "controller/preview/project.h"
#include "controller/preview/text.h"
#include "controller/preview/yaml.h"

namespace berth {
namespace {

constexpr int kNothingToDo = 0;
constexpr int kError = 1;
constexpr int kChanges = 2;

int fail(const Error& error) {
  std::fprintf(stderr, "berth plan: %s\n", describe(error).c_str());
  return kError;
}

Result<Dump> read_cluster(const PlanFlags& flags) {
  Result<std::string> text = flags.snapshot.empty()
                                 ? dump_of_cluster(flags.connection, flags.settings)
                                 : read_text(flags.snapshot);
  if (!text) return std::move(text).error();
  Result<Dump> dump = load_dump(*text);
  if (!dump && !flags.snapshot.empty()) {
    Error error = std::move(dump).error();
    error.where = flags.snapshot + (error.where.empty() ? "" : ": " + error.where);
    return error;
  }
  return dump;
}

std::string print(const Projection& projection, const std::string& format) {
  if (format == "json") return print_json(projection);
  if (format == "yaml") return print_yaml(projection);
  return print_text(projection);
}

}  // namespace

FlagTable plan_flags(PlanFlags& flags) {
  FlagTable table = {
      list_flag("-f,--filename", flags.files,
                "manifest to be applied; a file, a folder, or - for standard input; repeatable"),
      text_flag("--snapshot", flags.snapshot,
                "plan against this file, as `berth snapshot` wrote it, instead of a live cluster"),
      choice_flag("-o,--output", flags.output, {"text", "json", "yaml"}, "how the plan is written"),
  };
  for (Flag& flag : connection_flags(flags.connection)) table.push_back(std::move(flag));
  for (Flag& flag : settings_flags(flags.settings)) table.push_back(std::move(flag));
  return table;
}

int run_plan(const PlanFlags& flags) {
  Result<ManifestFiles> files = read_manifests(flags.files);
  if (!files) return fail(files.error());
  for (const Finding& note : files->skipped)
    std::fprintf(stderr, "note: %s\n", format(note).c_str());
  for (const Finding& finding : files->findings)
    std::fprintf(stderr, "%s\n", format(finding).c_str());
  if (!files->findings.empty()) return kError;

  Result<Dump> dump = read_cluster(flags);
  if (!dump) return fail(dump.error());
  std::vector<MIGLayout> layouts;
  for (LayoutInFile& layout : files->layouts) layouts.push_back(std::move(layout.layout));
  const Projection projection = project(dump->cluster, layouts, flags.settings, dump->taken_at);
  std::fputs(print(projection, flags.output).c_str(), stdout);
  if (projection.invalid_spec()) return kError;
  return projection.changes() ? kChanges : kNothingToDo;
}

}  // namespace berth
