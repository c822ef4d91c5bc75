// SPDX-License-Identifier: Apache-2.0
// berth's reaction to broken GPUs: each invariant is violated once, by a manipulated write of
// berth.
#include "tests/explore/health_invariants.h"

#include <vector>

#include "tests/explore/invariants_fixture.h"

namespace berth::explore {
namespace {

class HealthInvariantsTest : public InvariantsFixture {
 protected:
  HealthInvariantsTest() {
    put("gpuclusterpolicies", "",
        json::parse(R"({"apiVersion":"gpu.berth.dev/v1alpha1","kind":"GPUClusterPolicy",
          "metadata":{"name":"cluster","uid":"g1","generation":1},
          "spec":{"pools":[{"name":"lab","nodeSelector":{"matchLabels":{}}}],
                  "health":{"action":"Cordon","recoverAfter":"2m","maxUnhealthyFraction":"50%"}}})"));
    // It has a status of its own, for the duration of a test.
    put("miglayouts", "", json::parse(R"({"apiVersion":"gpu.berth.dev/v1alpha1","kind":"MIGLayout",
        "metadata":{"name":"a100","uid":"l1","generation":1},
        "spec":{"nodeSelector":{},"devices":[{"profiles":{"1g.10gb":7}}]},
        "status":{"observedGeneration":1}})"));
    claim({});
    for (const char* name : {"n1", "n2", "n3"}) show(name, {});
    pass(2min);  // berth knows all of this
  }
  void show(const std::string& name, sim::GpuGauge gauge, bool told = true) {
    gauges_[name] = {.made = 1, .product = "A100", .gpus = {gauge, {}}, .told = told};
    judge_.take_gauges(name, &gauges_[name]);
  }
  HealthRecord record_of(const std::string& name, HealthPhase phase) {
    HealthRecord record;
    record.phase = phase;
    record.node_uid = "u-" + name;
    record.since = record.last = clock_.wall();
    record.keys = "FatalXid/0";
    record.cordons = ++cordons_[name];
    record.gpus = 2;
    return record;
  }
  void write(const std::string& name, HealthPhase phase, bool cordoned,
             const std::string& user = "berth-0") {
    json object = stored(name);
    if (cordoned)
      object["spec"]["unschedulable"] = true;
    else
      object["spec"].erase("unschedulable");
    object["metadata"]["annotations"][names::kHealthAnnotation] =
        encode_health(record_of(name, phase));
    put("nodes", "", object, user);
  }
  void go_out(const std::string& name) { write(name, HealthPhase::kCordoned, true); }
  void come_back(const std::string& name) { write(name, HealthPhase::kRecovered, false); }
  void uncordon(const std::string& name) {
    json object = stored(name);
    object["spec"].erase("unschedulable");
    put("nodes", "", object);
  }
  std::string unstill() const { return judge_.health().unstill(clock_.now()); }

  std::map<std::string, sim::GaugedNode> gauges_;
  std::map<std::string, std::int64_t> cordons_;
};

TEST_F(HealthInvariantsTest, ANodeThatBreaksGoesOutAndComesBack) {
  show("n1", {.xid = 79});
  go_out("n1");
  pass(150s);
  come_back("n1");
  EXPECT_EQ(first(), "");
  EXPECT_EQ(unstill(), "");
}

TEST_F(HealthInvariantsTest, AProgramsErrorIsNoFault) {
  show("n1", {.xid = 31});
  go_out("n1");
  EXPECT_THAT(first(), StartsWith("Sick: n1 is cordoned for FatalXid/0"));
}

TEST_F(HealthInvariantsTest, AnErrorThatHasStoodForLongIsNoFault) {
  show("n1", {.xid = 79});
  pass(10min);
  go_out("n1");
  EXPECT_THAT(first(), StartsWith("Sick"));
}

TEST_F(HealthInvariantsTest, WhatAPersonHasOverruledIsNoFault) {
  show("n1", {.xid = 79});
  go_out("n1");
  pass(10s);
  uncordon("n1");
  write("n1", HealthPhase::kOverruled, false);
  pass(10s);
  go_out("n1");
  EXPECT_THAT(first(), StartsWith("Sick"));
}

TEST_F(HealthInvariantsTest, AnotherFaultAfterThatIsOne) {
  show("n1", {.xid = 79});
  go_out("n1");
  pass(10s);
  uncordon("n1");
  write("n1", HealthPhase::kOverruled, false);
  pass(10s);
  show("n1", {.xid = 79, .double_bit_errors = 1});
  go_out("n1");
  EXPECT_EQ(first(), "");
}

TEST_F(HealthInvariantsTest, HeatIsAFaultOnceItHasLasted) {
  show("n1", {.temperature = 91});
  pass(6min);
  go_out("n1");
  EXPECT_EQ(first(), "");
  show("n2", {.temperature = 91});
  pass(1min);
  go_out("n2");
  EXPECT_THAT(first(), StartsWith("Sick: n2 is cordoned for FatalXid/0"));
}

TEST_F(HealthInvariantsTest, HeatThatAPersonHasOverruledIsNoFaultForAsLongAsItLasts) {
  show("n1", {.temperature = 91});
  pass(6min);
  go_out("n1");
  uncordon("n1");
  write("n1", HealthPhase::kOverruled, false);
  pass(20min);
  EXPECT_EQ(first(), "");
  go_out("n1");
  EXPECT_THAT(first(), StartsWith("Sick"));
}

TEST_F(HealthInvariantsTest, HeatThatComesBackLongAfterThatIsAFault) {
  show("n1", {.temperature = 91});
  pass(6min);
  go_out("n1");
  uncordon("n1");
  write("n1", HealthPhase::kOverruled, false);
  show("n1", {});
  pass(5min);
  show("n1", {.temperature = 91});
  pass(6min);
  go_out("n1");
  EXPECT_EQ(first(), "");
}

TEST_F(HealthInvariantsTest, OfAPoolOnlyAPartGoesOut) {
  for (const char* name : {"n1", "n2"}) show(name, {.xid = 79});
  go_out("n1");
  pass(5s);
  go_out("n2");
  EXPECT_THAT(first(), StartsWith("Fraction: 2 nodes are out for their health with n2, and 1 may"));
}

TEST_F(HealthInvariantsTest, TheSecondTimeItTakesTwiceAsLong) {
  for (const int xid : {79, 74}) {
    show("n1", {.xid = xid});
    go_out("n1");
    pass(130s);
    come_back("n1");
    cordons_["n1"] = 1;
    pass(5min);  // the first fault is no longer a cause of the second cordon
  }
  EXPECT_THAT(first(), StartsWith("Early: n1 goes back too early, out 2 times by now"));
}

TEST_F(HealthInvariantsTest, WhatIsNotSeenStaysOut) {
  show("n1", {.xid = 79});
  go_out("n1");
  show("n1", {.xid = 79}, /*told=*/false);
  pass(4min);
  come_back("n1");
  EXPECT_THAT(first(), StartsWith("Blind: n1 goes back, and 0 of its 2 GPUs are seen"));
}

TEST_F(HealthInvariantsTest, APersonsCordonIsNotTakenOver) {
  json object = stored("n1");
  object["spec"]["unschedulable"] = true;
  put("nodes", "", object);
  show("n1", {.xid = 79});
  go_out("n1");
  pass(150s);
  come_back("n1");
  EXPECT_THAT(first(), StartsWith("Cordon: n1 was not cordoned by berth, and is uncordoned"));
}

TEST_F(HealthInvariantsTest, APersonsHoldIsHeeded) {
  annotate("n1", names::kHoldAnnotation, "mine");
  pass(2min);
  show("n1", {.xid = 79});
  go_out("n1");
  EXPECT_THAT(first(), StartsWith("Others: n1 is held, and is cordoned"));
}

TEST_F(HealthInvariantsTest, PodsLeaveOnlyWhereThePolicyDrains) {
  put("pods", "team-a", pod("n1"));
  show("n1", {.xid = 79});
  go_out("n1");
  pass(10s);
  send("POST", "/api/v1/namespaces/team-a/pods/train/eviction",
       R"({"deleteOptions":{"preconditions":{"uid":"p1"}}})");
  EXPECT_THAT(first(), StartsWith("Drain: team-a/train leaves n1"));
}

TEST_F(HealthInvariantsTest, InTheEndWhatStandsBrokenIsOutAndNothingElse) {
  show("n1", {.remap_failed = true});
  pass(1min);
  EXPECT_EQ(unstill(), "n1 shows a fault that stands, and is in service");
  go_out("n1");
  EXPECT_EQ(unstill(), "");
  show("n1", {});
  pass(20min);
  EXPECT_EQ(unstill(), "n1 is out for its health, and nothing is wrong with it");
}

}  // namespace
}  // namespace berth::explore
