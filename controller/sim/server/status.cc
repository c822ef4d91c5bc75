// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/status.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "controller/sim/world/object_fields.h"

namespace berth::sim {

using nlohmann::json;

namespace {

std::string resource_name(const ResourceType& type) {
  std::string name(type.plural);
  if (!type.group.empty()) name.append(".").append(type.group);
  return name;
}

// Errors name an Event in the core group, whichever group the request used.
std::string_view group_of_kind(const ResourceType& type) {
  return type.kind == "Event" ? "" : type.group;
}

std::string kind_name(const ResourceType& type) {
  std::string name(type.kind);
  if (!group_of_kind(type).empty()) name.append(".").append(type.group);
  return name;
}

json causes_of(const std::vector<Cause>& causes) {
  json list = json::array();
  for (const Cause& cause : causes) {
    json one = {{"reason", cause.reason}, {"message", cause.message}};
    if (!cause.field.empty()) one["field"] = cause.field;
    list.push_back(std::move(one));
  }
  return list;
}

ObjectPtr details_of(const ResourceType& type, std::string_view kind, const std::string& name,
                     const std::vector<Cause>& causes = {}) {
  json details = {{"kind", kind}};
  if (!name.empty()) details["name"] = name;
  const std::string_view group = kind == type.kind ? group_of_kind(type) : type.group;
  if (!group.empty()) details["group"] = group;
  if (!causes.empty()) details["causes"] = causes_of(causes);
  return std::make_shared<const json>(std::move(details));
}

ObjectPtr details_of(const std::vector<Cause>& causes, int retry_after_s = 0) {
  json details = json::object();
  if (!causes.empty()) details["causes"] = causes_of(causes);
  if (retry_after_s > 0) details["retryAfterSeconds"] = retry_after_s;
  return std::make_shared<const json>(std::move(details));
}

// Field errors in one sentence, without duplicates.
std::string aggregate(const std::vector<Cause>& causes) {
  std::vector<std::string> parts;
  std::set<std::string> seen;
  for (const Cause& cause : causes) {
    std::string part = cause.field + ": " + cause.message;
    if (seen.insert(part).second) parts.push_back(std::move(part));
  }
  if (parts.size() == 1) return parts[0];
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

}  // namespace

json Refusal::status() const {
  json status = {{"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", json::object()},
                 {"status", "Failure"}, {"message", message}, {"code", code}};
  if (!reason.empty()) status["reason"] = reason;
  if (details != nullptr) status["details"] = *details;
  return status;
}

Refusal bad_request(std::string message) { return {400, "BadRequest", std::move(message), {}}; }

Refusal not_served() {
  return {404, "NotFound", "the server could not find the requested resource", details_of({})};
}

Refusal method_not_allowed() {
  return {405, "MethodNotAllowed",
          "the server does not allow this method on the requested resource", details_of({})};
}

Refusal unsupported_media_type() {
  return {415, "UnsupportedMediaType", "415: Unsupported Media Type", details_of({})};
}

Refusal not_found(const ResourceType& type, const std::string& name) {
  return {404, "NotFound", fmt::format("{} {} not found", resource_name(type), quote(name)),
          details_of(type, type.plural, name)};
}

Refusal already_exists(const ResourceType& type, const std::string& name) {
  return {409, "AlreadyExists",
          fmt::format("{} {} already exists", resource_name(type), quote(name)),
          details_of(type, type.plural, name)};
}

Refusal conflict(const ResourceType& type, const std::string& name, const std::string& why,
                 bool as_kind) {
  return {409, "Conflict",
          fmt::format("Operation cannot be fulfilled on {} {}: {}",
                      as_kind ? kind_name(type) : resource_name(type), quote(name), why),
          details_of(type, as_kind ? type.kind : type.plural, name)};
}

Refusal modified(const ResourceType& type, const std::string& name) {
  return conflict(type, name,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

Refusal forbidden(const ResourceType& type, const std::string& name, const std::string& why,
                  const std::vector<Cause>& causes) {
  return {403, "Forbidden",
          fmt::format("{} {} is forbidden: {}", resource_name(type), quote(name), why),
          details_of(type, type.plural, name, causes)};
}

Refusal invalid(const ResourceType& type, const std::string& name,
                const std::vector<Cause>& causes) {
  return {422, "Invalid",
          fmt::format("{} {} is invalid: {}", kind_name(type), quote(name), aggregate(causes)),
          details_of(type, type.kind, name, causes)};
}

Refusal invalid_resource(const ResourceType& type, const std::string& name,
                         const std::vector<Cause>& causes) {
  return {422, "Invalid",
          fmt::format("{} {} is invalid: {}", resource_name(type), quote(name), aggregate(causes)),
          details_of(type, type.plural, name, causes)};
}

Refusal invalid_options(const std::string& kind, const std::vector<Cause>& causes) {
  json details = *details_of(causes);
  const std::size_t dot = kind.find('.');
  if (!kind.empty()) details["kind"] = kind.substr(0, dot);
  if (dot != std::string::npos) details["group"] = kind.substr(dot + 1);
  return {422, "Invalid", fmt::format("{} \"\" is invalid: {}", kind, aggregate(causes)),
          std::make_shared<const json>(std::move(details))};
}

Refusal refused_patch() {
  return {422, "Invalid", "the server rejected our request due to an error in our request",
          details_of({})};
}

Refusal too_many_requests(std::string message, std::vector<Cause> causes, int retry_after_s) {
  return {429, "TooManyRequests", std::move(message), details_of(causes, retry_after_s),
          retry_after_s};
}

Refusal expired(std::string message) { return {410, "Expired", std::move(message), {}}; }

Refusal version_too_large(std::int64_t wanted, std::int64_t current) {
  return {504, "Timeout",
          fmt::format("Timeout: Too large resource version: {}, current: {}", wanted, current),
          details_of({Cause{"ResourceVersionTooLarge", "Too large resource version", ""}}, 1), 1};
}

Refusal internal_error(std::string message) { return {500, "", std::move(message), {}}; }

Cause invalid_value(std::string field, const std::string& value, const std::string& why) {
  return {"FieldValueInvalid", fmt::format("Invalid value: {}: {}", value, why), std::move(field)};
}

Cause required_value(std::string field, const std::string& why) {
  return {"FieldValueRequired", why.empty() ? "Required value" : "Required value: " + why,
          std::move(field)};
}

Cause forbidden_field(std::string field, const std::string& why) {
  return {"FieldValueForbidden", "Forbidden: " + why, std::move(field)};
}

Cause immutable(std::string field, const std::string& value) {
  return invalid_value(std::move(field), value, "field is immutable");
}

std::string quote(std::string_view text) { return to_text(json(text)); }

}  // namespace berth::sim
