// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/kube/actor_client.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "controller/sim/world/object_state.h"
#include "controller/sim/world/resource_type.h"

namespace berth::sim {

using nlohmann::json;

ObjectPtr ActorClient::get(std::string_view plural, const std::string& namespace_,
                           const std::string& name) const {
  return server_.store().find({find_resource_type(plural), namespace_, name});
}

std::vector<ObjectPtr> ActorClient::list(std::string_view plural,
                                         std::string_view namespace_) const {
  const ResourceType* type = find_resource_type(plural);
  return type == nullptr ? std::vector<ObjectPtr>() : server_.store().list(*type, namespace_);
}

WriteReply ActorClient::create(std::string_view plural, json object) const {
  const std::string namespace_ = namespace_of(object);
  return write(WriteVerb::kCreate, plural, namespace_, "", std::move(object));
}

void ActorClient::submit(std::string_view plural, json object, const ApiServer::Done& done) const {
  const std::string namespace_ = namespace_of(object);
  server_.submit(request(WriteVerb::kCreate, plural, namespace_, "", std::move(object)), done);
}

WriteReply ActorClient::update(std::string_view plural, json object,
                               const std::string& subresource) const {
  const std::string namespace_ = namespace_of(object);
  const std::string name = name_of(object);
  // Some kinds require a version: then an update without precondition uses the present one.
  const ObjectPtr live = get(plural, namespace_, name);
  if (live != nullptr && text_at(object, {"metadata", "resourceVersion"}).empty())
    object["metadata"]["resourceVersion"] = (*live)["metadata"]["resourceVersion"];
  return write(WriteVerb::kUpdate, plural, namespace_, name, std::move(object), subresource);
}

WriteReply ActorClient::merge_patch(std::string_view plural, const std::string& namespace_,
                                    const std::string& name, json patch,
                                    const std::string& subresource) const {
  return write(WriteVerb::kMergePatch, plural, namespace_, name, std::move(patch), subresource);
}

WriteReply ActorClient::apply(std::string_view plural, json object, bool force) const {
  const std::string namespace_ = namespace_of(object);
  const std::string name = name_of(object);
  return write(WriteVerb::kApply, plural, namespace_, name, std::move(object), "", force);
}

WriteReply ActorClient::remove(std::string_view plural, const std::string& namespace_,
                               const std::string& name) const {
  return write(WriteVerb::kDelete, plural, namespace_, name, json::object());
}

WriteReply ActorClient::remove(std::string_view plural, const std::string& namespace_,
                               const std::string& name, json options) const {
  return write(WriteVerb::kDelete, plural, namespace_, name, std::move(options));
}

WriteRequest ActorClient::request(WriteVerb verb, std::string_view plural,
                                  const std::string& namespace_, const std::string& name,
                                  json body) const {
  const ResourceType* type = find_resource_type(plural);
  const bool whole =
      verb == WriteVerb::kCreate || verb == WriteVerb::kUpdate || verb == WriteVerb::kApply;
  if (whole && type != nullptr) {
    if (!body.contains("apiVersion")) body["apiVersion"] = type->api_version();
    if (!body.contains("kind")) body["kind"] = type->kind;
  }
  return {.verb = verb,
          .key = {type, namespace_, name},
          .subresource = "",
          .body = std::make_shared<const json>(std::move(body)),
          .field_manager = user_,
          .user = user_};
}

WriteReply ActorClient::write(WriteVerb verb, std::string_view plural,
                              const std::string& namespace_, const std::string& name, json body,
                              const std::string& subresource, bool force) const {
  WriteRequest asked = request(verb, plural, namespace_, name, std::move(body));
  asked.subresource = subresource;
  asked.force = force;
  return server_.write(asked);
}

}  // namespace berth::sim
