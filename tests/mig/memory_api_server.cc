// SPDX-License-Identifier: Apache-2.0
#include "tests/mig/memory_api_server.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apis/decode.h"

namespace berth::test {
namespace {

using Json = nlohmann::json;

Error failed_test() {
  return {.kind = ErrorKind::kConflict, .message = "a test of the patch failed", .http_code = 422};
}

Json to_json(const StringMap& map) {
  Json json = Json::object();
  for (const auto& [key, value] : map) json[key.str()] = value.str();
  return json;
}

StringMap to_map(const Json& json) {
  StringMap map;
  for (const auto& [key, value] : json.items()) map.set(key, value.get<std::string>());
  return map;
}

// RFC 6902 as the API server applies it: a test of null passes on an absent key if its parent is
// there.
bool apply_patch(Json& document, const Json& patch) {
  for (const Json& operation : patch) {
    const Json::json_pointer path(operation["path"].get<std::string>());
    const std::string op = operation["op"];
    if (!document.contains(path.parent_pointer())) return false;
    if (op == "test") {
      const Json found = document.contains(path) ? document[path] : Json();
      if (found != operation["value"]) return false;
    } else if (op == "add") {
      document[path] = operation["value"];
    } else if (op == "remove") {
      if (!document.contains(path)) return false;
      document[path.parent_pointer()].erase(path.back());
    } else {
      return false;
    }
  }
  return true;
}

std::optional<Error> patch_node(MemoryCluster& world, const Write& write) {
  const Node before = world.node(write.object.name);
  Json document{{"metadata",
                 {{"uid", before.meta.uid},
                  {"labels", to_json(before.meta.labels)},
                  {"annotations", to_json(before.meta.annotations)}}},
                {"spec", Json::object()}};
  if (before.meta.annotations.empty()) document["metadata"].erase("annotations");
  if (before.unschedulable) document["spec"]["unschedulable"] = *before.unschedulable;
  if (!apply_patch(document, Json::parse(write.body))) return failed_test();
  Node after = before;
  after.meta.labels = to_map(document["metadata"]["labels"]);
  after.meta.annotations = to_map(document["metadata"]["annotations"]);
  after.unschedulable.reset();
  if (document["spec"].contains("unschedulable"))
    after.unschedulable = document["spec"]["unschedulable"].get<bool>();
  world.put(std::move(after));
  return std::nullopt;
}

std::optional<Error> merge_node(MemoryCluster& world, const Write& write) {
  Node after = world.node(write.object.name);
  const Json body = Json::parse(write.body);
  if (body["metadata"]["uid"] != after.meta.uid) return failed_test();
  for (const auto& [key, value] : body["metadata"]["annotations"].items())
    after.meta.annotations.set(key, value.get<std::string>());
  world.put(std::move(after));
  return std::nullopt;
}

std::optional<Error> write_config_map(MemoryCluster& world, const Write& write) {
  const Json body = Json::parse(write.body);
  const ConfigMap* old =
      world.cluster.config_maps().find(write.object.namespace_, write.object.name);
  const bool creates = write.verb == Verb::kCreate;
  if (creates == (old != nullptr)) return failed_test();
  ConfigMap next;
  if (old != nullptr) next = *old;
  next.meta.name = write.object.name;
  next.meta.namespace_ = write.object.namespace_;
  if (creates) next.meta.uid = "uid-" + world.next_version();
  if (!creates && (body["metadata"]["resourceVersion"] != next.meta.resource_version ||
                   body["metadata"]["uid"] != next.meta.uid))
    return failed_test();
  if (body["metadata"].contains("annotations"))
    for (const auto& [key, value] : body["metadata"]["annotations"].items())
      next.meta.annotations.set(key, value.get<std::string>());
  if (body.contains("data")) {
    for (const auto& [key, value] : body["data"].items()) {
      next.data.erase(key);
      if (!value.is_null()) next.data[key] = value.get<std::string>();
    }
  }
  world.put(std::move(next));
  return std::nullopt;
}

std::optional<Error> patch_layout(MemoryCluster& world, const Write& write) {
  MIGLayout next = *world.layout(write.object.name);
  const Json body = Json::parse(write.body);
  if (body["metadata"]["resourceVersion"] != next.meta.resource_version) return failed_test();
  next.meta.finalizers.clear();
  for (const Json& finalizer : body["metadata"]["finalizers"])
    next.meta.finalizers.push_back(finalizer.get<std::string>());
  if (next.meta.deletion_timestamp && next.meta.finalizers.empty()) {
    world.cluster.erase<MIGLayout>("", next.meta.name);
    return std::nullopt;
  }
  world.put(std::move(next));
  return std::nullopt;
}

}  // namespace

std::optional<Error> refuse_eviction(const MemoryCluster& world, const ObjectRef& ref) {
  const Pod* pod = world.cluster.pods().find(ref.namespace_, ref.name);
  if (pod == nullptr)
    return Error{.kind = ErrorKind::kNotFound, .message = "no such pod", .http_code = 404};
  std::vector<std::string> selecting;
  bool open = true;
  for (const auto& budget : world.cluster.budgets()) {
    if (!budget->selects(*pod)) continue;
    selecting.push_back(budget->meta.name);
    open &= budget->disruptions_allowed > 0;
  }
  if (selecting.size() > 1)
    return Error{.kind = ErrorKind::kServer,
                 .message =
                     "This pod has more than one PodDisruptionBudget, which the eviction "
                     "subresource does not support.",
                 .http_code = 500};
  if (open) return std::nullopt;
  return Error{.kind = ErrorKind::kThrottled,
               .message = "Cannot evict pod as it would violate the pod's disruption budget.",
               .http_code = 429,
               .causes = {{"DisruptionBudget",
                           fmt::format("The disruption budget {} needs 1 healthy pods and has 1 "
                                       "currently",
                                       selecting[0]),
                           ""}}};
}

std::optional<Error> apply_write(MemoryCluster& world, const Write& write) {
  if (write.object.kind == "Node")
    return write.verb == Verb::kJsonPatch ? patch_node(world, write) : merge_node(world, write);
  if (write.object.kind == "ConfigMap") return write_config_map(world, write);
  if (write.object.kind == "MIGLayout") return patch_layout(world, write);
  return std::nullopt;
}

void put_status(MemoryCluster& world, const StatusUpdate& update) {
  if (world.layout(update.object.name) == nullptr) return;
  MIGLayout next = *world.layout(update.object.name);
  Json standing = Json::parse(encode_status(next.status));
  standing.merge_patch(Json::parse(update.body)["status"]);
  const Json spec{{"nodeSelector", Json::object()},
                  {"devices", Json::array({Json{{"profiles", Json::object()}}})}};
  const Json whole{{"metadata", {{"name", next.meta.name}}}, {"spec", spec}, {"status", standing}};
  std::string object = whole.dump();
  Result<MIGLayout> decoded = decode_object<MIGLayout>(object);
  ASSERT_TRUE(decoded) << describe(decoded.error());
  next.status = decoded->status;
  world.put(std::move(next));
}

}  // namespace berth::test
