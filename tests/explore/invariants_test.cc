// SPDX-License-Identifier: Apache-2.0
// Each invariant is broken once, by a doctored write of berth's, and must say so; an honest rollout
// breaks none.
#include "tests/explore/invariants.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apis/names.h"

namespace berth::explore {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::StartsWith;

class InvariantsTest : public testing::Test {
 protected:
  InvariantsTest() : judge_(clock_, settings_, {}) {
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
    clock_.move_to(clock_.now() + 2min);  // all of this is old news
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

TEST_F(InvariantsTest, AnHonestRolloutBreaksNone) {
  cordon("n1");
  pass(6s);
  relabel("n1", "berth-a100-1");
  pass(20s);
  become("n1", "success");
  pass(40s);
  give_back("n1");
  EXPECT_THAT(judge_.broken(), ElementsAre());
}

TEST_F(InvariantsTest, Budget) {
  cordon("n1");
  cordon("n2");
  EXPECT_THAT(first(), StartsWith("Budget: 2 nodes are out"));
}

TEST_F(InvariantsTest, Slot) {
  cordon("n3");
  EXPECT_THAT(first(), StartsWith("Slot: n3 is taken without a slot"));
}

TEST_F(InvariantsTest, SlotOfAnotherEpoch) {
  NodeRollout late = record(RolloutPhase::kCordoned);
  late.epoch = 7;
  const json patch{{{"op", "add"}, {"path", "/spec/unschedulable"}, {"value", true}},
                   {{"op", "add"},
                    {"path", "/metadata/annotations/gpu.berth.dev~1mig-rollout"},
                    {"value", encode_rollout(late)}}};
  send("PATCH", "/api/v1/nodes/n1", patch.dump());
  EXPECT_THAT(first(), StartsWith("Slot: berth-0 takes a node in epoch 7"));
}

TEST_F(InvariantsTest, RelabelInService) {
  relabel("n1", "berth-a100-1");
  EXPECT_THAT(first(), StartsWith("Relabel: n1 gets berth-a100-1 while it is schedulable"));
}

TEST_F(InvariantsTest, RelabelBeforeItHasSettled) {
  cordon("n1");
  pass(1s);
  relabel("n1", "berth-a100-1");
  EXPECT_THAT(first(), StartsWith("Relabel: n1 gets berth-a100-1 before bindings"));
}

TEST_F(InvariantsTest, RelabelUnderAPod) {
  cordon("n1");
  pass(6s);
  put("pods", "team-a", pod("n1"));
  relabel("n1", "berth-a100-1");
  EXPECT_THAT(first(), StartsWith("Relabel: n1 gets berth-a100-1 under the GPU pod team-a/train"));
}

TEST_F(InvariantsTest, RelabelThatKeepsTheOldState) {
  cordon("n1");
  pass(6s);
  json object = stored("n1");
  object["metadata"]["labels"][names::kMigConfig] = "berth-a100-1";
  set_record(object, record(RolloutPhase::kApplying));
  write_node(object);
  EXPECT_THAT(first(), StartsWith("Relabel: n1 gets berth-a100-1 and keeps the state success"));
}

TEST_F(InvariantsTest, RelabelToWhatIsNotRendered) {
  cordon("n1");
  pass(6s);
  relabel("n1", "berth-b200-1");
  EXPECT_THAT(first(), StartsWith("Relabel: n1 gets berth-b200-1, which the agents' file lacks"));
}

TEST_F(InvariantsTest, Once) {
  cordon("n1");
  pass(6s);
  relabel("n1", "berth-a100-1");
  relabel("n1", "berth-a100-2");
  relabel("n1", "berth-a100-1");
  EXPECT_THAT(first(), StartsWith("Once: n1 gets berth-a100-1 twice"));
}

TEST_F(InvariantsTest, Verified) {
  cordon("n1");
  pass(6s);
  relabel("n1", "berth-a100-1");
  pass(5s);
  become("n1", "success");
  give_back("n1");
  EXPECT_THAT(first(), StartsWith("Verified: n1 returns with berth-a100-1 too early"));
}

TEST_F(InvariantsTest, DrainWithoutUid) {
  cordon("n1");
  put("pods", "team-a", pod("n1"));
  send("POST", "/api/v1/namespaces/team-a/pods/train/eviction");
  EXPECT_THAT(first(), StartsWith("Drain: team-a/train is evicted without its uid"));
}

TEST_F(InvariantsTest, DrainOfANodeInService) {
  put("pods", "team-a", pod("n1"));
  send("POST", "/api/v1/namespaces/team-a/pods/train/eviction",
       R"({"deleteOptions":{"preconditions":{"uid":"p1"}}})");
  EXPECT_THAT(first(), StartsWith("Drain: team-a/train leaves n1, which is not berth's"));
}

TEST_F(InvariantsTest, DrainByDeletion) {
  cordon("n1");
  put("pods", "team-a", pod("n1"));
  send("DELETE", "/api/v1/namespaces/team-a/pods/train",
       R"({"preconditions":{"uid":"p1"},"gracePeriodSeconds":0})");
  EXPECT_THAT(judge_.broken(),
              ElementsAre(StartsWith("Drain: team-a/train is deleted with a grace period of 0"),
                          StartsWith("Drain: team-a/train is deleted, not evicted")));
}

TEST_F(InvariantsTest, CordonWithoutItsRecord) {
  json object = stored("n1");
  object["spec"]["unschedulable"] = true;
  write_node(object);
  EXPECT_THAT(first(), StartsWith("Cordon: n1 is cordoned without a record"));
}

TEST_F(InvariantsTest, UncordonOfAnothersCordon) {
  json object = stored("n1");
  object["spec"]["unschedulable"] = true;
  put("nodes", "", object);
  give_back("n1");
  EXPECT_THAT(first(), StartsWith("Cordon: n1 was not cordoned by berth"));
}

TEST_F(InvariantsTest, UncordonOfAHeldNode) {
  cordon("n1");
  annotate("n1", names::kHoldAnnotation, "mine");
  give_back("n1");
  EXPECT_THAT(first(), StartsWith("Cordon: n1 is held by a person"));
}

TEST_F(InvariantsTest, Fields) {
  annotate("n1", "example.com/theirs", "x", "berth-0");
  EXPECT_THAT(first(), StartsWith("Fields: n1: annotation example.com/theirs changes"));
}

TEST_F(InvariantsTest, FieldsOfAPod) {
  put("pods", "team-a", pod("n1"));
  json changed = pod("n1");
  changed["metadata"]["labels"]["x"] = "y";
  put("pods", "team-a", changed, "berth-0");
  EXPECT_THAT(first(), StartsWith("Fields: Pod/team-a/train: labels changes"));
}

TEST_F(InvariantsTest, OthersHold) {
  annotate("n1", names::kHoldAnnotation, "mine");
  pass(2min);
  cordon("n1");
  EXPECT_THAT(first(), StartsWith("Others: n1 is held, and is cordoned"));
}

TEST_F(InvariantsTest, OthersConfig) {
  cordon("n1");
  pass(6s);
  for (int i = 1; i <= 5; ++i) {
    relabel("n1", fmt::format("berth-a100-{}", i % 2 + 1));
    json object = stored("n1");
    object["metadata"]["labels"][names::kMigConfig] = "all-disabled";
    put("nodes", "", object);
  }
  EXPECT_THAT(judge_.broken(), testing::Contains(StartsWith("Others: mig.config of n1 is fought")));
}

TEST_F(InvariantsTest, Capacity) {
  for (const char* name : {"n2", "n3"}) {
    json object = stored(name);
    object["spec"]["unschedulable"] = true;
    put("nodes", "", object);
  }
  pass(2min);
  cordon("n1");
  EXPECT_THAT(first(), StartsWith("Capacity: 0 of nvidia.com/gpu are left"));
}

TEST_F(InvariantsTest, Lease) {
  clock_.move_to(clock_.now() + 11s);
  send("PATCH", "/apis/gpu.berth.dev/v1alpha1/miglayouts/a100/status");
  EXPECT_THAT(first(), StartsWith("Lease: berth-0 writes 11000 ms after it last had the lease"));
}

TEST_F(InvariantsTest, Status) {
  json layout = *store_.find({sim::find_resource_type("miglayouts"), "", "a100"});
  layout["status"] = {
      {"observedGeneration", 1},
      {"conditions", {{{"type", "Ready"}, {"status", "False"}, {"lastTransitionTime", "a"}}}}};
  put("miglayouts", "", layout, "berth-0");
  pass(10s);
  layout["status"]["observedGeneration"] = 2;
  layout["status"]["conditions"][0]["lastTransitionTime"] = "b";
  put("miglayouts", "", layout, "berth-0");
  EXPECT_THAT(judge_.broken(), ElementsAre(StartsWith("Status: observedGeneration 2 of 1"),
                                           StartsWith("Status: Ready: lastTransitionTime moves")));
}

TEST_F(InvariantsTest, Finalizer) {
  json object = stored("n1");
  object["metadata"]["finalizers"] = {"gpu.berth.dev/finalizer"};
  write_node(object);
  EXPECT_THAT(first(), StartsWith("Finalizer: n1 gets one"));
}

TEST_F(InvariantsTest, FinalizerThatGoesTooEarly) {
  cordon("n1");
  store_.erase({sim::find_resource_type("miglayouts"), "", "a100"}, "berth-0");
  EXPECT_THAT(first(), StartsWith("Finalizer: MIGLayout/a100 goes and leaves n1 Cordoned"));
}

TEST_F(InvariantsTest, Bounded) {
  for (int i = 0; i < 700; ++i) send("GET", "/api/v1/nodes/n1");
  EXPECT_THAT(judge_.broken(), ElementsAre(StartsWith("Bounded: more than 600 requests")));
}

}  // namespace
}  // namespace berth::explore
