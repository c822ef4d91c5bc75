// SPDX-License-Identifier: Apache-2.0
// Where released workloads may run: pins, and the domains of gangs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "controller/queue/record/admission_ledger.h"
#include "controller/queue/record/admission_record.h"
#include "tests/explore/look.h"
#include "tests/explore/queue_invariants.h"
#include "tests/explore/queue_look.h"

namespace berth::explore {

using nlohmann::json;
using queue::AdmissionFact;

namespace {

// How many requirements of each term name nodes; terms are alternatives.
std::vector<std::size_t> pins_in(const json* spec) {
  std::vector<std::size_t> pins;
  const json* required =
      at(spec, {"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"});
  if (required == nullptr) return pins;
  for (const json& term : required->value("nodeSelectorTerms", json::array())) {
    pins.push_back(term.value("matchFields", json::array()).size());
    for (const json& requirement : term.value("matchExpressions", json::array()))
      pins.back() += requirement.value("key", "") == names::kHostnameLabel;
  }
  return pins;
}

}  // namespace

bool QueueInvariants::judge_pins(const std::string& name, const json* spec,
                                 const AdmissionFact& record) {
  const auto wrong = [&](const std::string& what) {
    complain("Pin", name + what);
    return false;
  };
  if (!record.nodes.empty() && at(spec, {"affinity", "podAntiAffinity"}) != nullptr)
    return wrong(" is pinned, and more decides where it can run");
  const std::vector<std::size_t> pins = pins_in(spec);
  const std::size_t wanted = record.nodes.empty() ? 0 : 1;
  if (pins.size() < wanted || std::ranges::any_of(pins, [&](auto n) { return n != wanted; }))
    return wrong(fmt::format(" goes with {} pins, and its record names {} nodes",
                             fmt::join(pins, " or "), record.nodes.size()));
  return true;
}

void QueueInvariants::take_binding(const sim::Change& change, Time wall) {
  const std::string name = change.key.namespace_ + "/" + change.key.name;
  const bool gone = change.kind == sim::Change::Kind::kDeleted;
  const json& pod = gone ? *change.before : *change.after;
  const auto record = record_of(pod);
  if (gone && record && !is_gated(pod) && !group_of(pod).empty()) ran_[group_of(pod)] = wall;
  const std::string node = gone ? "" : text_at(&pod, {"spec", "nodeName"});
  if (node.empty())
    bound_.erase(name);
  else if (bound_.try_emplace(name, wall).second && record && !record->nodes.empty() &&
           std::ranges::find(record->nodes, node) == record->nodes.end() &&
           !replaces_a_lost_pod(pod, *record))
    complain("Pin", fmt::format("{} is on {}, and was admitted to {}", name, node,
                                fmt::join(record->nodes, ", ")));
  if (!node.empty()) judge_domain(pod, node);
}

// The webhook leaves the node to kube-scheduler while one of those that were chosen is out of
// service.
bool QueueInvariants::replaces_a_lost_pod(const json& pod, const AdmissionFact& record) const {
  const auto pins = pins_in(at(&pod, {"spec"}));
  if (std::ranges::any_of(pins, [](std::size_t n) { return n > 0; })) return false;
  return std::ranges::any_of(record.nodes, [&](const std::string& name) {
    const auto found = nodes_.find(name);
    return found == nodes_.end() || !is_in_service(*found->second);
  });
}

// If a gang requires one rack, each pod must run where its bound pods run.
void QueueInvariants::judge_domain(const json& pod, const std::string& node) {
  const std::string& level = annotation_at(&pod, names::kRequiredTopologyAnnotation);
  const std::string group = group_of(pod);
  if (level.empty() || group.empty() || !record_of(pod)) return;
  for (const auto& [name, other] : pods_) {
    const std::string& beside = text_at(other.get(), {"spec", "nodeName"});
    if (group_of(*other) != group || beside.empty() || !record_of(*other) || has_ended(*other))
      continue;
    if (domain_of(beside, level) != domain_of(node, level))
      complain("Domain", fmt::format("{} is on {}, and one of its gang on {}: two of {}", name,
                                     beside, node, level));
  }
}

std::string QueueInvariants::domain_of(const std::string& node, const std::string& level) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? "" : label_at(found->second.get(), level.c_str());
}

}  // namespace berth::explore
