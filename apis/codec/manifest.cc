// SPDX-License-Identifier: Apache-2.0
#include "apis/codec/manifest.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "apis/codec/yaml_scalar.h"
#include "apis/codec/yaml_tree.h"

namespace berth {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxDepth = 64;         // of the JSON, with aliases expanded
constexpr std::size_t kMaxAliased = 100'000;  // values in a document that aliases insert
constexpr std::size_t kMaxFindings = 1000;

// Converts one YAML document to JSON, and records lines and duplicate keys.
class Converter {
 public:
  Converter(const YamlDocument& document, std::string_view file, std::vector<Finding>& findings)
      : document_(document), file_(file), findings_(findings) {}

  // nullopt if JSON can't represent the document; the finding says why.
  std::optional<Json> convert() {
    Json root = value(0, "", 0, /*noting=*/true);
    if (broken_) return std::nullopt;
    return root;
  }
  std::vector<std::pair<std::string, int>> take_lines() { return std::move(lines_); }

 private:
  const YamlNode& node(int at) const { return document_.nodes[static_cast<std::size_t>(at)]; }

  void complain(int line, const std::string& path, std::string message) {
    if (findings_.size() < kMaxFindings) {
      findings_.push_back(
          {.file = std::string(file_), .line = line, .field = path, .message = std::move(message)});
    }
  }

  Json give_up(int line, const std::string& path, std::string message) {
    if (!broken_) complain(line, path, std::move(message));
    broken_ = true;
    return nullptr;
  }

  Json value(int at, const std::string& path, std::size_t depth, bool noting) {
    if (broken_) return nullptr;
    const YamlNode& here = node(at);
    if (depth > kMaxDepth) return give_up(here.line, path, "is nested too deeply");
    if (!noting && ++aliased_ > kMaxAliased)
      return give_up(here.line, path, "is too large once its aliases are followed");
    switch (here.kind) {
      case YamlNode::Kind::kAlias:
        return value(here.children.front(), path, depth + 1, false);
      case YamlNode::Kind::kSequence:
        return sequence(here, path, depth, noting);
      case YamlNode::Kind::kMapping:
        return mapping(here, path, depth, noting);
      case YamlNode::Kind::kScalar:
        break;
    }
    Result<Json> scalar = type_scalar(here.text, here.tag);
    if (!scalar) return give_up(here.line, path, scalar.error().message);
    return *std::move(scalar);
  }

  Json sequence(const YamlNode& here, const std::string& path, std::size_t depth, bool noting) {
    Json list = Json::array();
    for (std::size_t i = 0; i < here.children.size() && !broken_; ++i) {
      std::string item = fmt::format("{}[{}]", path, i);
      if (noting) lines_.emplace_back(item, node(here.children[i]).line);
      list.push_back(value(here.children[i], item, depth + 1, noting));
    }
    return list;
  }

  Json mapping(const YamlNode& here, const std::string& path, std::size_t depth, bool noting) {
    Json map = Json::object();
    std::vector<int> merged;
    for (std::size_t i = 0; i + 1 < here.children.size() && !broken_; i += 2) {
      const YamlNode& key_node = node(here.children[i]);
      if (key_node.kind != YamlNode::Kind::kScalar)
        return give_up(key_node.line, path, "a key must be plain text");
      if (key_node.text == "<<" && key_node.tag == "?") {
        merged.push_back(here.children[i + 1]);
        continue;
      }
      Result<std::string> key = type_key(key_node.text, key_node.tag);
      if (!key) return give_up(key_node.line, path, key.error().message);
      std::string field = path.empty() ? *key : path + "." + *key;
      if (map.contains(*key))
        complain(key_node.line, field, "is listed twice; remove one of the two");
      if (noting) lines_.emplace_back(field, key_node.line);
      map[*key] = value(here.children[i + 1], field, depth + 1, noting);
    }
    for (int at : merged) merge(at, map, path, depth);
    return map;
  }

  // "<<: *defaults": adds the fields that the mapping itself does not have.
  void merge(int at, Json& map, const std::string& path, std::size_t depth) {
    Json source = value(at, path, depth + 1, false);
    if (source.is_object()) source = Json::array({source});
    if (!source.is_array()) {
      give_up(node(at).line, path, "<< can merge only a map");
      return;
    }
    for (const Json& one : source) {
      if (!one.is_object()) {
        give_up(node(at).line, path, "<< can merge only a map");
        return;
      }
      for (auto it = one.begin(); it != one.end(); ++it) {
        if (!map.contains(it.key())) map[it.key()] = *it;
      }
    }
  }

  const YamlDocument& document_;
  std::string_view file_;
  std::vector<Finding>& findings_;
  std::vector<std::pair<std::string, int>> lines_;
  std::size_t aliased_ = 0;
  bool broken_ = false;
};

std::string text_at(const Json& json, const char* key) {
  auto it = json.find(key);
  return it != json.end() && it->is_string() ? it->get<std::string>() : "";
}

ManifestDocument make_document(const Json& json, int line,
                               std::vector<std::pair<std::string, int>> lines) {
  ManifestDocument document;
  document.api_version = text_at(json, "apiVersion");
  document.kind = text_at(json, "kind");
  auto meta = json.find("metadata");
  if (meta != json.end() && meta->is_object()) document.name = text_at(*meta, "name");
  document.line = line;
  document.json = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  document.lines = std::move(lines);
  return document;
}

// Splits a List into its objects, as kubectl does. The items' paths begin at the item.
void split_list(const Json& list, int line, const std::vector<std::pair<std::string, int>>& lines,
                std::vector<ManifestDocument>& documents) {
  std::vector<std::vector<std::pair<std::string, int>>> own(list["items"].size());
  std::vector<int> starts(own.size(), line);
  constexpr std::string_view kItems = "items[";
  for (const auto& [path, at] : lines) {
    if (!std::string_view(path).starts_with(kItems)) continue;
    std::size_t index = 0, i = kItems.size();
    while (i < path.size() && path[i] != ']')
      index = index * 10 + static_cast<std::size_t>(path[i++] - '0');
    if (index >= own.size()) continue;
    if (i + 1 >= path.size())
      starts[index] = at;
    else if (path[i + 1] == '.')
      own[index].emplace_back(path.substr(i + 2), at);
  }
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (list["items"][i].is_object())
      documents.push_back(make_document(list["items"][i], starts[i], std::move(own[i])));
  }
}

void add_document(const YamlDocument& yaml, std::string_view file, Manifest& manifest) {
  if (yaml.nodes.empty()) return;
  const YamlNode& root = yaml.nodes.front();
  std::size_t before = manifest.findings.size();
  Converter converter(yaml, file, manifest.findings);
  std::optional<Json> json = converter.convert();
  if (!json || json->is_null()) return;  // null: a document that has only comments
  if (!json->is_object()) {
    manifest.findings.push_back(
        {.file = std::string(file),
         .line = root.line,
         .message = "a document must be a map with apiVersion, kind and metadata"});
    return;
  }
  if (text_at(*json, "kind") == "List" && json->contains("items") && (*json)["items"].is_array()) {
    split_list(*json, root.line, converter.take_lines(), manifest.documents);
    return;
  }
  manifest.documents.push_back(make_document(*json, root.line, converter.take_lines()));
  const ManifestDocument& document = manifest.documents.back();
  for (std::size_t i = before; i < manifest.findings.size(); ++i) {
    if (!document.kind.empty()) manifest.findings[i].object = document.kind + "/" + document.name;
  }
}

}  // namespace

std::string format(const Finding& finding) {
  std::string text = finding.file;
  if (finding.line > 0) text += fmt::format(":{}", finding.line);
  for (const std::string& part : {finding.object, finding.field, finding.message}) {
    if (!part.empty()) text += (text.empty() ? "" : ": ") + part;
  }
  return text;
}

Manifest parse_manifest(std::string_view text, std::string_view file) {
  Manifest manifest;
  YamlStream stream = parse_yaml(text);
  for (const YamlDocument& document : stream.documents) add_document(document, file, manifest);
  for (const YamlError& error : stream.errors) {
    manifest.findings.push_back(
        {.file = std::string(file), .line = error.line, .message = error.message});
  }
  return manifest;
}

int line_of(const ManifestDocument& document, std::string_view field_path) {
  for (std::string_view path = field_path; !path.empty();) {
    for (const auto& [known, line] : document.lines) {
      if (known == path) return line;
    }
    auto cut = path.find_last_of(".[");
    if (cut == std::string_view::npos) break;
    path = path.substr(0, cut);
  }
  return document.line;
}

}  // namespace berth
