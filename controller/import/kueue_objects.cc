// SPDX-License-Identifier: Apache-2.0
#include "controller/import/kueue_objects.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "apis/kinds/field_shapes.h"
#include "controller/import/fitted_name.h"

namespace berth {
namespace {

constexpr char kNameAdvice[] =
    "write lower case letters, digits, '-' and '.', starting and ending with a letter or digit";
constexpr std::size_t kMaxLabelName = 63;
constexpr std::size_t kMaxResource = 317;
constexpr std::size_t kMaxGroups = 16;
constexpr std::size_t kMaxFlavors = 64;    // per group
constexpr std::size_t kMaxResources = 64;  // per flavor

// Names go into other names, into selectors and into commands that users paste into a shell.
void read_name(const JsonCursor& cursor, std::string& out) {
  cursor.read(out);
  if (out.empty()) return cursor.fail("is required");
  if (!is_object_name(out)) cursor.fail(kNameAdvice);
}

void read_namespace(const JsonCursor& meta, std::string& out) {
  meta["namespace"].read(out);
  if (out.empty())
    return meta["namespace"].fail("is required here, as it decides whose queue or quota it is");
  if (!is_namespace_name(out)) meta["namespace"].fail(kNameAdvice);
}

void read_word(const JsonCursor& cursor, std::string& out,
               std::initializer_list<std::string_view> words) {
  std::string text;
  cursor.read(text);
  if (text.empty()) return;
  if (std::ranges::find(words, text) == words.end())
    return cursor.fail(fmt::format("must be one of {}", fmt::join(words, ", ")));
  out = text;
}

void read_amount(const JsonCursor& cursor, Quantity& out) {
  cursor.read(out);
  if (out < Quantity()) cursor.fail("must not be negative");
}

void read_amount(const JsonCursor& cursor, std::optional<Quantity>& out) {
  if (cursor.present()) read_amount(cursor, out.emplace());
}

void read_label_key(const JsonCursor& cursor, std::string& out) {
  cursor.read(out);
  if (!matches_pattern(out, shape::kLabelKey)) cursor.fail(shape::kLabelKeyAdvice);
}

void read_labels(const JsonCursor& cursor, std::map<std::string, std::string>& out) {
  for (const auto& [key, value] : cursor.fields()) {
    if (!matches_pattern(key, shape::kLabelKey)) cursor.fail(shape::kLabelKeyAdvice);
    std::string& text = out[key];
    value.read(text);
    if (text.size() > kMaxLabelName || !matches_pattern(text, shape::kLabelValue))
      value.fail(shape::kLabelValueAdvice);
  }
}

FlavorResource read_resource(const JsonCursor& item) {
  FlavorResource out{.path = item.path()};
  item["name"].read(out.resource);
  if (out.resource.empty()) item["name"].fail("is required");
  if (out.resource.size() > kMaxResource) item["name"].fail("is longer than any resource's name");
  if (!item["nominalQuota"].present()) item["nominalQuota"].fail("is required");
  read_amount(item["nominalQuota"], out.nominal);
  read_amount(item["borrowingLimit"], out.borrowing_limit);
  read_amount(item["lendingLimit"], out.lending_limit);
  return out;
}

// Items of a list, up to the bound that Kueue itself sets.
std::vector<JsonCursor> bounded_items(const JsonCursor& list, std::size_t most) {
  std::vector<JsonCursor> items = list.items();
  if (items.size() <= most) return items;
  list.fail(fmt::format("has {} entries; Kueue takes {} at most", items.size(), most));
  return {};
}

void read_groups(const JsonCursor& groups, std::vector<ResourceGroup>& out) {
  for (const JsonCursor& group : bounded_items(groups, kMaxGroups)) {
    ResourceGroup& own = out.emplace_back(ResourceGroup{.path = group.path()});
    for (const JsonCursor& flavor : bounded_items(group["flavors"], kMaxFlavors)) {
      FlavorQuotas& quotas = own.flavors.emplace_back(FlavorQuotas{.path = flavor.path()});
      read_name(flavor["name"], quotas.flavor);
      for (const JsonCursor& item : bounded_items(flavor["resources"], kMaxResources))
        quotas.resources.push_back(read_resource(item));
    }
  }
}

}  // namespace

void read_object(const JsonCursor& object, ClusterQueue& out) {
  const JsonCursor spec = object["spec"], preemption = spec["preemption"];
  read_name(object["metadata"]["name"], out.name);
  const JsonCursor cohort = spec[spec["cohortName"].present() ? "cohortName" : "cohort"];
  if (cohort.present() && *cohort.json() != "") read_name(cohort, out.cohort);
  if (const JsonCursor selector = spec["namespaceSelector"]; selector.present()) {
    LabelSelector checked;
    selector.read(checked);
    out.namespace_selector =
        selector.json()->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  read_groups(spec["resourceGroups"], out.groups);
  read_word(spec["queueingStrategy"], out.queueing_strategy, {"BestEffortFIFO", "StrictFIFO"});
  read_word(preemption["withinClusterQueue"], out.within_queue,
            {"Never", "LowerPriority", "LowerOrNewerEqualPriority"});
  read_word(preemption["reclaimWithinCohort"], out.reclaim_within_cohort,
            {"Never", "LowerPriority", "Any"});
  read_amount(spec["fairSharing"]["weight"], out.weight);
  read_word(spec["stopPolicy"], out.stop_policy, {"None", "Hold", "HoldAndDrain"});
}

void read_object(const JsonCursor& object, LocalQueue& out) {
  read_name(object["metadata"]["name"], out.name);
  read_namespace(object["metadata"], out.namespace_);
  read_name(object["spec"]["clusterQueue"], out.cluster_queue);
}

void read_object(const JsonCursor& object, ResourceFlavor& out) {
  read_name(object["metadata"]["name"], out.name);
  read_labels(object["spec"]["nodeLabels"], out.node_labels);
  object["spec"]["topologyName"].read(out.topology);
}

void read_object(const JsonCursor& object, Cohort& out) {
  read_name(object["metadata"]["name"], out.name);
  read_groups(object["spec"]["resourceGroups"], out.groups);
}

void read_object(const JsonCursor& object, WorkloadPriorityClass& out) {
  read_name(object["metadata"]["name"], out.name);
  if (!object["value"].present()) object["value"].fail("is required");
  object["value"].read(out.value);
}

void read_object(const JsonCursor& object, Topology& out) {
  read_name(object["metadata"]["name"], out.name);
  for (const JsonCursor& level : object["spec"]["levels"].items())
    read_label_key(level["nodeLabel"], out.levels.emplace_back());
}

void read_object(const JsonCursor& object, QuotaObject& out) {
  read_name(object["metadata"]["name"], out.name);
  read_namespace(object["metadata"], out.namespace_);
  for (const auto& [key, value] : object["spec"]["hard"].fields())
    read_amount(value, out.hard[key]);
}

}  // namespace berth
