// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "apis/base/time.h"
#include "controller/sim/server/defaults.h"
#include "controller/sim/server/managed_fields.h"
#include "controller/sim/server/status.h"
#include "controller/sim/server/strategy.h"
#include "controller/sim/server/validation.h"
#include "controller/sim/server/writes.h"
#include "controller/sim/world/object_fields.h"

namespace berth::sim {

using nlohmann::json;

namespace {

// The namespace must exist and must not be terminating.
void check_namespace(const Store& store, const ResourceType& type, const StoreKey& key) {
  const ResourceType& namespaces = *find_resource_type("namespaces");
  const ObjectPtr found = store.find({&namespaces, "", key.namespace_});
  if (found == nullptr) throw not_found(namespaces, key.namespace_);
  if (text_at(*found, {"metadata", "deletionTimestamp"}).empty()) return;
  const std::string why =
      fmt::format("unable to create new content in namespace {} because it is being terminated",
                  key.namespace_);
  throw forbidden(
      type, key.name, why,
      {{"NamespaceTerminating", fmt::format("namespace {} is being terminated", key.namespace_),
        "metadata.namespace"}});
}

StoreKey key_of(Writing& writing, const WriteRequest& request, json& object) {
  StoreKey key = request.key;
  json& metadata = object["metadata"];
  const std::string namespace_ = text_at(metadata, {"namespace"});
  if (!namespace_.empty() && namespace_ != key.namespace_)
    throw bad_request(
        "the namespace of the provided object does not match the namespace sent on the request");
  if (key.type->namespaced) metadata["namespace"] = key.namespace_;
  const std::string stem = text_at(metadata, {"generateName"});
  if (text_at(metadata, {"name"}).empty() && !stem.empty()) {
    constexpr char kLetters[] = "bcdfghjklmnpqrstvwxz2456789";
    std::string name = stem;
    for (int i = 0; i < 5; ++i) name += kLetters[writing.random.below(sizeof(kLetters) - 1)];
    metadata["name"] = std::move(name);
  }
  key.name = text_at(metadata, {"name"});
  return key;
}

// The object's name in messages of admission, before its name is generated.
StoreKey called(const StoreKey& key, const json& object) {
  StoreKey named = key;
  named.name = text_at(object, {"metadata", "name"});
  if (named.name.empty()) named.name = text_at(object, {"metadata", "generateName"});
  if (named.name.empty()) named.name = "Unknown";
  return named;
}

}  // namespace

WriteReply draft_object(Writing& writing, const WriteRequest& request) {
  const ResourceType& type = *request.key.type;
  json object = decode_body(type, request.body);
  if (!object["metadata"].is_object()) object["metadata"] = json::object();
  if (type.namespaced) {
    object["metadata"]["namespace"] = request.key.namespace_;
    check_namespace(writing.store, type, request.key);
  }
  set_defaults(type, object);
  admit_create(writing.store, called(request.key, object), object);
  return {.code = 200, .body = std::make_shared<const json>(std::move(object))};
}

WriteReply create_object(Writing& writing, const WriteRequest& request) {
  const ResourceType& type = *request.key.type;
  const json nothing;
  json object = decode_body(type, request.body);
  if (!object["metadata"].is_object()) object["metadata"] = json::object();
  const std::string now = format_time(writing.clock.wall());
  const Author author{request.field_manager, request.subresource, now};
  const bool applied = request.verb == WriteVerb::kApply;
  if (applied) object = apply_config(type, nothing, object, author, request.force);
  const StoreKey asked = called(request.key, object);
  const StoreKey key = key_of(writing, request, object);
  if (type.namespaced) check_namespace(writing.store, type, key);

  json& metadata = object["metadata"];
  // A dry run never reaches this check on the real server.
  const bool with_version = request.verb == WriteVerb::kCreate && !request.dry_run &&
                            metadata.contains("resourceVersion");
  if (!request.dry_run) metadata.erase("resourceVersion");
  metadata["uid"] = writing.random.uuid();
  metadata["creationTimestamp"] = now;
  set_defaults(type, object);
  if (!applied) track_update(type, nothing, object, author);
  prepare_create(type, object);
  admit_create(writing.store, asked, object);
  const std::vector<Cause> causes = validate_create(type, object);
  if (!causes.empty()) throw invalid(type, key.name, causes);
  judge_write(writing, request, key, nullptr, object);
  if (with_version)
    throw internal_error("resourceVersion should not be set on objects to be created");
  if (writing.store.find(key) != nullptr) throw already_exists(type, key.name);
  return store_object(writing, request, key, std::move(object), 201);
}

}  // namespace berth::sim
