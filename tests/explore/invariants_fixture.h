// SPDX-License-Identifier: Apache-2.0
// InvariantsFixture: a small cluster in a store whose changes the invariants check, and writes of
// berth to it, correct or wrong.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apis/base/names.h"
#include "tests/explore/invariants.h"

namespace berth::explore {

using nlohmann::json;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::StartsWith;

class InvariantsFixture : public testing::Test {
 protected:
  InvariantsFixture() : judge_(clock_, settings_, {}) {
    clock_.move_to(1h);
    store_.observe([this](const sim::Change& change) { judge_.take(change); });
    put("miglayouts", "", json::parse(R"({"apiVersion":"gpu.berth.dev/v1alpha1","kind":"MIGLayout",
        "metadata":{"name":"a100","uid":"l1","generation":1},
        "spec":{"nodeSelector":{},"devices":[{"profiles":{"1g.10gb":7}}],
                "capacityGuard":{"minAvailable":{"nvidia.com/gpu":4}}}})"));
    for (const char* name : {"n1", "n2", "n3"}) put("nodes", "", node(name));
    put("configmaps", "gpu-operator",
        json::parse(R"({"metadata":{"name":"berth-mig-parted-config","namespace":"gpu-operator"},
                        "data":{"config.yaml":"\n  berth-a100-1:\n  berth-a100-2:"}})"));
    put("leases", "berth-system",
        json::parse(R"({"metadata":{"name":"berth","namespace":"berth-system"},
                        "spec":{"holderIdentity":"berth-0_x"}})"),
        "berth-0");
    claim({"n1", "n2"});
    clock_.move_to(clock_.now() + 2min);  // berth knows all of this
    renew();
  }

  static json node(const std::string& name) {
    return json::parse(fmt::format(
        R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{0}","uid":"u-{0}",
             "labels":{{"nvidia.com/mig.config.state":"success"}},"annotations":{{}}}},
             "spec":{{}},"status":{{"allocatable":{{"nvidia.com/gpu":"4"}},
             "conditions":[{{"type":"Ready","status":"True"}}]}}}})",
        name));
  }
  static json pod(const std::string& node) {
    return json::parse(fmt::format(
        R"({{"metadata":{{"name":"train","namespace":"team-a","uid":"p1"}},
             "spec":{{"nodeName":"{}","containers":[{{"resources":{{"limits":{{"nvidia.com/gpu":"1"}}}}}}]}},
             "status":{{"phase":"Running"}}}})",
        node));
  }
  static NodeRollout record(RolloutPhase phase) {
    NodeRollout rollout;
    rollout.seq = 1;
    rollout.epoch = 1;
    rollout.layout_uid = "l1";
    rollout.layout = "a100";
    rollout.config = "berth-a100-1";
    rollout.phase = phase;
    rollout.berth_cordoned = phase != RolloutPhase::kIdle;
    return rollout;
  }

  void put(const char* plural, const std::string& namespace_, const json& object,
           const std::string& user = "somebody") {
    store_.put({sim::find_resource_type(plural), namespace_, object["metadata"]["name"]}, object,
               user);
  }
  void renew() {
    put("leases", "berth-system",
        json::parse(fmt::format(
            R"({{"metadata":{{"name":"berth","namespace":"berth-system"}},
                 "spec":{{"holderIdentity":"berth-0_x","renewTime":"{}"}}}})",
            clock_.now().count())),
        "berth-0");
  }
  void claim(const std::vector<std::string>& names) {
    json ledger = json::parse(
        R"({"metadata":{"name":"berth-node-slots","namespace":"berth-system",
             "annotations":{"gpu.berth.dev/epoch":"1"}},"data":{}})");
    for (const std::string& name : names)
      ledger["data"][name] =
          encode_slot({.node_uid = "u-" + name, .holder = "MIGLayout/a100", .seq = 1, .epoch = 1});
    put("configmaps", "berth-system", ledger, "berth-0");
  }
  json stored(const std::string& name) {
    return *store_.find({sim::find_resource_type("nodes"), "", name});
  }
  void write_node(const json& object) { put("nodes", "", object, "berth-0"); }
  static void set_record(json& object, const NodeRollout& rollout) {
    object["metadata"]["annotations"][names::kRolloutAnnotation] = encode_rollout(rollout);
  }
  void cordon(const std::string& name) {
    json object = stored(name);
    object["spec"]["unschedulable"] = true;
    set_record(object, record(RolloutPhase::kCordoned));
    write_node(object);
  }
  void relabel(const std::string& name, const std::string& config) {
    json object = stored(name);
    object["metadata"]["labels"][names::kMigConfig] = config;
    object["metadata"]["labels"].erase(names::kMigConfigState);
    set_record(object, record(RolloutPhase::kApplying));
    write_node(object);
  }
  void write_agents_file(const std::string& text) {
    json file = {{"metadata", {{"name", "berth-mig-parted-config"}, {"namespace", "gpu-operator"}}},
                 {"data", {{"config.yaml", text}}}};
    put("configmaps", "gpu-operator", file, "berth-0");
  }
  void become(const std::string& name, const std::string& state) {
    json object = stored(name);
    object["metadata"]["labels"][names::kMigConfigState] = state;
    put("nodes", "", object);
  }
  void give_back(const std::string& name) {
    json object = stored(name);
    object["spec"].erase("unschedulable");
    set_record(object, record(RolloutPhase::kIdle));
    write_node(object);
  }
  void pass(std::chrono::nanoseconds span) {
    clock_.move_to(clock_.now() + span);
    renew();
  }
  void annotate(const std::string& name, const char* key, const std::string& value,
                const std::string& user = "somebody") {
    json object = stored(name);
    object["metadata"]["annotations"][key] = value;
    put("nodes", "", object, user);
  }
  void send(const std::string& method, const std::string& target, const std::string& body = "{}") {
    HttpRequest request;
    request.method = method;
    request.target = target;
    request.body = body;
    judge_.take_request("berth-0", request);
  }
  std::string first() const { return judge_.broken().empty() ? "" : judge_.broken().front(); }

  sim::VirtualClock clock_;
  Settings settings_;
  sim::Store store_;
  Invariants judge_;
};

}  // namespace berth::explore
