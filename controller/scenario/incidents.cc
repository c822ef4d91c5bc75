// SPDX-License-Identifier: Apache-2.0
#include "controller/scenario/incidents.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "apis/manifest.h"
#include "apis/names.h"
#include "apis/time.h"
#include "controller/runtime/leader_election.h"
#include "controller/scenario/incident_table.h"
#include "controller/sim/object_fields.h"

namespace berth {
namespace {

using Json = nlohmann::json;
using Told = Incidents::Told;
using Target = IncidentVerb::Target;
using namespace std::chrono_literals;

std::string arg(const Incident& incident, const std::string& name, std::string otherwise = "") {
  auto it = incident.args.find(name);
  return it == incident.args.end() ? std::move(otherwise) : it->second;
}

int number(const Incident& incident, const std::string& name, int otherwise) {
  const std::string text = arg(incident, name);
  int value = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::chrono::milliseconds span(const Incident& incident, const std::string& name) {
  return parse_duration(arg(incident, name, "0s")).value();
}

// Patches and sets come from the parser as JSON; those of other callers may not be.
Json json_of(const std::string& text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_object() ? json : Json::object();
}

// What is behind the first slash: "node/n1" → "n1".
std::string rest_of(const std::string& target) { return target.substr(target.find('/') + 1); }

Told told(std::string text, const sim::WriteReply& reply) {
  if (reply.ok()) return {.subject = kPerson, .text = std::move(text)};
  const std::string why = reply.body ? sim::text_at(*reply.body, {"message"}) : "";
  return {.subject = kPerson,
          .text = fmt::format("{}: refused with {}{}", text, reply.code,
                              why.empty() ? "" : " (" + why + ")"),
          .done = false};
}

Told missing(const std::string& what) {
  return {.subject = kPerson, .text = fmt::format("finds no {}", what), .done = false};
}

// "tier=batch gone-" as kubectl takes them.
std::string shown_set(const Json& set) {
  std::string text;
  for (const auto& [key, value] : set.items())
    text += fmt::format(" {}", value.is_null() ? key + "-" : key + "=" + value.get<std::string>());
  return text;
}

sim::AgentFault fault_of(const std::string& word) {
  for (int i = 0; i <= static_cast<int>(sim::AgentFault::kReboot); ++i)
    if (word == sim::to_string(static_cast<sim::AgentFault>(i)))
      return static_cast<sim::AgentFault>(i);
  return sim::AgentFault::kNone;
}

}  // namespace

Incidents::Incidents(World world) : world_(world), person_(world.simulation.server(), kPerson) {}

std::vector<Told> Incidents::play(const Incident& incident) {
  const IncidentVerb* verb = find_incident_verb(incident.verb);
  if (verb == nullptr) return {missing("verb " + incident.verb)};
  std::vector<Told> lines;
  switch (verb->target) {
    case Target::kManifest:
      for (const ManifestDocument& document : parse_manifest(incident.manifest, "").documents)
        lines.push_back(apply_document(document.json));
      break;
    case Target::kObject:
      lines.push_back(on_object(incident));
      break;
    case Target::kPod:
      lines.push_back(on_pod(incident));
      break;
    case Target::kNewNode:
      add_node(incident, rest_of(incident.target));
      lines.push_back({.subject = kPerson, .text = "adds node " + rest_of(incident.target)});
      break;
    case Target::kNode:
    case Target::kNodeOrAll:
      for (const std::string& name : nodes_of(incident)) lines.push_back(on_node(incident, name));
      break;
    case Target::kBerthOrAll:
      for (BerthProcess* berth : berths_of(incident)) lines.push_back(on_berth(incident, *berth));
      if (lines.empty()) lines.push_back(missing("replica of berth that runs"));
      break;
    case Target::kNone:
      world_.simulation.store().compact(world_.simulation.store().revision());
      lines.push_back({.subject = "etcd", .text = "is compacted: older watches get 410"});
      break;
  }
  return lines;
}

Told Incidents::apply_document(const std::string& text) {
  Json object = json_of(text);
  const sim::ResourceType* type = find_object_type(sim::text_at(object, {"kind"}));
  const std::string shown = fmt::format("kubectl apply {}/{}", sim::text_at(object, {"kind"}),
                                        sim::text_at(object, {"metadata", "name"}));
  if (type == nullptr) return missing("kind " + sim::text_at(object, {"kind"}));
  if (type->namespaced && sim::text_at(object, {"metadata", "namespace"}).empty())
    object["metadata"]["namespace"] = "default";
  return told(shown, person_.apply(type->plural, std::move(object), /*force=*/true));
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
  return told(fmt::format("kubectl {} {}{}", metadata_field == "labels" ? "label" : "annotate",
                          name, shown_set(values)),
              person_.merge_patch("nodes", "", name, {{"metadata", {{metadata_field, values}}}}));
}

Told Incidents::on_machine(const Incident& incident, const std::string& name) {
  const std::string& verb = incident.verb;
  Told line{.subject = name};
  if (verb == "agent-fault") {
    const int times = number(incident, "times", 1);
    world_.agents.inject(name, fault_of(arg(incident, "fault")), times);
    line.text = fmt::format("mig-manager's next run{} will go wrong: {}",
                            times == 1  ? ""
                            : times < 0 ? "s"
                                        : fmt::format("s ({})", times),
                            arg(incident, "fault"));
  } else if (verb == "reboot") {
    world_.agents.reboot(name);
    line.text = "reboots";
  } else if (verb == "stop-kubelet") {
    world_.kube.stop_kubelet(name);
    line.text = "its kubelet dies";
  } else if (verb == "start-kubelet") {
    world_.kube.start_kubelet(name);
    line.text = "its kubelet is back";
  } else if (verb == "remove-node") {
    world_.agents.remove_node(name);
    line.text = "leaves the cluster for good";
  } else {
    recreate_node(name);
    line.text = "is replaced by a new machine of the same name";
  }
  return line;
}

void Incidents::add_node(const Incident& incident, const std::string& name) {
  sim::GpuNode node{.name = name};
  node.product = arg(incident, "product", node.product);
  node.gpus = number(incident, "gpus", node.gpus);
  const Json labels = json_of(arg(incident, "labels"));
  for (const auto& [key, value] : labels.items())
    if (value.is_string()) node.labels[key] = value.get<std::string>();
  machines_[name] = node;
  world_.agents.add_node(node);
}

void Incidents::recreate_node(const std::string& name) {
  world_.agents.remove_node(name);
  auto machine = machines_.find(name);
  if (machine == machines_.end()) return;
  world_.simulation.loop().call_after(
      1s, [&agents = world_.agents, node = machine->second] { agents.add_node(node); });
}

Told Incidents::on_pod(const Incident& incident) {
  const std::string path = rest_of(incident.target);
  const std::string namespace_ = path.substr(0, path.find('/'));
  const std::string pod = pod_of(namespace_, rest_of(path), arg(incident, "on"));
  if (pod.empty()) return missing("pod of " + path);
  if (incident.verb == "evict") return evict(namespace_, pod);
  const std::string shown = namespace_ + "/" + pod;
  if (incident.verb == "hang-pod") {
    world_.kube.hang(namespace_, pod);
    return {.subject = shown, .text = "hangs: it will not end when told to"};
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

Told Incidents::on_berth(const Incident& incident, BerthProcess& berth) {
  const std::string& verb = incident.verb;
  Told line{.subject = berth.name()};
  if (verb == "start") {
    berth.start();
    line.text = "is started";
  } else if (!berth.running()) {
    line.text = fmt::format("does not run: no {}", verb);
    line.done = false;
  } else if (verb == "crash") {
    berth.kill();
    line.text = "crashes: killed between two instructions, nothing saved";
  } else if (verb == "freeze") {
    berth.freeze();
    line.text = "stands still: time goes by without it";
  } else if (verb == "thaw") {
    berth.thaw();
    line.text = "goes on where it stood";
  } else if (verb == "terminate") {
    berth.terminate();
    line.text = "is told to end";
  } else if (verb == "break-watches") {
    berth.wire().end_watches();
    line.text = "loses its watches";
  } else if (verb == "lag") {
    berth.wire().lag(span(incident, "by"));
    line.text = fmt::format("hears of changes {} late from now on",
                            format_duration_short(span(incident, "by")));
  } else if (verb == "stall") {
    sim::ExchangeFault late;
    late.delay = span(incident, "by");
    meet_for(berth, span(incident, "for"), late);
    line.text = fmt::format("has a slow line for {}: what it sends arrives {} late",
                            format_duration_short(span(incident, "for")),
                            format_duration_short(span(incident, "by")));
  } else {
    const int code = number(incident, "code", 503);
    sim::ExchangeFault refusal{.fate = sim::ExchangeFate::kRefused};
    refusal.code = code;
    meet_for(berth, span(incident, "for"), refusal);
    berth.wire().end_watches();
    line.text = fmt::format("is refused everything with {} for {}", code,
                            format_duration_short(span(incident, "for")));
  }
  return line;
}

// What hook there was is asked first: what it does to a request comes before this.
void Incidents::meet_for(BerthProcess& berth, std::chrono::milliseconds span,
                         sim::ExchangeFault fault) {
  const MonotonicTime until = world_.simulation.now() + span;
  berth.faults.on_request = [before = berth.faults.on_request, until, fault,
                             &simulation = world_.simulation](const HttpRequest& request) {
    const sim::ExchangeFault first = before ? before(request) : sim::ExchangeFault{};
    const bool untouched =
        first.fate == sim::ExchangeFate::kAnswered && first.delay == std::chrono::nanoseconds(0);
    return untouched && simulation.now() < until ? fault : first;
  };
}

std::vector<std::string> Incidents::nodes_of(const Incident& incident) const {
  const std::string name = rest_of(incident.target);
  if (name != "all") return {name};
  std::vector<std::string> names;
  for (const sim::ObjectPtr& node : person_.list("nodes"))
    names.push_back(sim::text_at(*node, {"metadata", "name"}));
  return names;
}

std::vector<BerthProcess*> Incidents::berths_of(const Incident& incident) const {
  const std::string which = rest_of(incident.target);
  std::vector<BerthProcess*> found;
  if (which == "leader") {
    if (BerthProcess* leads = leader()) found.push_back(leads);
    return found;
  }
  for (std::size_t i = 0; i < world_.berths.size(); ++i)
    if (which == std::to_string(i) ||
        (which == "all" && (incident.verb != "thaw" || world_.berths[i]->frozen())))
      found.push_back(world_.berths[i].get());
  return found;
}

// Who holds the lease; failing that, any that runs.
BerthProcess* Incidents::leader() const {
  const sim::ObjectPtr lease =
      person_.get("leases", world_.settings.berth_namespace, LeaseOptions{}.name);
  const std::string holder = lease ? sim::text_at(*lease, {"spec", "holderIdentity"}) : "";
  for (const auto& berth : world_.berths)
    if (berth->running() && holder.starts_with(berth->name() + "_")) return berth.get();
  for (const auto& berth : world_.berths)
    if (berth->running()) return berth.get();
  return nullptr;
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
