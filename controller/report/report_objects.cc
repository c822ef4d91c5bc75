// SPDX-License-Identifier: Apache-2.0
#include "controller/report/report_objects.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace berth {
namespace {

using nlohmann::json;

Result<json> parse_list(const std::string& body) {
  json list = json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!list.is_object() || !list.contains("items") || !list["items"].is_array())
    return decode_error("", "the API server's answer is no list");
  return list;
}

std::string text_of(const json& object, const char* field) {
  const auto found = object.is_object() ? object.find(field) : object.end();
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// At any depth: the report must not disclose users' environments or Secrets.
void trim(json& value) {
  if (value.is_array())
    for (json& item : value) trim(item);
  if (!value.is_object()) return;
  for (const char* field : {"env", "envFrom", "managedFields"}) value.erase(field);
  if (text_of(value, "kind") == "Secret")
    for (const char* field : {"data", "stringData"}) value.erase(field);
  if (const auto annotations = value.find("annotations");
      annotations != value.end() && annotations->is_object())
    annotations->erase("kubectl.kubernetes.io/last-applied-configuration");
  for (auto& [key, part] : value.items()) trim(part);
}

}  // namespace

Result<std::string> trimmed_list(const std::string& body) {
  Result<json> list = parse_list(body);
  if (!list) return list.error();
  trim(*list);
  return list->dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<std::vector<LoggedContainer>> containers_in(const std::string& body) {
  Result<json> list = parse_list(body);
  if (!list) return list.error();
  std::vector<LoggedContainer> found;
  for (const json& pod : (*list)["items"]) {
    const std::string name = pod.is_object() && pod.contains("metadata")
                                 ? text_of(pod["metadata"], "name")
                                 : std::string();
    const json status = pod.is_object() ? pod.value("status", json::object()) : json::object();
    if (!status.is_object() || name.empty()) continue;
    const json states = status.value("containerStatuses", json::array());
    if (!states.is_array()) continue;
    for (const json& state : states) {
      const auto restarts = state.is_object() ? state.find("restartCount") : state.end();
      if (std::string container = text_of(state, "name"); !container.empty())
        found.push_back({name, std::move(container),
                         restarts != state.end() && restarts->is_number_integer() &&
                             restarts->get<std::int64_t>() > 0});
    }
  }
  return found;
}

}  // namespace berth
