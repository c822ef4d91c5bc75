// SPDX-License-Identifier: Apache-2.0
#include "controller/scenario/expectations.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "controller/sim/world/object_fields.h"

namespace berth {
namespace {

using nlohmann::json;
using sim::text_at;

// The prefix before the name; a layout has none.
struct Expected {
  const char* plural;
  const char* prefix;
};
constexpr Expected kExpected[] = {
    {"miglayouts", ""}, {"gpuclusterpolicies", "gpuclusterpolicy/"}, {"gpuqueues", "gpuqueue/"}};

// For users: "layout a100", "gpuclusterpolicy/cluster".
std::string shown(const std::string& key) {
  return key.find('/') != key.npos ? key : "layout " + key;
}

struct Ready {
  std::string status = "Unknown";
  std::string reason = "NotReconciled";
  std::string message = "berth has not looked at it yet";
};

Ready ready_of(const json& object) {
  Ready ready;
  const json* conditions = sim::find_at(object, {"status", "conditions"});
  const auto observed = sim::integer_at(object, {"status", "observedGeneration"});
  if (conditions == nullptr || observed != sim::integer_at(object, {"metadata", "generation"}))
    return ready;
  for (const json& condition : *conditions)
    if (text_at(condition, {"type"}) == "Ready")
      ready = {text_at(condition, {"status"}), text_at(condition, {"reason"}),
               text_at(condition, {"message"})};
  return ready;
}

std::string unmet_of(const json& object, const std::string& name, const std::string& wanted) {
  if (wanted == "Gone") return name + ": is still there";
  if (!text_at(object, {"metadata", "deletionTimestamp"}).empty())
    return name + ": is being deleted";
  const Ready ready = ready_of(object);
  if (wanted == ready.status || wanted == ready.status + " " + ready.reason) return "";
  return fmt::format("{}: Ready is {} ({}: {}); expected: {}", name, ready.status, ready.reason,
                     ready.message, wanted);
}

}  // namespace

std::string unmet(const sim::Store& store, const std::map<std::string, std::string>& expect) {
  std::set<std::string> there;
  for (const auto& [plural, prefix] : kExpected)
    for (const sim::ObjectPtr& object : store.list(*sim::find_resource_type(plural))) {
      const std::string key = prefix + text_at(*object, {"metadata", "name"});
      there.insert(key);
      const auto own = expect.find(key);
      std::string text = unmet_of(*object, shown(key), own == expect.end() ? "True" : own->second);
      if (!text.empty()) return text;
    }
  for (const auto& [key, wanted] : expect)
    if (!there.contains(key) && wanted != "Gone")
      return fmt::format("{}: is not there; expected: {}", shown(key), wanted);
  return "";
}

}  // namespace berth
