// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/writes.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "controller/sim/server/priority_admission.h"
#include "controller/sim/server/resource_quota.h"
#include "controller/sim/server/status.h"
#include "controller/sim/server/wrong_types.h"
#include "controller/sim/world/object_fields.h"

namespace berth::sim {

using nlohmann::json;

void judge_write(Writing& writing, const WriteRequest& request, const StoreKey& key,
                 const json* live, const json& next) {
  if (key.type->kind == "PriorityClass")
    admit_priority_class(writing.store, key, next, live != nullptr);
  if (writing.policy) writing.policy(request.user, key, live, next);
  if (key.type->kind == "Pod") charge_quotas(writing, request, key, live, next);
}

WriteReply store_object(Writing& writing, const WriteRequest& request, const StoreKey& key,
                        json object, int code) {
  if (request.dry_run)
    return {.code = code, .body = std::make_shared<const json>(std::move(object))};
  return {.code = code, .body = writing.store.put(key, std::move(object), request.user)};
}

json decode_body(const ResourceType& type, const ObjectPtr& body) {
  if (body == nullptr || !body->is_object())
    throw bad_request(fmt::format(
        "the object provided is unrecognized (must be of type {}): it is no JSON object",
        type.kind));
  json object = *body;
  const std::string kind = text_at(object, {"kind"});
  const std::string version = text_at(object, {"apiVersion"});
  if (is_custom(type) && (kind.empty() || version.empty()))
    throw bad_request(fmt::format(
        "the object provided is unrecognized (must be of type {}): Object '{}' is missing in '{}'",
        type.kind, kind.empty() ? "Kind" : "apiVersion", to_text(object)));
  if (is_custom(type) && version == type.api_version() && kind != type.kind) {
    ResourceType named = type;
    named.kind = kind;
    throw invalid(named, text_at(object, {"metadata", "name"}),
                  {invalid_value("kind", quote(kind), fmt::format("must be {}", type.kind))});
  }
  if ((!kind.empty() && kind != type.kind) || (!version.empty() && version != type.api_version()))
    throw bad_request(
        fmt::format("{} in version {} cannot be handled as a {}", kind, quote(version), type.kind));
  if (const std::string field = find_wrong_type(type, object); !field.empty())
    throw bad_request(
        fmt::format("{} in version {} cannot be handled as a {}: {} is of another type", type.kind,
                    quote(type.version), type.kind, field));
  object["kind"] = type.kind;
  object["apiVersion"] = type.api_version();
  return object;
}

bool is_custom(const ResourceType& type) { return type.group.ends_with(".berth.dev"); }

}  // namespace berth::sim
