// SPDX-License-Identifier: Apache-2.0
// OneNode: layout small and its only node n1, in any state of a rollout; each test checks what the
// next reconcile plans for the node.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "apis/base/names.h"
#include "controller/mig/situation.h"
#include "tests/mig/planned_cluster.h"

namespace berth::test {

class OneNode : public ::testing::Test {
 protected:
  OneNode() {
    world_.add_nodes(1).add(layout_);
    config_ = world_.render_agent_config("small");
  }
  Node n1() { return *world_.cluster.nodes().find("n1"); }
  NodeRollout record() { return *read_rollout(n1()).rollout; }
  // Claimed for the layout just now and cordoned by berth; the node's slot says the same.
  void bring_to(RolloutPhase phase) {
    world_.claim("n1", "small");
    world_.add(on_its_way(n1(), layout_, config_, phase, world_.now));
    if (phase == RolloutPhase::kApplying) label(names::kMigConfig, config_);
  }
  template <class F>
  void edit_record(F change) {
    NodeRollout rollout = record();
    change(rollout);
    Node node = n1();
    node.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(rollout));
    world_.add(node);
  }
  template <class F>
  void edit_node(F change) {
    Node node = n1();
    change(node);
    world_.add(node);
  }
  template <class F>
  void edit_layout(F change) {
    MIGLayout now = *world_.cluster.mig_layouts().find("small");
    change(now);
    world_.add(now);
  }
  void label(const char* key, const std::string& value) {
    edit_node([&](Node& node) { node.meta.labels.set(key, value); });
  }
  void state(const std::string& value) { label(names::kMigConfigState, value); }
  void hold() {
    edit_node([](Node& node) { node.meta.annotations.set(names::kHoldAnnotation, "mine"); });
  }
  void uncordon() {
    edit_node([](Node& node) { node.unschedulable.reset(); });
  }
  // The node after a repartition: label and allocatable are the layout's.
  void cut() {
    edit_node([&](Node& node) {
      node.meta.labels.set(names::kMigConfig, config_);
      node.allocatable.set("nvidia.com/gpu", Quantity());
      node.allocatable.set("nvidia.com/mig-1g.10gb", Quantity::whole(28));
    });
  }
  // The layout now asks for something else than when it claimed the node.
  void ask_for_another() {
    edit_layout([](MIGLayout& now) {
      now.spec.devices = {DeviceLayout{std::nullopt, {{"7g.80gb", 1}}}};
    });
    world_.render_agent_config("small");
    const Snapshot snapshot = world_.snapshot();
    LayoutView view(snapshot);
    other_config_ = view.resolver(*world_.cluster.mig_layouts().find("small")).resolve(n1()).config;
  }
  // It guards and retires the same resource, which the rules of layouts forbid.
  void break_rules() {
    edit_layout([](MIGLayout& now) {
      now.spec.capacity_guard.retire = {"nvidia.com/gpu"};
      now.spec.capacity_guard.min_available["nvidia.com/gpu"] = 1;
    });
  }
  // Another node of the layout has failed with what the layout asks for, and no second one may
  // fail.
  void halt(const std::string& config) {
    Node failed = on_its_way(test::node("n2").a100_80(4).label("tier", "mig"), layout_, config,
                             RolloutPhase::kFailed, world_.now);
    NodeRollout rollout = *read_rollout(failed).rollout;
    rollout.failed_config = config;
    failed.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(rollout));
    world_.add(failed);
  }
  void stop_halting() { world_.cluster.erase<Node>("", "n2"); }
  // mig-manager mounts another file.
  void take_agents_file_away() {
    DaemonSet agent = **world_.cluster.daemon_sets().begin();
    agent.config_map_volumes.clear();
    world_.add(agent);
  }
  // The record that the next reconcile writes.
  NodeRollout written() {
    const Plan next = world_.plan("node/n1");
    for (const ObjectSteps& object : next.objects)
      for (const Step& step : object.steps) {
        const auto* write = std::get_if<Write>(&step);
        if (write == nullptr || write->verb != Verb::kJsonPatch) continue;
        for (const auto& operation : nlohmann::json::parse(write->body))
          if (operation["op"] == "add" &&
              operation["path"] == "/metadata/annotations/gpu.berth.dev~1mig-rollout")
            return decode_rollout(operation["value"].get<std::string>()).value_or(NodeRollout());
      }
    ADD_FAILURE() << "no record is written: " << print(next);
    return {};
  }
  std::string plan() { return print(world_.plan("node/n1")); }

  MIGLayout layout_ = under_way(layout("small"));
  PlannedCluster world_;
  std::string config_, other_config_;
};

}  // namespace berth::test
