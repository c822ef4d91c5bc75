// SPDX-License-Identifier: Apache-2.0
#include "controller/scenario/fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apis/base/nearest_name.h"
#include "apis/base/time.h"

namespace berth {

using Json = nlohmann::json;

Fields::Fields(const Json& map, std::string path, std::vector<Complaint>& complaints)
    : map_(map.is_object() ? &map : nullptr), path_(std::move(path)), complaints_(complaints) {
  if (map_ == nullptr) complaints_.push_back({path_, "must be a map of fields"});
}

const Json* Fields::find(const std::string& key) {
  if (std::ranges::find(known_, key) == known_.end()) known_.push_back(key);
  if (map_ == nullptr) return nullptr;
  auto it = map_->find(key);
  return it == map_->end() || it->is_null() ? nullptr : &*it;
}

bool Fields::has_key(const std::string& key) const {
  return map_ != nullptr && map_->contains(key);
}

std::vector<std::string> Fields::keys() const {
  std::vector<std::string> keys;
  if (map_ != nullptr)
    for (const auto& [key, value] : map_->items()) keys.push_back(key);
  return keys;
}

void Fields::read(const std::string& key, std::string& out) {
  const Json* value = find(key);
  if (value == nullptr) return;
  if (value->is_boolean())
    return complain(key, "must be text, and n, y, no, yes, on and off are not: put it in quotes");
  if (!value->is_string()) return complain(key, "must be text; put it in quotes");
  out = value->get<std::string>();
}

void Fields::read(const std::string& key, bool& out) {
  const Json* value = find(key);
  if (value == nullptr) return;
  if (!value->is_boolean()) return complain(key, "must be true or false");
  out = value->get<bool>();
}

void Fields::read(const std::string& key, int& out, int min, int max) {
  const Json* value = find(key);
  if (value == nullptr) return;
  if (!value->is_number_integer() || *value < min || *value > max)
    return complain(key, fmt::format("must be a whole number from {} to {}", min, max));
  out = value->get<int>();
}

void Fields::read(const std::string& key, std::chrono::milliseconds& out) {
  const Json* value = find(key);
  if (value == nullptr) return;
  if (!value->is_string()) return complain(key, "must be a duration, such as 90s or 5m");
  const Result<Duration> duration = parse_duration(value->get_ref<const std::string&>());
  if (!duration) return complain(key, duration.error().message);
  out = *duration;
}

void Fields::read(const std::string& key, std::chrono::nanoseconds& out) {
  auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(out);
  const auto before = ms;
  read(key, ms);
  if (ms != before) out = ms;
}

void Fields::read(const std::string& key, std::map<std::string, std::string>& out) {
  const Json* value = find(key);
  if (value == nullptr) return;
  if (!value->is_object()) return complain(key, "must be a map of text");
  for (const auto& [name, text] : value->items()) {
    if (!text.is_string())
      complain(key, fmt::format("{} must be text; put its value in quotes", name));
    else
      out[name] = text.get<std::string>();
  }
}

void Fields::read_choice(const std::string& key, std::string& out,
                         const std::vector<std::string>& words) {
  std::string text = out;
  read(key, text);
  if (text == out) return;
  if (std::ranges::find(words, text) == words.end())
    return complain(key, no_such_word(text, words));
  out = text;
}

std::vector<const Json*> Fields::items(const std::string& key) {
  std::vector<const Json*> items;
  const Json* value = find(key);
  if (value == nullptr) return items;
  if (!value->is_array()) {
    complain(key, "must be a list");
    return items;
  }
  for (const Json& item : *value) items.push_back(&item);
  return items;
}

void Fields::require(const std::string& key, const std::string& advice) {
  if (map_ != nullptr && !has(key)) complain(key, "is required; " + advice);
}

void Fields::complain(const std::string& key, std::string message) {
  complaints_.push_back({path_of(key), std::move(message)});
}

void Fields::finish(const std::vector<std::string>& more) {
  if (map_ == nullptr) return;
  std::vector<std::string> known = known_;
  known.insert(known.end(), more.begin(), more.end());
  for (const auto& [key, value] : map_->items())
    if (std::ranges::find(known, key) == known.end())
      complain(key, unknown_field_message(key, known));
}

std::string Fields::path_of(const std::string& key) const {
  return path_.empty() || key.empty() ? path_ + key : path_ + "." + key;
}

std::string no_such_word(std::string_view text, const std::vector<std::string>& words) {
  const std::string near = nearest_name(text, words);
  if (!near.empty()) return fmt::format("\"{}\" is unknown; did you mean {}?", text, near);
  return fmt::format("\"{}\" is unknown; write one of {}", text, fmt::join(words, ", "));
}

}  // namespace berth
