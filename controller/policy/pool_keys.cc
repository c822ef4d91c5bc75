// SPDX-License-Identifier: Apache-2.0
#include "controller/policy/pool_keys.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apis/codec/parse_json.h"
#include "controller/core/json_patch.h"

namespace berth {
namespace {

using nlohmann::json;

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool read_labels(const json& labels, PoolItems& items) {
  if (!labels.is_object()) return false;
  for (const auto& [key, value] : labels.items()) {
    if (!value.is_string()) return false;
    items[{Text(key), {}}] = Text(value.get_ref<const std::string&>());
  }
  return true;
}

bool read_taints(const json& taints, PoolItems& items) {
  if (!taints.is_array()) return false;
  for (const json& taint : taints) {
    if (!taint.is_object()) return false;
    const std::string key = text_of(taint, "key"), effect = text_of(taint, "effect");
    if (key.empty() || effect.empty()) return false;
    items[{Text(key), Text(effect)}] = Text(text_of(taint, "value"));
  }
  return true;
}

}  // namespace

std::string PoolItem::str() const {
  return is_label() ? fmt::format("label {}", key.view())
                    : fmt::format("taint {}:{}", key.view(), effect.view());
}

std::string encode_pool_keys(const PoolKeys& keys) {
  std::string labels, taints;
  for (const auto& [item, value] : keys.items) {
    std::string& list = item.is_label() ? labels : taints;
    if (!list.empty()) list += ',';
    const std::string key = quote_json(item.key.view()), text = quote_json(value.view());
    list += item.is_label() ? fmt::format("{}:{}", key, text)
                            : fmt::format(R"({{"key":{},"value":{},"effect":{}}})", key, text,
                                          quote_json(item.effect.view()));
  }
  return fmt::format(R"({{"pool":{},"labels":{{{}}},"taints":[{}],"corrections":{}}})",
                     quote_json(keys.pool), labels, taints, keys.corrections);
}

std::optional<PoolKeys> decode_pool_keys(std::string_view text) {
  const json object = parse_json(text);
  if (!object.is_object()) return std::nullopt;
  PoolKeys keys;
  keys.pool = text_of(object, "pool");
  const auto labels = object.find("labels"), taints = object.find("taints"),
             corrections = object.find("corrections");
  if (labels == object.end() || !read_labels(*labels, keys.items)) return std::nullopt;
  if (taints == object.end() || !read_taints(*taints, keys.items)) return std::nullopt;
  if (corrections != object.end() && corrections->is_number_integer())
    keys.corrections = corrections->get<std::int64_t>();
  return keys;
}

std::optional<Text> shown(const Node& node, const PoolItem& item) {
  if (item.is_label()) {
    const Text* value = node.meta.labels.find(item.key.view());
    return value != nullptr ? std::optional(*value) : std::nullopt;
  }
  for (const Taint& taint : node.taints)
    if (taint.key == item.key && taint.effect == item.effect) return taint.value;
  return std::nullopt;
}

}  // namespace berth
