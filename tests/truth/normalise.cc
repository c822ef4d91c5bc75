// SPDX-License-Identifier: Apache-2.0
#include "tests/truth/normalise.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace berth::truth {
namespace {

using nlohmann::json;

bool fits(std::string_view text, std::string_view pattern) {
  if (text.size() < pattern.size()) return false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool ok = pattern[i] == 'd'   ? std::isdigit(c) != 0
                    : pattern[i] == 'h' ? std::isxdigit(c) != 0
                                        : text[i] == pattern[i];
    if (!ok) return false;
  }
  return true;
}

constexpr char kTime[] = "dddd-dd-ddTdd:dd:dd";
constexpr std::string_view kUid = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";

// Scripts write only times in 2020; every other time comes from a server's clock.
bool is_clock(const std::string& text) { return fits(text, kTime) && !text.starts_with("2020-"); }

bool is_empty(const json& value) {
  return value.is_null() || ((value.is_object() || value.is_array()) && value.empty());
}

// The server often checks a field in two places, and then reports it twice.
json as_set(json list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

// Messages that berth or its users act on; all others are left out.
bool is_read(const json& cause) {
  const std::string reason = cause.value("reason", "");
  return reason == "FieldManagerConflict" || reason == "DisruptionBudget";
}
bool is_read(const std::string& message) {
  constexpr std::string_view kRead[] = {
      "more than one PodDisruptionBudget", "exceeded quota: ",      "failed quota: ",
      "status unknown for quota: ",        "no PriorityClass with", "must not be provided in pod"};
  return std::ranges::any_of(
      kRead, [&](std::string_view words) { return message.find(words) != std::string::npos; });
}

// A progress bookmark: the server sends one from time to time by its clock.
bool is_in_passing(const json& event) {
  return event.is_object() && event.value("type", json()) == "BOOKMARK" &&
         !event["object"]["metadata"].contains("annotations");
}

// For a name that the server would have generated, which the script's next object does not have.
std::string without_ending(std::string text) {
  constexpr std::string_view kLead = "-z-";  // as in creations.cc
  constexpr std::size_t kRandom = 5;
  if (const std::size_t at = text.find(kLead); at != text.npos)
    text.replace(at + kLead.size(), kRandom, "<generated>");
  return text;
}

}  // namespace

json Normaliser::normalise(const Answer& answer) {
  json out = {{"code", answer.code}};
  if (answer.body.is_object() && answer.body.contains("items"))
    out["body"] = list(answer.body);
  else
    out["body"] = any(answer.body, "");
  return out;
}

json Normaliser::any(const json& value, const std::string& key) {
  if (value.is_object())
    return value.value("kind", json()) == "Status" && value.contains("code") ? status(value)
                                                                             : object(value);
  if (value.is_array()) {
    json out = json::array();
    for (const json& entry : value)
      if (!is_in_passing(entry)) out.push_back(any(entry, ""));
    return out;
  }
  if (!value.is_string()) return value;
  if (key == "resourceVersion") return token("version", value.get<std::string>());
  return text(value.get<std::string>());
}

json Normaliser::object(const json& value) {
  if (value.value("type", json()) == "BOOKMARK") return bookmark(value);
  json out = json::object();
  const std::string generated =
      value.value("generateName", json("")).is_string() ? value.value("generateName", "") : "";
  for (const auto& [key, entry] : value.items()) {
    if (key == "managedFields" && entry.is_array()) {
      out[key] = managed_fields(entry);
    } else if (key == "name" && !generated.empty() && entry.is_string()) {
      out[key] = token("generated", entry.get<std::string>());
      generated_[entry.get<std::string>()] = out[key].get<std::string>();
    } else {
      json normal = any(entry, key);
      if (!is_empty(normal)) out[text(key)] = std::move(normal);
    }
  }
  return out;
}

json Normaliser::list(const json& value) {
  json out = {{"kind", value.value("kind", "")}, {"apiVersion", value.value("apiVersion", "")}};
  const json& metadata = value["metadata"];
  out["more"] = !metadata.value("continue", "").empty();
  out["remainingItemCount"] = metadata.value("remainingItemCount", 0);
  out["items"] = value["items"].is_array() ? any(value["items"], "") : json::array();
  return out;
}

// Its version counts other scripts' writes, and a typed object contains the fields that its kind
// always has.
json Normaliser::bookmark(const json& event) {
  const json& object = event["object"];
  return {{"type", "BOOKMARK"},
          {"kind", object.value("kind", "")},
          {"apiVersion", object.value("apiVersion", "")},
          {"annotations", object["metadata"].value("annotations", json::object())}};
}

json Normaliser::status(const json& value) {
  json out = {{"status", value.value("status", "")},
              {"reason", value.value("reason", "")},
              {"code", value["code"]}};
  const json details = value.value("details", json::object());
  for (const char* key : {"name", "group", "kind", "uid", "retryAfterSeconds"})
    if (details.contains(key)) out[key] = any(details[key], "");
  if (out.contains("name")) out["name"] = without_ending(out["name"]);
  if (const std::string message = value.value("message", ""); is_read(message))
    out["message"] = without_ending(message);
  json causes = json::array();
  for (const json& cause : details.value("causes", json::array())) {
    json normal = {{"reason", cause.value("reason", "")}, {"field", cause.value("field", "")}};
    if (is_read(cause)) normal["message"] = text(cause.value("message", ""));
    causes.push_back(std::move(normal));
  }
  if (!causes.empty()) out["causes"] = as_set(std::move(causes));
  return out;
}

json Normaliser::managed_fields(const json& entries) {
  json out = json::object();
  for (const json& entry : entries) {
    std::string name =
        fmt::format("{} {} {} {}", entry.value("manager", ""), entry.value("operation", ""),
                    entry.value("subresource", ""), entry.value("apiVersion", ""));
    while (out.contains(name)) name += " again";
    // Keys of list entries contain uids of owners.
    out[name] = json::parse(text(entry.value("fieldsV1", json::object()).dump()));
  }
  return out;
}

std::string Normaliser::text(const std::string& value) {
  if (is_clock(value)) return "<time>";
  for (const auto& [name, token] : generated_)
    if (const std::size_t at = value.find(name); at != std::string::npos)
      return value.substr(0, at) + token + text(value.substr(at + name.size()));
  std::string out;
  for (std::size_t at = 0; at < value.size();) {
    const std::string_view rest = std::string_view(value).substr(at);
    if (fits(rest, kUid)) {
      out += token("uid", value.substr(at, kUid.size()));
      at += kUid.size();
    } else {
      out += value[at++];
    }
  }
  return out;
}

std::string Normaliser::token(const char* what, const std::string& value) {
  const auto [at, is_new] = tokens_.try_emplace(fmt::format("{} {}", what, value));
  if (is_new) at->second = fmt::format("<{} {}>", what, ++counts_[what]);
  return at->second;
}

}  // namespace berth::truth
