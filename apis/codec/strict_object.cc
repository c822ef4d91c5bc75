// SPDX-License-Identifier: Apache-2.0
#include "apis/codec/strict_object.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "apis/codec/parse_json.h"

namespace berth {
namespace {

using Json = nlohmann::json;

const std::vector<std::string>& object_fields() {
  static const std::vector<std::string> fields{"apiVersion", "kind", "metadata", "spec", "status"};
  return fields;
}

const std::vector<std::string>& metadata_fields() {
  static const std::vector<std::string> fields{"name",
                                               "generateName",
                                               "labels",
                                               "annotations",
                                               "finalizers",
                                               "ownerReferences",
                                               "namespace",
                                               "uid",
                                               "resourceVersion",
                                               "generation",
                                               "creationTimestamp",
                                               "deletionTimestamp",
                                               "deletionGracePeriodSeconds",
                                               "managedFields",
                                               "selfLink"};
  return fields;
}

void check_known(const Json& object, const std::string& path, const std::vector<std::string>& known,
                 std::vector<Complaint>& complaints) {
  for (auto it = object.begin(); it != object.end(); ++it) {
    if (std::find(known.begin(), known.end(), it.key()) != known.end()) continue;
    complaints.push_back({path + it.key(), unknown_field_message(it.key(), known)});
  }
}

void check_version(const Json& object, const KindInfo& kind, std::vector<Complaint>& complaints) {
  std::string expected = api_version(kind);
  auto version = object.find("apiVersion");
  if (version == object.end() || version->is_null()) {
    complaints.push_back({"apiVersion", "is required; write " + expected});
  } else if (*version != expected) {
    complaints.push_back({"apiVersion", fmt::format("must be {} for a {}", expected, kind.kind)});
  }
}

void check_string_map(const Json& meta, const char* field, std::vector<Complaint>& complaints) {
  auto map = meta.find(field);
  if (map == meta.end() || map->is_null()) return;
  std::string path = fmt::format("metadata.{}", field);
  if (!map->is_object()) {
    complaints.push_back({path, "must be a map of text"});
    return;
  }
  for (auto it = map->begin(); it != map->end(); ++it) {
    if (!it->is_string() && !it->is_null()) {
      complaints.push_back(
          {path, fmt::format("{} must be text; put its value in quotes", it.key())});
    }
  }
}

void check_name(const Json& meta, std::vector<Complaint>& complaints) {
  // A DNS subdomain. A kind with stricter names checks them in its rules.
  static const std::string kName =
      "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
  constexpr std::size_t kMaxName = 253;
  auto name = meta.find("name");
  if (name == meta.end() || name->is_null() || *name == "") {
    if (meta.contains("generateName")) return;
    complaints.push_back({"metadata.name", "is required"});
  } else if (!name->is_string()) {
    complaints.push_back({"metadata.name", "must be text; put it in quotes"});
  } else if (const auto& text = name->get_ref<const std::string&>();
             text.size() > kMaxName || !matches_pattern(text, kName)) {
    complaints.push_back(
        {"metadata.name",
         "must consist of lower case letters, digits, '-' and '.', and start and end with "
         "a letter or digit"});
  }
}

void check_metadata(const Json& object, std::vector<Complaint>& complaints) {
  auto meta = object.find("metadata");
  if (meta == object.end() || meta->is_null()) {
    complaints.push_back({"metadata.name", "is required"});
    return;
  }
  if (!meta->is_object()) {
    complaints.push_back({"metadata", "must be a map of fields"});
    return;
  }
  check_known(*meta, "metadata.", metadata_fields(), complaints);
  check_name(*meta, complaints);
  check_string_map(*meta, "labels", complaints);
  check_string_map(*meta, "annotations", complaints);
}

void check_spec(const Json& object, const Field& field, std::vector<Complaint>& complaints) {
  auto spec = object.find("spec");
  if (spec == object.end() || spec->is_null()) {
    complaints.push_back({"spec", "is required"});
    return;
  }
  check_field(*spec, field, "spec", UnknownFields::kReport, complaints);
}

bool is_spec_right(const std::vector<Complaint>& complaints) {
  return std::none_of(complaints.begin(), complaints.end(),
                      [](const Complaint& c) { return c.path.starts_with("spec"); });
}

}  // namespace

std::vector<Finding> decode_strictly(const ManifestDocument& document, std::string_view file,
                                     const KindInfo& kind, const Field& spec,
                                     const std::function<void(const JsonCursor& root)>& read,
                                     const std::function<std::vector<Error>()>& check) {
  std::vector<Complaint> complaints;
  Json object = Json::parse(document.json, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) {
    complaints.push_back({"", "is not an object"});
  } else {
    check_version(object, kind, complaints);
    if (document.kind != kind.kind)
      complaints.push_back({"kind", fmt::format("must be {}", kind.kind)});
    check_known(object, "", object_fields(), complaints);
    check_metadata(object, complaints);
    check_spec(object, spec, complaints);
    std::optional<Error> ignored;
    read(JsonCursor(&object, ignored));
    if (is_spec_right(complaints)) {
      for (Error& error : check())
        complaints.push_back({std::move(error.where), std::move(error.message)});
    }
  }
  std::vector<Finding> findings;
  for (Complaint& c : complaints) {
    findings.push_back({.file = std::string(file),
                        .line = line_of(document, c.path),
                        .field = std::move(c.path),
                        .object = fmt::format("{}/{}", kind.kind, document.name),
                        .message = std::move(c.message)});
  }
  return findings;
}

}  // namespace berth
