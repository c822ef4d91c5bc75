// SPDX-License-Identifier: Apache-2.0
// Requests, and writes to pods and layouts: each invariant is violated once.
#include "tests/explore/invariants_fixture.h"

namespace berth::explore {
namespace {

using InvariantsRequestsTest = InvariantsFixture;

TEST_F(InvariantsRequestsTest, SlotOfAnotherEpoch) {
  NodeRollout late = record(RolloutPhase::kCordoned);
  late.epoch = 7;
  const json patch{{{"op", "add"}, {"path", "/spec/unschedulable"}, {"value", true}},
                   {{"op", "add"},
                    {"path", "/metadata/annotations/gpu.berth.dev~1mig-rollout"},
                    {"value", encode_rollout(late)}}};
  send("PATCH", "/api/v1/nodes/n1", patch.dump());
  EXPECT_THAT(first(), StartsWith("Slot: berth-0 takes a node in epoch 7"));
}

TEST_F(InvariantsRequestsTest, DrainWithoutUid) {
  cordon("n1");
  put("pods", "team-a", pod("n1"));
  send("POST", "/api/v1/namespaces/team-a/pods/train/eviction");
  EXPECT_THAT(first(), StartsWith("Drain: team-a/train is evicted without its uid"));
}

TEST_F(InvariantsRequestsTest, DrainOfANodeInService) {
  put("pods", "team-a", pod("n1"));
  send("POST", "/api/v1/namespaces/team-a/pods/train/eviction",
       R"({"deleteOptions":{"preconditions":{"uid":"p1"}}})");
  EXPECT_THAT(first(), StartsWith("Drain: team-a/train leaves n1, which is not berth's"));
}

TEST_F(InvariantsRequestsTest, DrainByDeletion) {
  cordon("n1");
  put("pods", "team-a", pod("n1"));
  send("DELETE", "/api/v1/namespaces/team-a/pods/train",
       R"({"preconditions":{"uid":"p1"},"gracePeriodSeconds":0})");
  EXPECT_THAT(judge_.broken(),
              ElementsAre(StartsWith("Drain: team-a/train is deleted with a grace period of 0"),
                          StartsWith("Drain: team-a/train is deleted, not evicted")));
}

TEST_F(InvariantsRequestsTest, DrainOfANodeThatIsBack) {
  cordon("n1");
  put("pods", "team-a", pod("n1"));
  json object = stored("n1");
  object["spec"].erase("unschedulable");
  put("nodes", "", object);
  pass(2s);
  send("POST", "/api/v1/namespaces/team-a/pods/train/eviction",
       R"({"deleteOptions":{"preconditions":{"uid":"p1"}}})");
  EXPECT_THAT(first(), StartsWith("Drain: team-a/train leaves n1, which is back in service"));
}

TEST_F(InvariantsRequestsTest, Told) {
  cordon("n1");
  for (int i = 0; i < 4; ++i) pass(2min);
  EXPECT_THAT(judge_.broken(),
              testing::IsSupersetOf({StartsWith("Told: a100 tells of generation 0, and has 1"),
                                     StartsWith("Told: n1 is Cordoned, and no layout says why")}));
}

TEST_F(InvariantsRequestsTest, SlotOfANodeThatIsNotTaken) {
  claim({"n1"});
  for (int i = 0; i < 4; ++i) pass(2min);
  EXPECT_THAT(judge_.broken(),
              testing::Contains(StartsWith("Slot: n1 holds a slot, and is not taken")));
}

TEST_F(InvariantsRequestsTest, FieldsOfAPod) {
  put("pods", "team-a", pod("n1"));
  json changed = pod("n1");
  changed["metadata"]["labels"]["x"] = "y";
  put("pods", "team-a", changed, "berth-0");
  EXPECT_THAT(first(), StartsWith("Fields: Pod/team-a/train: labels changes"));
}

TEST_F(InvariantsRequestsTest, Lease) {
  clock_.move_to(clock_.now() + 11s);
  send("PATCH", "/apis/gpu.berth.dev/v1alpha1/miglayouts/a100/status");
  EXPECT_THAT(first(), StartsWith("Lease: berth-0 writes 11000 ms after it last had the lease"));
}

TEST_F(InvariantsRequestsTest, Status) {
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

TEST_F(InvariantsRequestsTest, StatusThatGoesBack) {
  json layout = *store_.find({sim::find_resource_type("miglayouts"), "", "a100"});
  layout["status"]["conditions"] = {
      {{"type", "Ready"}, {"status", "False"}, {"lastTransitionTime", "b"}}};
  put("miglayouts", "", layout, "berth-0");
  layout["status"]["conditions"] = {
      {{"type", "Ready"}, {"status", "True"}, {"lastTransitionTime", "a"}}};
  put("miglayouts", "", layout, "berth-0");
  EXPECT_THAT(first(), StartsWith("Status: Ready: lastTransitionTime goes back"));
}

TEST_F(InvariantsRequestsTest, FinalizerThatGoesTooEarly) {
  cordon("n1");
  store_.erase({sim::find_resource_type("miglayouts"), "", "a100"}, "berth-0");
  EXPECT_THAT(first(), StartsWith("Finalizer: MIGLayout/a100 goes and leaves n1 Cordoned"));
}

TEST_F(InvariantsRequestsTest, Bounded) {
  for (int i = 0; i < 700; ++i) send("GET", "/api/v1/nodes/n1");
  EXPECT_THAT(judge_.broken(), ElementsAre(StartsWith("Bounded: more than 600 requests")));
}

}  // namespace
}  // namespace berth::explore
