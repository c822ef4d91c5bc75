// SPDX-License-Identifier: Apache-2.0
#include "controller/scenario/timeline_yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "apis/base/nearest_name.h"
#include "apis/base/time.h"
#include "apis/codec/manifest.h"
#include "controller/scenario/cluster_yaml.h"
#include "controller/scenario/incident_table.h"
#include "controller/scenario/object_names.h"
#include "controller/scenario/phases.h"

namespace berth {
namespace {

using Json = nlohmann::json;
using Target = IncidentVerb::Target;

class IncidentReader {
 public:
  IncidentReader(const Json& item, std::string path, const std::string& folder,
                 const std::set<std::string>& nodes, const Scenario& scenario,
                 std::vector<Complaint>& complaints)
      : fields_(item, std::move(path), complaints),
        folder_(folder),
        nodes_(nodes),
        scenario_(scenario) {}

  Incident read() {
    read_moment();
    if (const IncidentVerb* verb = read_verb()) {
      incident_.verb = verb->name;
      read_target(*verb);
      for (const IncidentArg& arg : verb->args) read_arg(arg);
      if (verb->target == Target::kNewNode) check_product();
      fields_.finish(verb_names());
    }
    return std::move(incident_);
  }

 private:
  static std::vector<std::string> verb_names() {
    std::vector<std::string> names;
    for (const IncidentVerb& verb : incident_verbs()) names.push_back(verb.name);
    return names;
  }

  void read_moment() {
    if (fields_.has("at")) incident_.at.emplace(), fields_.read("at", *incident_.at);
    fields_.read_choice("whenPhase", incident_.when_phase, rollout_phase_names());
    fields_.read("after", incident_.after);
    if (incident_.at.has_value() == fields_.has("whenPhase"))
      fields_.complain("at", "say when: either at: 90s, or whenPhase: Applying");
    if (!fields_.has("node")) return;
    std::string node;
    fields_.read("node", node);
    if (incident_.at) fields_.complain("node", "goes with whenPhase: of this node only");
    check_node("node", node);
    incident_.args["node"] = node;
  }

  const IncidentVerb* read_verb() {
    const IncidentVerb* found = nullptr;
    for (const IncidentVerb& verb : incident_verbs()) {
      if (!fields_.has_key(verb.name)) continue;
      if (found != nullptr) {
        fields_.complain(verb.name, fmt::format("one incident does one thing, and {} stands here "
                                                "already; make it two",
                                                found->name));
        return nullptr;
      }
      found = &verb;
    }
    if (found != nullptr) return found;
    complain_of_no_verb();
    return nullptr;
  }

  void complain_of_no_verb() {
    for (const std::string& key : fields_.keys()) {
      if (key == "at" || key == "whenPhase" || key == "after" || key == "node") continue;
      const std::string near = nearest_name(key, verb_names());
      if (!near.empty()) return fields_.complain(key, "is no verb; did you mean " + near + "?");
    }
    fields_.complain("", fmt::format("names nothing that happens; write one of {}",
                                     fmt::join(verb_names(), ", ")));
  }

  void read_target(const IncidentVerb& verb) {
    if (verb.target == Target::kManifest) return read_manifest();
    if (verb.target == Target::kNone) {
      const Json* value = fields_.find(verb.name);
      if (value != nullptr && *value != true)
        fields_.complain(verb.name, "takes nothing; write true");
      return;
    }
    std::string text;
    fields_.read(verb.name, text);
    if (text.empty()) return fields_.complain(verb.name, wanted(verb.target));
    switch (verb.target) {
      case Target::kNode:
      case Target::kNodeOrAll:
        return read_node(verb, text);
      case Target::kNewNode:
        if (nodes_.contains(text))
          fields_.complain(verb.name, "there is a node " + text + " already");
        incident_.target = "node/" + text;
        return;
      case Target::kBerthOrAll:
        return read_berth(verb, text);
      case Target::kPod:
        if (std::ranges::count(text, '/') != 1)
          return fields_.complain(verb.name, wanted(verb.target));
        incident_.target = "pod/" + text;
        return;
      default:
        return read_object(verb, text);
    }
  }

  static std::string wanted(Target target) {
    switch (target) {
      case Target::kPod:
        return "must name a pod, or a workload any pod of which will do: team-a/train";
      case Target::kBerthOrAll:
        return "must name a replica of berth: berth-0, leader, or all; webhook-0, or webhooks";
      case Target::kObject:
        return "must name an object: miglayout/a100, pdb/team-a/chat";
      default:
        return "must name a node";
    }
  }

  void check_node(const std::string& key, const std::string& name) {
    if (nodes_.contains(name)) return;
    const std::vector<std::string> names(nodes_.begin(), nodes_.end());
    const std::string near = nearest_name(name, names);
    fields_.complain(key, fmt::format("there is no node {}{}", name,
                                      near.empty() ? "" : "; did you mean " + near + "?"));
  }

  void read_node(const IncidentVerb& verb, const std::string& text) {
    if (text != "all" || verb.target != Target::kNodeOrAll) check_node(verb.name, text);
    incident_.target = "node/" + text;
  }

  void read_berth(const IncidentVerb& verb, const std::string& text) {
    incident_.target = text == "webhooks" ? "webhook/all" : "berth/" + text;
    if (text == "leader" || text == "all" || text == "webhooks") return;
    const bool webhook = text.starts_with("webhook-");
    const std::string role = webhook ? "webhook" : "berth";
    const std::string prefix = role + "-";
    int number = -1;
    if (text.starts_with(prefix))
      std::from_chars(text.data() + prefix.size(), text.data() + text.size(), number);
    if (number < 0 || text != fmt::format("{}{}", prefix, number))
      return fields_.complain(verb.name, wanted(verb.target));
    const int count = webhook ? scenario_.webhook.replicas : scenario_.berths;
    if (number >= count)
      return fields_.complain(verb.name,
                              fmt::format("there is no {}: {} is {}", text,
                                          webhook ? "webhook.replicas" : "berths", count));
    incident_.target = fmt::format("{}/{}", role, number);
  }

  void read_object(const IncidentVerb& verb, const std::string& text) {
    const Result<ObjectName> name = parse_object_name(text);
    if (!name) return fields_.complain(verb.name, name.error().message);
    incident_.target = name->str();
  }

  void read_manifest() {
    static const Json kNothing;
    const Json* found = fields_.find("apply");
    const Json& value = found == nullptr ? kNothing : *found;
    if (value.is_string()) {
      incident_.manifest = value.get<std::string>();
    } else if (value.is_object() && value.contains("file") && !value.contains("kind")) {
      read_file(value);
    } else if (value.is_object()) {
      incident_.manifest = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    } else {
      return fields_.complain("apply", "must be an object, text that holds some, or {file: PATH}");
    }
    const Manifest manifest = parse_manifest(incident_.manifest, "");
    for (const Finding& finding : manifest.findings)
      fields_.complain("apply", fmt::format("line {}: {}", finding.line, finding.message));
    for (const ManifestDocument& document : manifest.documents) check_document(document);
    if (manifest.documents.empty() && manifest.findings.empty() && !broken_)
      fields_.complain("apply", "holds no object");
  }

  void read_file(const Json& value) {
    std::string name;
    Fields inner(value, fields_.path_of("apply"), fields_.complaints());
    inner.read("file", name);
    inner.finish();
    broken_ = name.empty();
    if (broken_) return;
    const std::string path = name.starts_with('/') || folder_.empty() ? name : folder_ + "/" + name;
    std::ifstream file(path, std::ios::binary);
    incident_.manifest.assign(std::istreambuf_iterator<char>(file), {});
    broken_ = !file || incident_.manifest.empty();
    if (broken_) inner.complain("file", path + " cannot be read");
  }

  void check_document(const ManifestDocument& document) {
    if (document.kind.empty() || document.name.empty())
      return fields_.complain("apply", "needs apiVersion, kind and metadata.name");
    if (find_object_type(document.kind) == nullptr)
      fields_.complain(
          "apply", fmt::format("the simulation serves no {}; {}", document.kind, served_kinds()));
  }

  void read_arg(const IncidentArg& arg) {
    const Json* value = fields_.find(arg.name);
    if (value == nullptr) {
      if (arg.required)
        fields_.complain(arg.name, fmt::format("is required by {}", incident_.verb));
      return;
    }
    switch (arg.type) {
      case IncidentArg::Type::kText:
        return fields_.read(arg.name, incident_.args[arg.name]);
      case IncidentArg::Type::kChoice:
        return fields_.read_choice(arg.name, incident_.args[arg.name], arg.words);
      case IncidentArg::Type::kInteger: {
        int number = 0;
        fields_.read(arg.name, number, arg.least, arg.most);
        incident_.args[arg.name] = std::to_string(number);
        return;
      }
      case IncidentArg::Type::kDuration: {
        std::chrono::milliseconds span{0};
        fields_.read(arg.name, span);
        incident_.args[arg.name] = format_duration(span);
        return;
      }
      case IncidentArg::Type::kTextMap:
        for (const auto& item : value->items())
          if (value->is_object() && !item.value().is_string() && !item.value().is_null())
            fields_.complain(arg.name, item.key() + " must be text, or null to remove it");
        [[fallthrough]];
      case IncidentArg::Type::kObject:
        if (!value->is_object()) return fields_.complain(arg.name, "must be a map");
        incident_.args[arg.name] = value->dump(-1, ' ', false, Json::error_handler_t::replace);
        return;
    }
  }

  void check_product() {
    auto product = incident_.args.find("product");
    if (product == incident_.args.end()) return;
    const Result<std::string> label = product_label(product->second);
    if (!label) return fields_.complain("product", label.error().message);
    product->second = *label;
  }

  Fields fields_;
  const std::string& folder_;
  const std::set<std::string>& nodes_;
  const Scenario& scenario_;
  Incident incident_;
  bool broken_ = false;  // the file of an apply is broken
};

std::set<std::string> all_nodes(const Scenario& scenario) {
  std::set<std::string> names;
  for (const ScenarioNodes& nodes : scenario.nodes)
    for (std::string& name : node_names(nodes)) names.insert(std::move(name));
  return names;
}

}  // namespace

void read_timeline(Fields& top, const std::string& folder, Scenario& scenario,
                   std::vector<Complaint>& complaints) {
  const std::vector<const Json*> items = top.items("timeline");
  std::set<std::string> nodes = all_nodes(scenario);
  for (std::size_t i = 0; i < items.size(); ++i) {
    IncidentReader reader(*items[i], fmt::format("timeline[{}]", i), folder, nodes, scenario,
                          complaints);
    scenario.timeline.push_back(reader.read());
    const Incident& incident = scenario.timeline.back();
    if (incident.verb == "add-node") nodes.insert(incident.target.substr(5));
  }
}

}  // namespace berth
