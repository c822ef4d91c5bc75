// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/discovery.h"

#include <nlohmann/json.hpp>

#include "controller/sim/server/status.h"
#include "controller/sim/world/object_fields.h"
#include "controller/sim/world/resource_type.h"

namespace berth::sim {

using nlohmann::json;

std::string describe_resources(const Target& target) {
  json resources = json::array();
  for (const ResourceType& type : resource_types()) {
    if (type.group != target.group || type.version != target.version) continue;
    json entry = {{"name", type.plural},
                  {"singularName", ""},
                  {"namespaced", type.namespaced},
                  {"kind", type.kind},
                  {"verbs", {"create", "delete", "get", "list", "patch", "update", "watch"}}};
    resources.push_back(entry);
    if (type.has_status) {
      entry["name"] = std::string(type.plural) + "/status";
      entry["verbs"] = {"get", "patch", "update"};
      resources.push_back(entry);
    }
    if (type.kind == "Pod")
      resources.push_back({{"name", "pods/eviction"},
                           {"singularName", ""},
                           {"namespaced", true},
                           {"group", "policy"},
                           {"version", "v1"},
                           {"kind", "Eviction"},
                           {"verbs", {"create"}}});
  }
  if (resources.empty()) throw not_served();
  const std::string version =
      target.group.empty() ? target.version : target.group + "/" + target.version;
  return to_text({{"kind", "APIResourceList"},
                  {"apiVersion", "v1"},
                  {"groupVersion", version},
                  {"resources", std::move(resources)}});
}

std::string describe_version() {
  return R"({"major":"1","minor":"36","gitVersion":"v1.36.3","platform":"linux/amd64"})";
}

}  // namespace berth::sim
