// SPDX-License-Identifier: Apache-2.0
#include "tests/mig/planned_cluster.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "apis/codec/decode.h"
#include "controller/disruption/slots.h"
#include "controller/reconcilers/reconcile.h"

namespace berth::test {
namespace {

// The ConfigMap after its creation, or after a patch of an empty one.
ConfigMap config_map_of(const Write& write) {
  std::string body = write.body;
  Result<ConfigMap> map = decode_object<ConfigMap>(body);
  EXPECT_TRUE(map.has_value()) << write.body;
  if (!map) return {};
  map->meta.name = write.object.name;
  map->meta.namespace_ = write.object.namespace_;
  map->meta.uid = "uid-" + write.object.name;
  map->meta.resource_version = "101";
  return *std::move(map);
}

template <class T>
void take_status(PlannedCluster& world, T object, const std::string& patch) {
  nlohmann::json written = {{"metadata", {{"name", object.meta.name}}},
                            {"spec",
                             {{"nodeSelector", nlohmann::json::object()},
                              {"devices", {{{"profiles", nlohmann::json::object()}}}}}}};
  written.merge_patch(nlohmann::json::parse(patch));
  std::string body = written.dump();
  Result<T> read = decode_object<T>(body);
  ASSERT_TRUE(read.has_value()) << describe(read.error());
  object.status = read->status;
  world.add(std::move(object));
}

}  // namespace

PlannedCluster::PlannedCluster() : now(*parse_time("2026-11-21T12:00:00Z")) {
  DaemonSet agent;
  agent.meta.name = settings.mig_manager_daemon_set;
  agent.meta.namespace_ = settings.agents_namespace;
  agent.meta.uid = "uid-mig-manager";
  agent.config_map_volumes = {Text(settings.mig_config_map)};
  agent.node_selector = {{Text(names::kDeployMigManager), Text("true")}};
  add(agent);
  add(config_map_of(claim_epoch(nullptr, settings).write));
}

void PlannedCluster::stop(const std::string& why) {
  Namespace own;
  own.meta.name = settings.berth_namespace;
  own.meta.annotations.set(names::kStopAnnotation, why);
  add(own);
}

void PlannedCluster::resume() { cluster.erase<Namespace>("", settings.berth_namespace); }

PlannedCluster& PlannedCluster::add_nodes(int count) {
  for (int i = 1; i <= count; ++i)
    add(test::node(fmt::format("n{}", i)).a100_80(4).label("tier", "mig"));
  return *this;
}

std::string PlannedCluster::render_agent_config(const std::string& layout) {
  const Plan file = plan("agent-config");  // empty if the file exists already
  if (!file.objects.empty()) add(config_map_of(std::get<Write>(file.objects.front().steps.back())));
  const ConfigMap* map =
      cluster.config_maps().find(settings.agents_namespace, settings.mig_config_map);
  EXPECT_NE(map, nullptr);
  if (map == nullptr) return "";
  const std::string text(map->data.at(names::kMigPartedKey));
  const std::size_t at = text.find("berth-" + layout + "-");
  EXPECT_NE(at, text.npos) << text;
  return at == text.npos ? "" : text.substr(at, text.find_first_of("\":", at) - at);
}

void PlannedCluster::claim(const std::string& node, const std::string& layout) {
  ConfigMap map = ledger();
  map.data[node] = encode_slot({"uid-" + node, "MIGLayout/" + layout, 1, 1, now});
  add(std::move(map));
}

ConfigMap PlannedCluster::ledger() const {
  return *cluster.config_maps().find(settings.berth_namespace, names::kSlotsConfigMap);
}

Plan PlannedCluster::plan(const std::string& key) {
  const Plan plan = reconcile(snapshot(), key);
  EXPECT_EQ(plan, reconcile(snapshot(), key)) << "equal snapshots gave different plans: " << key;
  EXPECT_TRUE(!plan.requeue_after || *plan.requeue_after > Duration::zero()) << key;
  return plan;
}

std::vector<std::string> PlannedCluster::write_status(const std::string& key) {
  std::vector<std::string> told;
  for (const StatusUpdate& update : plan(key).statuses) {
    if (!update.differs) continue;
    if (update.object.kind == "MIGLayout")
      take_status(*this, *cluster.mig_layouts().find(update.object.name), update.body);
    else
      take_status(*this, *cluster.gpu_policies().find(update.object.name), update.body);
    for (const EventNote& event : update.events)
      told.push_back(
          fmt::format("{} {}: {}", event.warning ? "Warning" : "Normal", event.reason, event.note));
  }
  return told;
}

MIGLayout under_way(MIGLayout layout) {
  layout.meta.finalizers = {Text(names::kFinalizer)};
  return layout;
}

Node on_its_way(Node node, const MIGLayout& layout, const std::string& config, RolloutPhase phase,
                Time since) {
  NodeRollout rollout;
  rollout.seq = rollout.epoch = 1;
  rollout.layout_uid = layout.meta.uid;
  rollout.layout = layout.meta.name;
  rollout.config = config;
  rollout.previous = names::kAllDisabled;
  rollout.phase = phase;
  rollout.since = since;
  rollout.taken = since;
  rollout.berth_cordoned = true;
  node.unschedulable = true;
  node.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(rollout));
  node.meta.annotations.set(names::kInventoryAnnotation,
                            R"({"product":"NVIDIA-A100-SXM4-80GB","count":4,"memoryMiB":81920})");
  return node;
}

}  // namespace berth::test
