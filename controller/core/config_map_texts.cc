// SPDX-License-Identifier: Apache-2.0
#include "controller/core/config_map_texts.h"

#include <fmt/format.h>

#include <utility>

#include "apis/base/names.h"
#include "controller/core/json_patch.h"
#include "controller/core/merge_patch.h"
#include "controller/core/seeded_bugs.h"

namespace berth {
namespace {

using Texts = std::map<std::string, std::string>;

// {"key":"text",…}, with null for each key to remove.
std::string changes_of(const Texts& before, const Texts& after) {
  std::string members;
  const auto add = [&](const std::string& key) -> std::string& {
    members += members.empty() ? "" : ",";
    append_quoted(members, key);
    return members += ':';
  };
  for (const auto& [key, text] : after) {
    const auto old = before.find(key);
    if (old == before.end() || old->second != text) append_quoted(add(key), text);
  }
  for (const auto& [key, text] : before)
    if (!after.contains(key)) add(key) += "null";
  return "{" + members + "}";
}

}  // namespace

Write write_texts(const ObjectKey& config_map, const char* field_manager, const ConfigMap* standing,
                  const std::map<std::string, std::string>& data, std::string reason) {
  Write write;
  write.object = {"ConfigMap", config_map.namespace_, config_map.name,
                  standing == nullptr ? std::string() : standing->meta.uid};
  write.field_manager = field_manager;
  write.reason = std::move(reason);
  if (standing == nullptr) {
    write.verb = Verb::kCreate;
    write.body = fmt::format(
        R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}","namespace":{},)"
        R"("labels":{{"{}":"berth"}}}},"data":{}}})",
        config_map.name, quote_json(config_map.namespace_), names::kManagedByLabel,
        changes_of({}, data));
    return write;
  }
  write.verb = Verb::kMergePatch;
  const bool blind = seeded(SeededBug::kUseWithoutVersion);
  write.body =
      (blind ? MergePatch::same_object(standing->meta) : MergePatch::same_version(standing->meta))
          .field("data", changes_of(standing->data, data))
          .str();
  return write;
}

}  // namespace berth
