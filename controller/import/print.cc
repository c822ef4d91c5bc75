// SPDX-License-Identifier: Apache-2.0
#include "controller/import/print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "apis/base/printable.h"
#include "controller/core/plural.h"
#include "controller/preview/yaml.h"

namespace berth {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kMaxOrigins = 20;  // in a comment

// The text as lines of a comment, whatever characters it has.
std::string commented(const std::string& text) {
  std::string out;
  std::istringstream lines(printable_lines(text));
  for (std::string line; std::getline(lines, line);)
    out += line.empty() ? "#\n" : "# " + line + "\n";
  return out;
}

std::string comment_of(const ImportedObject& object) {
  const std::size_t shown = std::min(object.origins.size(), kMaxOrigins);
  std::string text = "From ";
  for (std::size_t i = 0; i < shown; ++i)
    text += (i == 0 ? "" : ",\n  ") + printable(object.origins[i]);
  if (shown < object.origins.size())
    text += fmt::format(",\n  and {} more", object.origins.size() - shown);
  return commented(text + ".");
}

constexpr char kProposal[] =
    "The queues need this of the GPUClusterPolicy, of which a cluster has one. It is a comment, "
    "as\n"
    "applying it would replace the lists of a policy that stands; --policy makes an object of "
    "it.\n";

std::vector<const ImportedObject*> objects_of(const Imported& imported, PolicyAs policy) {
  std::vector<const ImportedObject*> objects;
  if (policy == PolicyAs::kObject && !imported.policy.json.empty())
    objects.push_back(&imported.policy);
  for (const ImportedObject& object : imported.objects) objects.push_back(&object);
  return objects;
}

}  // namespace

std::string print_manifests(const Imported& imported, PolicyAs policy) {
  std::string out;
  if (policy == PolicyAs::kComment && !imported.policy.json.empty())
    out += commented(kProposal) + comment_of(imported.policy) +
           commented("---\n" + json_to_yaml(imported.policy.json));
  for (const ImportedObject* object : objects_of(imported, policy))
    out += "---\n" + comment_of(*object) + json_to_yaml(object->json);
  return out;
}

std::string print_list(const Imported& imported, PolicyAs policy) {
  OrderedJson list{{"apiVersion", "v1"}, {"kind", "List"}, {"items", OrderedJson::array()}};
  for (const ImportedObject* object : objects_of(imported, policy))
    list["items"].push_back(OrderedJson::parse(object->json));
  return list.dump(2) + "\n";
}

std::vector<std::string> print_report(const Imported& imported) {
  const ImportReport& report = imported.report;
  std::vector<std::string> lines;
  const auto add = [&](const std::vector<Finding>& findings) {
    for (const Finding& finding : findings) lines.push_back(format(finding));
  };
  if (!report.wrong.empty()) {
    add(report.wrong);
    return lines;
  }
  add(report.skipped);
  add(report.lost);
  add(report.steps);
  std::size_t queues = 0;
  for (const ImportedObject& object : imported.objects)
    queues += OrderedJson::parse(object.json)["kind"] == kKind<GPUQueue>.kind ? 1 : 0;
  const auto count = [](std::size_t number) { return static_cast<std::int64_t>(number); };
  lines.push_back(fmt::format("{} and {}; not carried over or changed: {}; to do: {}",
                              plural(count(queues), "GPUQueue"),
                              plural(count(imported.objects.size() - queues), "MIGLayout"),
                              report.lost.size(), report.steps.size()));
  return lines;
}

}  // namespace berth
