// SPDX-License-Identifier: Apache-2.0
// Incidents: verbs for users' kubectl commands, and for pods.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "controller/scenario/incident_args.h"
#include "controller/sim/world/object_fields.h"

namespace berth {

using Json = nlohmann::json;
using Told = Incidents::Told;

namespace {

// "tier=batch gone-" in kubectl's syntax.
std::string shown_set(const Json& set) {
  std::string text;
  for (const auto& [key, value] : set.items())
    text += fmt::format(" {}", value.is_null() ? key + "-" : key + "=" + value.get<std::string>());
  return text;
}

}  // namespace

Told Incidents::apply_document(const std::string& text) {
  Json object = json_of(text);
  const sim::ResourceType* type = find_object_type(sim::text_at(object, {"kind"}));
  const std::string shown = fmt::format("kubectl apply {}/{}", sim::text_at(object, {"kind"}),
                                        sim::text_at(object, {"metadata", "name"}));
  if (type == nullptr) return missing("kind " + sim::text_at(object, {"kind"}));
  if (type->namespaced && sim::text_at(object, {"metadata", "namespace"}).empty())
    object["metadata"]["namespace"] = "default";
  const bool asked_about = type->plural == "pods" || type->plural == "jobs";
  if (asked_about && world_.simulation.server().admission &&
      person_.get(type->plural, sim::text_at(object, {"metadata", "namespace"}),
                  sim::text_at(object, {"metadata", "name"})) == nullptr)
    return submit(*type, std::move(object), shown);
  return told(shown, person_.apply(type->plural, std::move(object), /*force=*/true));
}

// Like kubectl, creates an object that does not exist. Webhooks may hold it for a while.
Told Incidents::submit(const sim::ResourceType& type, Json object, const std::string& shown) {
  auto reply = std::make_shared<std::optional<Told>>();
  auto held = std::make_shared<bool>(false);
  person_.submit(type.plural, std::move(object),
                 [this, shown, reply, held](const sim::WriteReply& answer) {
                   *reply = told(shown, answer);
                   if (*held && on_held) on_held(**reply);
                 });
  if (*reply) return **reply;
  *held = true;
  return {.subject = kPerson, .text = shown + " (through the admission webhooks)"};
}

Told Incidents::on_object(const Incident& incident) {
  const Result<ObjectName> name = parse_object_name(incident.target);
  if (!name) return missing(incident.target);
  std::string object = name->name;
  if (name->type->plural == "pods")
    object = pod_of(name->namespace_, name->name, arg(incident, "on"));
  if (object.empty()) return missing(incident.target);
  const std::string shown =
      fmt::format("{}/{}", name->type->kind,
                  name->namespace_.empty() ? object : name->namespace_ + "/" + object);
  if (incident.verb == "delete")
    return told("kubectl delete " + shown,
                person_.remove(name->type->plural, name->namespace_, object));
  const std::string patch = arg(incident, "patch");
  return told(fmt::format("kubectl patch {} {}", shown, patch),
              person_.merge_patch(name->type->plural, name->namespace_, object, json_of(patch),
                                  arg(incident, "subresource")));
}

Told Incidents::on_node(const Incident& incident, const std::string& name) {
  const std::string& verb = incident.verb;
  if (verb == "cordon" || verb == "uncordon")
    return told(
        fmt::format("kubectl {} {}", verb, name),
        person_.merge_patch(
            "nodes", "", name,
            {{"spec", {{"unschedulable", verb == "cordon" ? Json(true) : Json(nullptr)}}}}));
  if (verb == "label") return patch_node(name, "labels", arg(incident, "set"));
  if (verb == "annotate") return patch_node(name, "annotations", arg(incident, "set"));
  if (verb == "hold")
    return patch_node(
        name, "annotations",
        Json{{names::kHoldAnnotation, arg(incident, "reason", "maintenance")}}.dump());
  if (verb == "unhold")
    return patch_node(name, "annotations", Json{{names::kHoldAnnotation, nullptr}}.dump());
  return on_machine(incident, name);
}

Told Incidents::patch_node(const std::string& name, const std::string& metadata_field,
                           const std::string& set) {
  const Json values = json_of(set);
  return told(fmt::format("kubectl {} node {}{}", metadata_field == "labels" ? "label" : "annotate",
                          name, shown_set(values)),
              person_.merge_patch("nodes", "", name, {{"metadata", {{metadata_field, values}}}}));
}

Told Incidents::on_pod(const Incident& incident) {
  const std::string path = rest_of(incident.target);
  if (incident.verb == "use") {  // for present and later pods
    const int percent = number(incident, "percent", 0);
    world_.gauges.use(path, percent);
    return {.subject = path, .text = fmt::format("uses {}% of its GPUs", percent)};
  }
  const std::string namespace_ = path.substr(0, path.find('/'));
  const std::string pod = pod_of(namespace_, rest_of(path), arg(incident, "on"));
  if (pod.empty()) return missing("pod of " + path);
  if (incident.verb == "evict") return evict(namespace_, pod);
  const std::string shown = namespace_ + "/" + pod;
  if (incident.verb == "hang-pod") {
    world_.kube.hang(namespace_, pod);
    return {.subject = shown, .text = "hangs: it will not end when it is deleted"};
  }
  const bool succeeded = arg(incident, "result", "Succeeded") == "Succeeded";
  world_.kube.finish(namespace_, pod, succeeded);
  return {.subject = shown, .text = succeeded ? "ends by itself" : "fails by itself"};
}

Told Incidents::evict(const std::string& namespace_, const std::string& pod) {
  sim::WriteRequest request{.verb = sim::WriteVerb::kEvict,
                            .key = {sim::find_resource_type("pods"), namespace_, pod},
                            .body = std::make_shared<const Json>(
                                Json{{"apiVersion", "policy/v1"},
                                     {"kind", "Eviction"},
                                     {"metadata", {{"name", pod}, {"namespace", namespace_}}}}),
                            .field_manager = kPerson,
                            .user = kPerson};
  return told(fmt::format("evicts {}/{}", namespace_, pod),
              world_.simulation.server().write(request));
}

std::string Incidents::pod_of(const std::string& namespace_, const std::string& name,
                              const std::string& node) const {
  std::string found;
  for (const sim::ObjectPtr& pod : person_.list("pods", namespace_)) {
    if (!node.empty() && sim::text_at(*pod, {"spec", "nodeName"}) != node) continue;
    const std::string its_name = sim::text_at(*pod, {"metadata", "name"});
    if (its_name == name) return name;
    if (!found.empty() || sim::text_at(*pod, {"metadata", "labels", "app"}) != name) continue;
    if (sim::text_at(*pod, {"metadata", "deletionTimestamp"}).empty()) found = its_name;
  }
  return found;
}

}  // namespace berth
