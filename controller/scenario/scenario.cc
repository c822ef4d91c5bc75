// SPDX-License-Identifier: Apache-2.0
#include "controller/scenario/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apis/codec/manifest.h"
#include "controller/scenario/cluster_yaml.h"
#include "controller/scenario/fields.h"
#include "controller/scenario/timeline_yaml.h"

namespace berth {
namespace {

using Json = nlohmann::json;

constexpr int kMaxBerths = 3;
constexpr std::size_t kMaxShown = 20;

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? "" : path.substr(0, slash);
}

// "True", "False", "False InvalidSpec".
void check_expectations(Fields& top, const Scenario& scenario) {
  for (const auto& [layout, wanted] : scenario.expect) {
    const std::string status = wanted.substr(0, wanted.find(' '));
    if (status != "True" && status != "False" && status != "Unknown" && status != "Gone")
      top.complain("expect", fmt::format("{}: write what Ready is at the end, and perhaps why: "
                                         "\"True\", \"False NodeFailed\"; or \"Gone\"",
                                         layout));
  }
}

void read_webhook(const Json& value, ScenarioWebhook& out, std::vector<Complaint>& complaints) {
  Fields fields(value, "webhook", complaints);
  out.replicas = 1;
  fields.read("replicas", out.replicas, 1, kMaxBerths);
  std::string policy = "Fail";
  fields.read_choice("failurePolicy", policy, {"Fail", "Ignore"});
  out.ignored = policy == "Ignore";
  fields.read("reinvoked", out.reinvoked);
  fields.read("timeout", out.timeout);
  fields.finish();
}

// YAML reads unquoted True and False as booleans; here they are a condition's status.
void read_expectations(Fields& top, Scenario& scenario, std::vector<Complaint>& complaints) {
  const Json* expect = top.find("expect");
  if (expect == nullptr) return;
  if (!expect->is_object())
    return top.complain("expect", "must be a map from a layout's name to its Ready");
  for (const auto& [layout, wanted] : expect->items()) {
    if (wanted.is_boolean())
      scenario.expect[layout] = wanted.get<bool>() ? "True" : "False";
    else if (wanted.is_string())
      scenario.expect[layout] = wanted.get<std::string>();
    else
      complaints.push_back({"expect." + layout, "must be text, such as True"});
  }
  check_expectations(top, scenario);
}

Error report(const std::vector<Finding>& findings) {
  std::string text;
  for (std::size_t i = 0; i < findings.size() && i < kMaxShown; ++i)
    text += (i == 0 ? "" : "\n") + format(findings[i]);
  if (findings.size() > kMaxShown)
    text += fmt::format("\nand {} more", findings.size() - kMaxShown);
  return invalid_spec("", std::move(text));
}

// A manifest instead of a scenario: otherwise every field would be reported as unknown.
Finding object_instead(const ManifestDocument& document, const std::string& source) {
  const bool ours = document.kind == kKind<MIGLayout>.kind ||
                    document.kind == kKind<GPUClusterPolicy>.kind ||
                    document.kind == kKind<GPUQueue>.kind;
  return {.file = source,
          .line = document.line,
          .message = fmt::format(
              "this is a {}, not a scenario; {}", document.kind,
              ours ? "berth plan -f reads it" : "docs/simulation.md describes scenarios")};
}

}  // namespace

std::vector<std::string> node_names(const ScenarioNodes& nodes) {
  if (!nodes.numbered) return {nodes.like.name};
  std::vector<std::string> names;
  for (int i = 1; i <= nodes.count; ++i) names.push_back(fmt::format("{}{}", nodes.like.name, i));
  return names;
}

Result<Scenario> parse_scenario(std::string_view yaml, const std::string& source) {
  Manifest manifest = parse_manifest(yaml, source);
  for (const ManifestDocument& document : manifest.documents)
    if (!document.api_version.empty() && !document.kind.empty() && manifest.findings.empty())
      manifest.findings.push_back(object_instead(document, source));
  if (manifest.findings.empty() && manifest.documents.size() != 1)
    manifest.findings.push_back(
        {.file = source,
         .message = fmt::format("a scenario is one YAML document; there are {} here",
                                manifest.documents.size())});
  if (!manifest.findings.empty()) return report(manifest.findings);

  const ManifestDocument& document = manifest.documents.front();
  const Json json = Json::parse(document.json, nullptr, /*allow_exceptions=*/false);
  std::vector<Complaint> complaints;
  Scenario scenario;
  Fields top(json, "", complaints);
  top.read("name", scenario.name);
  top.read("description", scenario.description);
  read_cluster(top, scenario, complaints);
  top.read("berths", scenario.berths, 0, kMaxBerths);
  if (const Json* webhook = top.find("webhook"))
    read_webhook(*webhook, scenario.webhook, complaints);
  top.read("prometheus", scenario.prometheus);
  top.read("queuePolicy", scenario.queue_policy);
  top.read("limit", scenario.limit);
  top.read("patience", scenario.patience);
  read_timeline(top, folder_of(source), scenario, complaints);
  read_expectations(top, scenario, complaints);
  top.finish();

  std::vector<Finding> findings;
  for (Complaint& c : complaints)
    findings.push_back({.file = source,
                        .line = line_of(document, c.path),
                        .field = std::move(c.path),
                        .message = std::move(c.message)});
  std::ranges::stable_sort(findings, {}, &Finding::line);
  if (!findings.empty()) return report(findings);
  return scenario;
}

}  // namespace berth
