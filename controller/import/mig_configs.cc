// SPDX-License-Identifier: Apache-2.0
#include "controller/import/mig_configs.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "apis/base/cut.h"

namespace berth {
namespace {

using Json = nlohmann::json;

constexpr char kConfigs[] = "mig-configs";
constexpr std::size_t kShownName = 60;

bool is_mig_file(const Json& json) { return json.is_object() && json.contains(kConfigs); }

Json parse_source(const ManifestDocument& document) {
  return Json::parse(document.json, nullptr, /*allow_exceptions=*/false);
}

bool may_be_mig_file(const std::string& text) {
  return text.find("mig-configs:") != text.npos || text.find("\"mig-configs\"") != text.npos;
}

// The mig-parted files in a ConfigMap, by key.
std::vector<std::pair<std::string, std::string>> files_in(const Json& object) {
  std::vector<std::pair<std::string, std::string>> files;
  if (const auto data = object.find("data"); data != object.end() && data->is_object())
    for (const auto& [key, text] : data->items())
      if (text.is_string() && may_be_mig_file(text.get_ref<const std::string&>()))
        files.emplace_back(key, text.get<std::string>());
  return files;
}

// mig-parted accepts or refuses a file as a whole, while users need to know which config is wrong.
class MigFile {
 public:
  MigFile(const Source& source, std::string root, ImportReport& report)
      : source_(source), root_(std::move(root)), report_(report) {
    for (const auto& [path, at] : source.document.lines) lines_.emplace(path, at);
  }

  std::vector<MigConfig> read(const Json& file) {
    const Json configs = file.value(kConfigs, Json());
    Json frame = file;
    frame[kConfigs] = Json::parse(R"({"any":[{"devices":"all","mig-enabled":false}]})");
    const bool some = configs.is_object() && !configs.empty();
    if (Result<MigConfigEntries> read = parse_entries(dumped(some ? frame : file)); !read) {
      report_.refuse(source_, root_, read.error().message);
      return {};
    }
    std::vector<MigConfig> out;
    for (const auto& [name, value] : configs.items()) {
      frame[kConfigs] = Json::object({{name, value}});
      Result<MigConfigEntries> read = parse_entries(dumped(frame));
      const std::string field = root_.empty() ? std::string(kConfigs) + "." + name : root_;
      if (!read) {
        report_.refuse(source_, field, read.error().message);
        continue;
      }
      const std::string label = "mig-parted config " + cut(name, kShownName);
      out.push_back({{.file = source_.file, .document = {.line = line(field)}, .label = label},
                     name,
                     std::move(read->begin()->second)});
    }
    return out;
  }

 private:
  int line(const std::string& field) const {
    const auto found = lines_.find(field);
    return found == lines_.end() ? source_.document.line : found->second;
  }

  static std::string dumped(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  const Source& source_;
  const std::string root_;  // the field in a ConfigMap; empty: the document is the file
  ImportReport& report_;
  std::map<std::string_view, int> lines_;
};

}  // namespace

bool holds_mig_configs(const Source& source) {
  const ManifestDocument& document = source.document;
  if (document.kind.empty()) return is_mig_file(parse_source(document));
  return document.kind == "ConfigMap" && document.api_version == "v1" &&
         !files_in(parse_source(document)).empty();
}

std::vector<MigConfig> read_mig_configs(const Source& source, ImportReport& report) {
  const Json json = parse_source(source.document);
  if (source.document.kind.empty()) return MigFile(source, "", report).read(json);
  std::vector<MigConfig> out;
  for (const auto& [key, text] : files_in(json)) {
    const std::string field = "data." + key;
    const Manifest manifest = parse_manifest(text, source.file);
    for (const Finding& finding : manifest.findings)
      report.refuse(source, field, fmt::format("line {} of it: {}", finding.line, finding.message));
    if (!manifest.findings.empty()) continue;
    const Json file =
        manifest.documents.empty() ? Json() : parse_source(manifest.documents.front());
    if (!is_mig_file(file)) {
      report.skip(source, field + " mentions mig-configs and has no such key at its top");
      continue;
    }
    for (MigConfig& config : MigFile(source, field, report).read(file))
      out.push_back(std::move(config));
  }
  return out;
}

}  // namespace berth
