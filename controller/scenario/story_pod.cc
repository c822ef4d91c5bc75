// SPDX-License-Identifier: Apache-2.0
// A pod's lines: where it runs, its eviction, its end, and that it fits no node. Pods of NVIDIA's
// node components and of DaemonSets have none.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "controller/scenario/gpu_pods.h"
#include "controller/scenario/story.h"
#include "controller/sim/world/object_fields.h"

namespace berth {
namespace {

using nlohmann::json;
using sim::text_at;

bool of_daemon_set(const json& pod) {
  const json* owners = sim::find_at(pod, {"metadata", "ownerReferences"});
  if (owners == nullptr) return false;
  for (const json& owner : *owners)
    if (text_at(owner, {"kind"}) == "DaemonSet") return true;
  return false;
}

bool unschedulable(const json& pod) {
  const json* conditions = sim::find_at(pod, {"status", "conditions"});
  if (conditions == nullptr) return false;
  for (const json& condition : *conditions)
    if (text_at(condition, {"type"}) == "PodScheduled" && text_at(condition, {"status"}) == "False")
      return true;
  return false;
}

std::string phase(const json& pod) { return text_at(pod, {"status", "phase"}); }
bool leaving(const json& pod) { return !text_at(pod, {"metadata", "deletionTimestamp"}).empty(); }

}  // namespace

Story tell_pod(const sim::Change& change, const Settings& settings) {
  const json& pod = *change.after;
  if (change.key.namespace_ == settings.agents_namespace || of_daemon_set(pod)) return {};
  static const json kNothing = json::object();
  const json& before = change.before ? *change.before : kNothing;
  const std::string name = change.key.namespace_ + "/" + change.key.name;
  const std::string node = text_at(pod, {"spec", "nodeName"});
  Story story;
  const auto say = [&](std::string text) { story.push_back({name, std::move(text)}); };

  const bool deleted = change.kind == sim::Change::Kind::kDeleted;
  if (leaving(pod) && !leaving(before) && change.user != "person")
    say(node.empty() ? fmt::format("deleted by {}", who(change.user))
                     : fmt::format("sent away from {} by {}", node, who(change.user)));
  if (deleted) {
    if (!leaving(before) && !node.empty()) say("gone from " + node);
    return story;
  }
  if (phase(pod) != phase(before) && !leaving(pod)) {
    const std::string devices = devices_of_pod(pod);
    if (phase(pod) == "Running")
      say(fmt::format("runs on {}{}", node, devices.empty() ? "" : " (" + devices + ")"));
    else if (phase(pod) == "Succeeded" || phase(pod) == "Failed")
      say(fmt::format("ends on {}: {}", node, phase(pod)));
  }
  if (node.empty() && unschedulable(pod) && !unschedulable(before))
    say("waits: no node has room for it");
  return story;
}

}  // namespace berth
