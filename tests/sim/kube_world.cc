// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/kube_world.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "controller/sim/world/object_fields.h"
#include "controller/sim/world/object_state.h"

namespace berth::sim {
namespace {

using nlohmann::json;

constexpr char kNamespace[] = "team";

std::string namespace_for(const char* plural) {
  return find_resource_type(plural)->namespaced ? kNamespace : "";
}

void expect_ok(const WriteReply& reply) {
  if (!reply.ok())
    throw std::runtime_error(
        fmt::format("{}: {}", reply.code, reply.body == nullptr ? "" : to_text(*reply.body)));
}

}  // namespace

KubeWorld::KubeWorld(KubeOptions options, std::uint64_t seed)
    : simulation(seed), kube(simulation, options), user(simulation.server(), "somebody") {
  create("namespaces", R"({"metadata":{"name":"team"}})");
}

void KubeWorld::create(const char* plural, const std::string& object) {
  json parsed = json::parse(object);
  if (find_resource_type(plural)->namespaced) parsed["metadata"]["namespace"] = kNamespace;
  expect_ok(user.create(plural, std::move(parsed)));
}

void KubeWorld::add_node(const std::string& name, int gpus, const std::string& labels) {
  create("nodes", fmt::format(R"({{"metadata":{{"name":"{}","labels":{}}}}})", name, labels));
  merge("nodes", name,
        fmt::format(R"({{"status":{{"capacity":{{"nvidia.com/gpu":"{0}"}},
                        "allocatable":{{"nvidia.com/gpu":"{0}"}},
                        "conditions":[{{"type":"Ready","status":"True"}}]}}}})",
                    gpus),
        "status");
  simulation.run_for(std::chrono::seconds(2));  // until the server's taint of new nodes is gone
}

void KubeWorld::add_pod(const std::string& name, int gpus, const std::string& spec) {
  json pod = json::parse(R"({"spec":{"containers":[{"name":"main","image":"train"}]}})");
  pod["metadata"]["name"] = name;
  if (gpus > 0) {
    const json amount = {{"nvidia.com/gpu", std::to_string(gpus)}};
    pod["spec"]["containers"][0]["resources"] = {{"requests", amount}, {"limits", amount}};
  }
  pod["spec"].merge_patch(json::parse(spec));
  create("pods", to_text(pod));
}

void KubeWorld::merge(const char* plural, const std::string& name, const std::string& patch,
                      const std::string& subresource) {
  expect_ok(user.merge_patch(plural, namespace_for(plural), name, json::parse(patch), subresource));
}

void KubeWorld::remove(const char* plural, const std::string& name, const std::string& options) {
  expect_ok(user.remove(plural, namespace_for(plural), name, json::parse(options)));
}

int KubeWorld::evict(const std::string& pod) {
  WriteRequest request;
  request.verb = WriteVerb::kEvict;
  request.key = {find_resource_type("pods"), kNamespace, pod};
  const json eviction = {{"apiVersion", "policy/v1"},
                         {"kind", "Eviction"},
                         {"metadata", {{"name", pod}, {"namespace", kNamespace}}}};
  request.body = std::make_shared<const json>(eviction);
  request.user = "somebody";
  return simulation.server().write(request).code;
}

std::string KubeWorld::at(const char* plural, const std::string& name,
                          const std::string& pointer) const {
  const ObjectPtr object = user.get(plural, namespace_for(plural), name);
  const json::json_pointer path(pointer);
  if (object == nullptr || !object->contains(path)) return "";
  const json& found = object->at(path);
  return found.is_string() ? found.get<std::string>() : to_text(found);
}

std::string KubeWorld::condition(const char* plural, const std::string& name,
                                 const char* type) const {
  const ObjectPtr object = user.get(plural, namespace_for(plural), name);
  const json* found = object == nullptr ? nullptr : condition_of(*object, type);
  if (found == nullptr) return "";
  const std::string reason = text_at(*found, {"reason"});
  return text_at(*found, {"status"}) + (reason.empty() ? "" : " " + reason);
}

bool KubeWorld::exists(const char* plural, const std::string& name) const {
  return user.get(plural, namespace_for(plural), name) != nullptr;
}

std::vector<std::string> KubeWorld::names(const char* plural) const {
  std::vector<std::string> all;
  for (const ObjectPtr& object : user.list(plural, namespace_for(plural)))
    all.push_back(name_of(*object));
  return all;
}

std::string KubeWorld::taints(const std::string& node) const {
  const ObjectPtr object = user.get("nodes", "", node);
  const json* taints = find_at(*object, {"spec", "taints"});
  std::string text;
  if (taints == nullptr) return text;
  for (const json& taint : *taints) {
    if (text_at(taint, {"effect"}) != "NoSchedule") continue;
    const std::string key = text_at(taint, {"key"});
    text += (text.empty() ? "" : " ") + key.substr(key.find('/') + 1);
  }
  return text;
}

bool KubeWorld::run_until(const std::function<bool()>& done, std::chrono::nanoseconds limit) {
  return simulation.run_until(done, limit);
}

}  // namespace berth::sim
