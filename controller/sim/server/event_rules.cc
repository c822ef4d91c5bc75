// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/event_rules.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "controller/sim/world/object_fields.h"

namespace berth::sim {

using nlohmann::json;

namespace {

struct Text {
  const char* field;
  const char* told_as;
  std::size_t longest;  // 0: any length
  bool required;
};
constexpr Text kTexts[] = {{"reportingController", "reportingController", 0, true},
                           {"reportingInstance", "reportingInstance", 128, true},
                           {"action", "action", 128, true},
                           {"reason", "reason", 128, true},
                           {"note", "message", 1024, false}};

void check_texts(const json& event, std::vector<Cause>& causes) {
  for (const Text& text : kTexts) {
    const std::string value = text_at(event, {text.field});
    if (text.required && value.empty()) causes.push_back(required_value(text.told_as));
    if (text.longest > 0 && value.size() > text.longest)
      causes.push_back(invalid_value(text.told_as, "\"\"",
                                     fmt::format("can have at most {} characters", text.longest)));
  }
}

// Events about cluster-scoped objects must be in one of the cluster's own namespaces.
void check_namespace(const json& event, std::vector<Cause>& causes) {
  const std::string namespace_ = text_at(event, {"metadata", "namespace"});
  if (text_at(event, {"regarding", "namespace"}).empty() && namespace_ != "default" &&
      namespace_ != "kube-system")
    causes.push_back(
        invalid_value("involvedObject.namespace", "\"\"", "does not match event.namespace"));
}

void check_series(const json& event, std::vector<Cause>& causes) {
  if (find_at(event, {"series"}) == nullptr) return;
  if (integer_at(event, {"series", "count"}).value_or(0) < 2)
    causes.push_back(invalid_value("series.count", "\"\"", "should be at least 2"));
  if (text_at(event, {"series", "lastObservedTime"}).empty())
    causes.push_back(required_value("series.lastObservedTime"));
}

}  // namespace

void check_new_event(const json& event, std::vector<Cause>& causes) {
  check_namespace(event, causes);
  // Without eventTime, the server treats the event as one of the old API, with looser rules.
  if (text_at(event, {"eventTime"}).empty())
    causes.push_back(required_value("eventTime"));
  else
    check_texts(event, causes);
  check_series(event, causes);
  if (const std::string type = text_at(event, {"type"}); type != "Normal" && type != "Warning")
    causes.push_back(invalid_value("type", "\"\"", "has invalid value: " + type));
}

void check_event_change(const json& live, const json& next, std::vector<Cause>& causes) {
  check_namespace(next, causes);
  check_texts(next, causes);
  const auto is_same = [&](const char* field) {
    return live.value(field, json()) == next.value(field, json());
  };
  if (!is_same("series")) check_series(next, causes);
  constexpr std::pair<const char*, const char*> kFixed[] = {
      {"regarding", "involvedObject"},
      {"reason", "reason"},
      {"note", "message"},
      {"type", "type"},
      {"eventTime", "eventTime"},
      {"action", "action"},
      {"related", "related"},
      {"reportingController", "reportingController"},
      {"reportingInstance", "reportingInstance"}};
  for (const auto& [field, told_as] : kFixed)
    if (!is_same(field)) causes.push_back(immutable(told_as, to_text(next.value(field, json()))));
}

}  // namespace berth::sim
