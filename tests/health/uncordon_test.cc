// SPDX-License-Identifier: Apache-2.0
// A user's uncordon of a node that berth has cordoned for its health: it is valid as long as the
// same findings last, whatever else happens, and ends with them.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "tests/health/sick_cluster.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;

constexpr char kCondition[] = "GPUMissing";

class Uncordoned : public SickCluster {
 public:
  Uncordoned() : SickCluster(10) {}

  void uncordon() {
    Node back = node("n3");
    back.unschedulable.reset();
    put(std::move(back));
    now += 4s;
    look();
    const Plan plan = run();
    ASSERT_EQ(plan.events.size(), 1u) << print(plan);
    EXPECT_EQ(plan.events.front().reason, reasons::kUncordonedByHand);
    ASSERT_EQ(record("n3")->phase, HealthPhase::kOverruled);
  }
  void say(const char* type, const char* reason) {
    Node said = node("n3");
    if (reason == nullptr)
      said.gpu_conditions.erase(type);
    else
      said.gpu_conditions.set(type, reason);
    put(std::move(said));
  }
  void offer(std::int64_t count) {
    Node offers = node("n3");
    offers.capacity.set("nvidia.com/gpu", Quantity::whole(4));
    offers.allocatable.set("nvidia.com/gpu", Quantity::whole(count));
    put(std::move(offers));
  }
  // Whether n3 is out of service at any time within this span.
  bool goes_out_within(Duration time) {
    for (const Time end = now + time; now < end;) {
      pass(30s);
      if (is_out("n3")) return true;
    }
    return false;
  }
};

struct Finding {
  const char* name;
  std::function<void(Uncordoned&)> begin, end;
};
const Finding kLasting[] = {
    {"heat", [](Uncordoned& sick) { sick.heat("n3", 0); },
     [](Uncordoned& sick) { sick.cool("n3", 0); }},
    {"a row that could not be replaced",
     [](Uncordoned& sick) { sick.gpu("n3", 1).remap_failed = true; },
     [](Uncordoned& sick) { sick.gpu("n3", 1).remap_failed = false; }},
    {"a condition", [](Uncordoned& sick) { sick.say(kCondition, "GPUMissing"); },
     [](Uncordoned& sick) { sick.say(kCondition, nullptr); }},
    {"devices that are not offered", [](Uncordoned& sick) { sick.offer(3); },
     [](Uncordoned& sick) { sick.offer(4); }},
};

TEST(Uncordon, HoldsForAsLongAsTheSameFindingLasts) {
  for (const Finding& finding : kLasting) {
    SCOPED_TRACE(finding.name);
    Uncordoned sick;
    finding.begin(sick);
    ASSERT_TRUE(sick.goes_out_within(kHotFor + 1min));
    sick.uncordon();
    EXPECT_FALSE(sick.goes_out_within(2h));
    sick.restart();
    EXPECT_FALSE(sick.goes_out_within(26h)) << "berth has been restarted";
    EXPECT_EQ(sick.record("n3")->phase, HealthPhase::kOverruled);
  }
}

// However long no berth ran: the end of a finding must be observed.
TEST(Uncordon, HoldsOverATimeWithoutAController) {
  for (const Finding& finding : kLasting) {
    SCOPED_TRACE(finding.name);
    Uncordoned sick;
    finding.begin(sick);
    ASSERT_TRUE(sick.goes_out_within(kHotFor + 1min));
    sick.uncordon();
    sick.now += 30h;
    sick.restart();
    const Node stored = sick.node("n3");
    sick.cluster.erase<Node>("", "n3");
    sick.put(stored);
    EXPECT_FALSE(sick.goes_out_within(1h));
  }
}

TEST(Uncordon, EndsOnceTheFindingHasBeenGoneForRecoverAfter) {
  for (const Finding& finding : kLasting) {
    SCOPED_TRACE(finding.name);
    Uncordoned sick;
    const Duration recover_after = sick.policy.spec.health.recover_after;
    finding.begin(sick);
    ASSERT_TRUE(sick.goes_out_within(kHotFor + 1min));
    sick.uncordon();
    sick.pass(20min);
    finding.end(sick);
    sick.pass(recover_after / 2);
    finding.begin(sick);
    EXPECT_FALSE(sick.goes_out_within(20min)) << "it was gone for a while";
    finding.end(sick);
    sick.pass(recover_after + 1min);
    EXPECT_EQ(sick.record("n3")->keys, "");
    finding.begin(sick);
    EXPECT_TRUE(sick.goes_out_within(kHotFor + 1min)) << "it is a new one";
  }
}

TEST(Uncordon, ATimeWithoutAControllerShowsNoEndOfAFinding) {
  for (const Finding& finding : kLasting) {
    SCOPED_TRACE(finding.name);
    Uncordoned sick;
    finding.begin(sick);
    ASSERT_TRUE(sick.goes_out_within(kHotFor + 1min));
    sick.uncordon();
    finding.end(sick);
    sick.now += 30h;
    sick.restart();
    sick.pass(sick.policy.spec.health.recover_after / 2);
    finding.begin(sick);
    EXPECT_FALSE(sick.goes_out_within(20min));
  }
}

TEST(Recovery, TakesTheWholeTimeUnderOneController) {
  Uncordoned sick;
  sick.say(kCondition, "GPUMissing");
  ASSERT_TRUE(sick.goes_out_within(1min));
  sick.say(kCondition, nullptr);
  sick.now += 30h;
  sick.restart();
  const Duration recover_after = sick.policy.spec.health.recover_after;
  sick.pass(recover_after - 1min);
  EXPECT_TRUE(sick.is_out("n3"));
  sick.pass(2min);
  EXPECT_FALSE(sick.is_out("n3"));
}

TEST(Uncordon, HoldsForErrorsThatComeAgainBeforeTheyAreOver) {
  Uncordoned sick;
  sick.xid("n3", 0, 79);
  sick.run();
  ASSERT_TRUE(sick.is_out("n3"));
  sick.uncordon();
  for (const int code : {95, 79, 48}) {
    sick.pass(10min);
    sick.xid("n3", 0, code);
    EXPECT_FALSE(sick.goes_out_within(1min)) << code;
  }
  sick.pass(20min);
  sick.xid("n3", 0, 79);
  EXPECT_TRUE(sick.goes_out_within(1min)) << "nothing had come for long enough";
}

TEST(Uncordon, DoesNotHoldForAnotherGpuOrAnotherKind) {
  for (const auto& another : {std::function([](Uncordoned& sick) { sick.heat("n3", 1); }),
                              std::function([](Uncordoned& sick) { sick.xid("n3", 0, 79); }),
                              std::function([](Uncordoned& sick) {
                                sick.say("GpuMemWatch", "GpuMemWatchIsNotHealthy");
                              })}) {
    Uncordoned sick;
    sick.heat("n3", 0);
    ASSERT_TRUE(sick.goes_out_within(kHotFor + 1min));
    sick.uncordon();
    another(sick);
    EXPECT_TRUE(sick.goes_out_within(kHotFor + 1min));
  }
}

TEST(Uncordon, DoesNotHoldForAConditionWithAnotherReason) {
  Uncordoned sick;
  sick.say("AcceleratedHardwareReady", "NvidiaXID64Error");
  sick.run();
  ASSERT_TRUE(sick.is_out("n3"));
  sick.uncordon();
  sick.say("AcceleratedHardwareReady", "NvidiaXID79Error");
  EXPECT_TRUE(sick.goes_out_within(1min));
}

TEST(Uncordon, HoldsWhileNobodyLooksAndTheRecordIsWrittenNowAndThen) {
  Uncordoned sick;
  sick.heat("n3", 0);
  ASSERT_TRUE(sick.goes_out_within(kHotFor + 1min));
  sick.uncordon();
  for (int i = 0; i < 60; ++i, sick.now += 1min) {
    sick.look("n3");
    sick.run();
  }
  EXPECT_EQ(sick.record("n3")->keys, "Hot/0") << "its exporter is away";
  int writes = 0;
  for (int i = 0; i < 120; ++i) {
    sick.now += 30s;
    sick.look();
    writes += sick.run().empty() ? 0 : 1;
  }
  EXPECT_LE(writes, 16 + 1) << "four in each recoverAfter";
}

// With the end of its findings, and not before a day: the number of cordons is kept.
TEST(Uncordon, IsForgottenInTheEnd) {
  Uncordoned sick;
  sick.xid("n3", 0, 79);
  sick.run();
  sick.uncordon();
  sick.pass(23h);
  EXPECT_TRUE(sick.record("n3"));
  sick.pass(2h);
  EXPECT_FALSE(sick.record("n3"));
}

// From an earlier release, whose record has no times of its own.
TEST(Uncordon, IsReadFromARecordWithoutTimes) {
  Uncordoned sick;
  Node node = sick.node("n3");
  HealthRecord record{.phase = HealthPhase::kOverruled, .node_uid = node.meta.uid};
  record.since = record.last = sick.now;
  record.keys = "RemapFailed/1";
  record.cordons = 1;
  node.meta.annotations.set(names::kHealthAnnotation, encode_health(record));
  sick.put(std::move(node));
  sick.gpu("n3", 1).remap_failed = true;
  EXPECT_FALSE(sick.goes_out_within(1h));
  sick.gpu("n3", 1).remap_failed = false;
  sick.pass(16min);
  sick.gpu("n3", 1).remap_failed = true;
  EXPECT_TRUE(sick.goes_out_within(1min));
}

}  // namespace
}  // namespace berth::test
