// SPDX-License-Identifier: Apache-2.0
// Writes to nodes: each invariant is violated once, by a manipulated write of berth, and must
// complain; a correct rollout violates none.
#include "tests/explore/invariants_fixture.h"

namespace berth::explore {
namespace {

using InvariantsTest = InvariantsFixture;

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

TEST_F(InvariantsTest, ConfigThatANodeNames) {
  const std::string both = "\n  berth-a100-0123abcd:\n  berth-a100-4567cdef:\n";
  const std::string one = "\n  berth-a100-4567cdef:\n";
  write_agents_file(both);
  json object = stored("n1");
  object["metadata"]["labels"][names::kMigConfig] = "berth-a100-0123abcd-r2";
  put("nodes", "", object);
  write_agents_file(one);
  EXPECT_THAT(judge_.broken(), ElementsAre()) << "the label may have come after the look";
  write_agents_file(both);
  pass(200ms);
  write_agents_file("\n  berth-a100-0123abcd:\n");
  EXPECT_THAT(judge_.broken(), ElementsAre()) << "nobody names the other one";
  write_agents_file(both);
  write_agents_file(one);
  EXPECT_THAT(first(),
              StartsWith("Config: the agents' file loses berth-a100-0123abcd, which n1 names"));
}

TEST_F(InvariantsTest, Once) {
  cordon("n1");
  pass(6s);
  relabel("n1", "berth-a100-1");
  relabel("n1", "berth-a100-2");
  relabel("n1", "berth-a100-1");
  EXPECT_THAT(first(), StartsWith("Once: n1 gets berth-a100-1 twice"));
}

TEST_F(InvariantsTest, UnseenRecord) {
  cordon("n1");
  pass(6s);
  const json patch{{{"op", "add"},
                    {"path", "/metadata/annotations/gpu.berth.dev~1mig-rollout"},
                    {"value", encode_rollout(record(RolloutPhase::kApplying))}}};
  send("PATCH", "/api/v1/nodes/n1?fieldManager=berth-mig", patch.dump());
  pass(1ms);
  annotate("n1", names::kRolloutAnnotation, "{}");
  relabel("n1", "berth-a100-1");
  EXPECT_THAT(first(), StartsWith("Unseen: the record of n1 is written over one"));
}

TEST_F(InvariantsTest, UnseenLedger) {
  send("PATCH", "/api/v1/namespaces/berth-system/configmaps/berth-node-slots");
  pass(1ms);
  json theirs =
      *store_.find({sim::find_resource_type("configmaps"), "berth-system", names::kSlotsConfigMap});
  theirs["data"].erase("n2");
  put("configmaps", "berth-system", theirs);
  claim({"n1", "n2", "n3"});
  EXPECT_THAT(first(), StartsWith("Unseen: the ledger is written over"));
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

TEST_F(InvariantsTest, UncordonOfAnothersCordonUnderJunk) {
  json object = stored("n1");
  object["spec"]["unschedulable"] = true;
  object["metadata"]["annotations"][names::kRolloutAnnotation] = "{oops";
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

TEST_F(InvariantsTest, OthersHold) {
  annotate("n1", names::kHoldAnnotation, "mine");
  pass(2s);
  cordon("n1");
  EXPECT_THAT(first(), StartsWith("Others: n1 is held, and is cordoned"));
}

TEST_F(InvariantsTest, OthersHoldThatIsNews) {
  annotate("n1", names::kHoldAnnotation, "mine");
  pass(900ms);
  cordon("n1");
  EXPECT_THAT(judge_.broken(), ElementsAre());
}

TEST_F(InvariantsTest, OthersHoldThatIsHeardOfLate) {
  judge_.expect_delays();
  annotate("n1", names::kHoldAnnotation, "mine");
  pass(50s);
  cordon("n1");
  EXPECT_THAT(judge_.broken(), ElementsAre());
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
  pass(2s);
  cordon("n1");
  EXPECT_THAT(first(), StartsWith("Capacity: 0 of nvidia.com/gpu are left"));
}

TEST_F(InvariantsTest, Needed) {
  for (const char* name : {"n1", "n2"}) {
    json object = stored(name);
    object["metadata"]["labels"][names::kGpuCount] = "4";
    object["status"]["allocatable"] = {{"nvidia.com/gpu", "0"}, {"nvidia.com/mig-1g.10gb", "28"}};
    if (name == std::string("n2")) object["metadata"]["labels"][names::kMigConfig] = "set-later";
    put("nodes", "", object);
  }
  pass(2s);
  cordon("n2");
  EXPECT_THAT(judge_.broken(), testing::Each(testing::Not(StartsWith("Needed"))));
  cordon("n1");
  EXPECT_THAT(judge_.broken(),
              testing::Contains(StartsWith("Needed: n1 is taken, and its GPUs are as a100 asks")));
}

TEST_F(InvariantsTest, Finalizer) {
  json object = stored("n1");
  object["metadata"]["finalizers"] = {"gpu.berth.dev/finalizer"};
  write_node(object);
  EXPECT_THAT(first(), StartsWith("Finalizer: n1 gets one"));
}

}  // namespace
}  // namespace berth::explore
