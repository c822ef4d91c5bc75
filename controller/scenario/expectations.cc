// SPDX-License-Identifier: Apache-2.0
#include "controller/scenario/expectations.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "controller/sim/object_fields.h"

namespace berth {
namespace {

using nlohmann::json;
using sim::text_at;

struct Ready {
  std::string status = "Unknown";
  std::string reason = "NotReconciled";
  std::string message = "berth has not looked at it yet";
};

Ready ready_of(const json& layout) {
  Ready ready;
  const json* conditions = sim::find_at(layout, {"status", "conditions"});
  const auto observed = sim::integer_at(layout, {"status", "observedGeneration"});
  if (conditions == nullptr || observed != sim::integer_at(layout, {"metadata", "generation"}))
    return ready;
  for (const json& condition : *conditions)
    if (text_at(condition, {"type"}) == "Ready")
      ready = {text_at(condition, {"status"}), text_at(condition, {"reason"}),
               text_at(condition, {"message"})};
  return ready;
}

std::string unmet_of(const json& layout, const std::string& name, const std::string& wanted) {
  if (wanted == "Gone") return fmt::format("layout {}: is still there", name);
  if (!text_at(layout, {"metadata", "deletionTimestamp"}).empty())
    return fmt::format("layout {}: is being deleted", name);
  const Ready ready = ready_of(layout);
  if (wanted == ready.status || wanted == ready.status + " " + ready.reason) return "";
  return fmt::format("layout {}: Ready is {} ({}: {}); expected: {}", name, ready.status,
                     ready.reason, ready.message, wanted);
}

}  // namespace

std::string unmet(const sim::Store& store, const std::map<std::string, std::string>& expect) {
  std::set<std::string> there;
  for (const sim::ObjectPtr& layout : store.list(*sim::find_resource_type("miglayouts"))) {
    const std::string name = text_at(*layout, {"metadata", "name"});
    there.insert(name);
    auto own = expect.find(name);
    std::string text = unmet_of(*layout, name, own == expect.end() ? "True" : own->second);
    if (!text.empty()) return text;
  }
  for (const auto& [name, wanted] : expect)
    if (!there.contains(name) && wanted != "Gone")
      return fmt::format("layout {}: is not there; expected: {}", name, wanted);
  return "";
}

}  // namespace berth
