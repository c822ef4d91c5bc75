// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "apis/base/time.h"
#include "controller/sim/server/custom_schema.h"
#include "controller/sim/server/defaults.h"
#include "controller/sim/server/managed_fields.h"
#include "controller/sim/server/metadata.h"
#include "controller/sim/server/patch.h"
#include "controller/sim/server/status.h"
#include "controller/sim/server/strategy.h"
#include "controller/sim/server/target.h"
#include "controller/sim/server/validation.h"
#include "controller/sim/server/writes.h"
#include "controller/sim/server/wrong_types.h"
#include "controller/sim/world/object_fields.h"

namespace berth::sim {

using nlohmann::json;

namespace {

json compute_next(const WriteRequest& request, const json& live, const Author& author) {
  const json nothing;
  const json& body = request.body == nullptr ? nothing : *request.body;
  json next;
  switch (request.verb) {
    case WriteVerb::kJsonPatch:
      next = live;
      apply_json_patch(next, body, request.escaped_as_go);
      break;
    case WriteVerb::kMergePatch:
      next = live;
      apply_merge_patch(next, body);
      break;
    case WriteVerb::kApply:
      next = apply_config(*request.key.type, live, body, author, request.force);
      break;
    default:
      next = decode_body(*request.key.type, request.body);
  }
  if (!next.is_object() || !find_wrong_type(*request.key.type, next).empty())
    throw invalid_options("", {invalid_value("patch", quote(to_text(next)), "cannot be read")});
  return next;
}

bool fits_schema(const ResourceType& type, const json& config) {
  if (!find_wrong_type(type, config).empty()) return false;
  std::vector<Cause> causes;
  if (is_custom(type)) check_custom_schema(type, config, causes);
  return std::ranges::none_of(
      causes, [](const Cause& cause) { return cause.reason == "FieldValueTypeInvalid"; });
}

// Checks an apply's own fields before the object is read.
void check_config(const WriteRequest& request, bool exists) {
  const StoreKey& key = request.key;
  const ResourceType& type = *key.type;
  if (request.body == nullptr || !request.body->is_object())
    throw bad_request("error decoding YAML: the configuration is no object");
  const json& config = *request.body;
  const std::string version = text_at(config, {"apiVersion"});
  if (version != type.api_version() || text_at(config, {"kind"}) != type.kind)
    throw bad_request(fmt::format("invalid object type: {}{}, Kind={}",
                                  version.find('/') == std::string::npos ? "/" : "", version,
                                  text_at(config, {"kind"})));
  const json* metadata = find_at(config, {"metadata"});
  if (metadata != nullptr && !metadata->is_object())
    throw bad_request("error decoding YAML: metadata is no object");
  const std::string name = text_at(config, {"metadata", "name"});
  if (name.empty())
    throw bad_request(fmt::format(
        "the name of the object ({} based on URL) was undeterminable: name must be provided",
        key.name));
  if (const json* owners = find_at(config, {"metadata", "managedFields"});
      owners != nullptr && !owners->is_null())
    throw bad_request("metadata.managedFields must be nil");
  if (!fits_schema(type, config))
    throw internal_error(fmt::format("failed to create typed patch object ({})", key.str()));
  const std::string uid = text_at(config, {"metadata", "uid"});
  // An apply can't create a subresource: there the missing object is reported first.
  if (!exists && !uid.empty() && request.subresource.empty())
    throw conflict(type, key.name,
                   fmt::format("uid mismatch: the provided object specified uid {}, and no "
                               "existing object was found",
                               uid));
}

void check_names(WriteVerb verb, const StoreKey& key, const json& next) {
  const std::string name = text_at(next, {"metadata", "name"});
  if (name != key.name)
    throw bad_request(name.empty()
                          ? "name must be provided"
                          : fmt::format("the name of the object ({}) does not match the name on "
                                        "the URL ({})",
                                        name, key.name));
  const std::string namespace_ = text_at(next, {"metadata", "namespace"});
  if (!namespace_.empty() && namespace_ != key.namespace_ && verb == WriteVerb::kApply)
    throw bad_request(
        "the namespace of the provided object does not match the namespace sent on the request");
  if (!namespace_.empty() && namespace_ != key.namespace_)
    throw bad_request(
        fmt::format("the namespace of the object ({}) does not match the namespace on the URL ({})",
                    namespace_, key.namespace_));
}

// A PUT with a uid means that very object; `live` is null if there is none.
void check_uid(const StoreKey& key, const json& live, const json& next) {
  const std::string uid = text_at(next, {"metadata", "uid"});
  const std::string stands = text_at(live, {"metadata", "uid"});
  if (uid.empty() || uid == stands) return;
  throw conflict(*key.type, key.name,
                 fmt::format("StorageError: invalid object, Code: 4, Key: {}, ResourceVersion: 0, "
                             "AdditionalErrorMsg: Precondition failed: UID in precondition: {}, "
                             "UID in object meta: {}",
                             key.str(), uid, stands));
}

// Checks the resourceVersion in the object.
void check_version(const WriteRequest& request, const json& live, json& next) {
  const StoreKey& key = request.key;
  if (request.verb == WriteVerb::kUpdate) check_uid(key, live, next);
  const std::string version = text_at(next, {"metadata", "resourceVersion"});
  const std::string current = text_at(live, {"metadata", "resourceVersion"});
  if (version.empty() || version == "0") {
    if (!allows_unconditional_update(*key.type))
      throw invalid_resource(
          *key.type, key.name,
          {invalid_value("metadata.resourceVersion", "0", "must be specified for an update")});
    next["metadata"]["resourceVersion"] = current;
    return;
  }
  if (!parse_revision(version))
    throw bad_request(
        fmt::format("resourceVersion: Invalid value: {}: strconv.ParseUint: parsing "
                    "{}: invalid syntax",
                    quote(version), quote(version)));
  if (version != current) throw modified(*key.type, key.name);
}

// Whether a terminating object has lost its last finalizer.
bool goes_now(const json& next) {
  if (text_at(next, {"metadata", "deletionTimestamp"}).empty()) return false;
  const json* finalizers = find_at(next, {"metadata", "finalizers"});
  return (finalizers == nullptr || finalizers->empty()) &&
         integer_at(next, {"metadata", "deletionGracePeriodSeconds"}).value_or(0) == 0;
}

// The requested spec, if admission has changed it; else null.
json admit(const ResourceType& type, const json& live, json& next) {
  if (type.kind != "Pod" || !next["spec"].is_object()) return {};
  json asked = next["spec"];
  admit_update(type, live, next);
  return next["spec"] == asked ? json() : asked;
}

void track(const ResourceType& type, const json& live, json& next, const Author& author,
           json asked) {
  if (asked.is_null()) return track_update(type, live, next, author);
  std::swap(next["spec"], asked);
  track_update(type, live, next, author);
  std::swap(next["spec"], asked);
}

}  // namespace

WriteReply update_object(Writing& writing, const WriteRequest& request) {
  const StoreKey& key = request.key;
  const ResourceType& type = *key.type;
  const ObjectPtr live = writing.store.find(key);
  if (request.verb == WriteVerb::kApply) check_config(request, live != nullptr);
  if (live == nullptr) {
    const bool may_create = request.verb == WriteVerb::kApply ||
                            (request.verb == WriteVerb::kUpdate && creates_on_update(type));
    const bool creates = request.subresource.empty() && may_create;
    // The server checks whether a PUT's body matches the URL before it reads the object.
    const bool put = request.verb == WriteVerb::kUpdate;
    if (put) check_names(request.verb, key, decode_body(type, request.body));
    if (!creates) throw not_found(type, key.name);
    if (put)
      check_uid(key, json(), *request.body);
    else
      check_names(request.verb, key, *request.body);
    return create_object(writing, request);
  }
  const Author author{request.field_manager, request.subresource,
                      format_time(writing.clock.wall())};
  json next = compute_next(request, *live, author);
  check_names(request.verb, key, next);
  if (text_at(next, {"kind"}) != type.kind || text_at(next, {"apiVersion"}) != type.api_version())
    throw bad_request("the kind of an object cannot be changed");
  check_version(request, *live, next);
  set_defaults(type, next);
  // Fields that admission restores have no owner.
  const json given = request.subresource.empty() ? admit(type, *live, next) : json();
  keep_identity(*live, next);
  prepare_update(type, *live, next, request.subresource);
  std::vector<Cause> causes = find_changed_identity(*live, next);
  std::ranges::move(validate_update(type, *live, next, request.subresource),
                    std::back_inserter(causes));
  if (!causes.empty()) throw invalid(type, key.name, causes);
  if (request.subresource.empty()) judge_write(writing, request, key, live.get(), next);
  const bool applied = request.verb == WriteVerb::kApply;
  if (!applied) track(type, *live, next, author, given);
  if (next == *live || (applied && differs_in_times_alone(*live, next)))
    return {.code = 200, .body = live};
  if (goes_now(next) && !request.dry_run) {
    writing.store.erase(key, request.user);
    return {.code = 200, .body = std::make_shared<const json>(std::move(next))};
  }
  return store_object(writing, request, key, std::move(next), 200);
}

}  // namespace berth::sim
