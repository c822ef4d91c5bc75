// SPDX-License-Identifier: Apache-2.0
#include "tests/mig/memory_cluster.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "apis/names.h"
#include "controller/mig/node_facts.h"
#include "controller/mig/rollout_annotation.h"

namespace berth::test {

// --- what happens to it ---

void MemoryCluster::remove_pod(const std::string& name) {
  for (const auto& pod : cluster.pods())
    if (pod->meta.name == name) {
      cluster.erase<Pod>(pod->meta.namespace_.view(), name);
      return;
    }
}

void MemoryCluster::change_node(const std::string& name, const std::function<void(Node&)>& change) {
  Node copy = node(name);
  change(copy);
  put(std::move(copy));
}

void MemoryCluster::change_layout(const std::string& name,
                                  const std::function<void(MIGLayoutSpec&)>& change) {
  MIGLayout copy = *layout(name);
  change(copy.spec);
  ++copy.meta.generation;
  put(std::move(copy));
}

void MemoryCluster::delete_layout(const std::string& name) {
  MIGLayout copy = *layout(name);
  if (copy.meta.finalizers.empty()) {
    cluster.erase<MIGLayout>("", name);
    return;
  }
  copy.meta.deletion_timestamp = now;
  put(std::move(copy));
}

void MemoryCluster::change_budget(const std::string& name, int allowed) {
  PodDisruptionBudget copy = *cluster.budgets().find("team-a", name);
  copy.disruptions_allowed = allowed;
  put(std::move(copy));
}

// --- what it shows ---

const Node& MemoryCluster::node(const std::string& name) const {
  const Node* found = cluster.nodes().find(name);
  static const Node kNone;
  EXPECT_NE(found, nullptr) << name;
  return found != nullptr ? *found : kNone;
}

const MIGLayout* MemoryCluster::layout(const std::string& name) const {
  return cluster.mig_layouts().find(name);
}

std::string MemoryCluster::label(const std::string& name, const std::string& key) const {
  return std::string(label_of(node(name), key));
}

std::string MemoryCluster::phase(const std::string& name) const {
  const RolloutRecord record = read_rollout(node(name));
  return record.rollout ? to_string(record.rollout->phase) : record.text ? "?" : "";
}

std::string MemoryCluster::details(const std::string& name) const {
  std::string out;
  for (const NodeDetail& detail : layout(name)->status.details)
    out += fmt::format("{} {} {}\n", detail.node, detail.phase, detail.reason);
  return out;
}

std::string MemoryCluster::detail(const std::string& name, const std::string& node) const {
  for (const NodeDetail& detail : layout(name)->status.details)
    if (detail.node == node)
      return fmt::format("{} {}: {}", detail.phase, detail.reason, detail.message);
  return "";
}

std::string MemoryCluster::condition(const std::string& name, const std::string& type) const {
  if (layout(name) == nullptr) return "";
  for (const Condition& condition : layout(name)->status.conditions)
    if (condition.type == type) return fmt::format("{}: {}", condition.reason, condition.message);
  return "";
}

bool MemoryCluster::is_ready(const std::string& name) const {
  return layout(name) != nullptr &&
         std::ranges::any_of(layout(name)->status.conditions, [](const Condition& condition) {
           return condition.type == "Ready" && condition.status == "True";
         });
}

std::string MemoryCluster::counts(const std::string& name) const {
  const NodeCounts& c = layout(name)->status.nodes;
  return fmt::format("selected {} updated {} inProgress {} blocked {} failed {} pending {}",
                     c.selected, c.updated, c.in_progress, c.blocked, c.failed, c.pending);
}

std::string MemoryCluster::ledger() const {
  std::vector<std::string> names;
  const ConfigMap* map =
      cluster.config_maps().find(settings.berth_namespace, names::kSlotsConfigMap);
  if (map == nullptr) return "missing";
  for (const auto& [node, slot] : map->data) names.push_back(node);
  return fmt::format("{}", fmt::join(names, " "));
}

std::int64_t MemoryCluster::offered(const std::string& name, const std::string& resource) const {
  return node(name).allocatable.get(resource).as_whole().value_or(-1);
}

void MemoryCluster::breach(const std::string& what) {
  broken.push_back(fmt::format("{} {}", format_time(now), what));
  ADD_FAILURE() << broken.back();
}

}  // namespace berth::test
