// SPDX-License-Identifier: Apache-2.0
// The content of a layout's status, its size, and when berth must write it at once.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "controller/mig/verification.h"
#include "tests/mig/planned_cluster.h"

namespace berth::test {
namespace {

using std::chrono::hours;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// A cloud provider's node name, and the longest layout name that the API server accepts.
constexpr char kNode[] = "ip-10-123-234-101.ap-northeast-2.compute.internal-gpu-pool-a100-80gb";
const std::string kLayout(limits::kMaxLayoutName, 'x');

// All components that the GPU operator deploys by label, paused as a hanging mig-manager leaves
// them.
Node paused(Node node) {
  for (const char* part :
       {"device-plugin", "dcgm", "dcgm-exporter", "gpu-feature-discovery", "nvsm"})
    node.meta.labels.set(std::string(names::kDeployPrefix) + part, names::kPausedForMigChange);
  return node;
}

struct LayoutStatus : ::testing::Test {
  // The message about the node while mig-manager reports the state.
  std::string verification(const std::string& state) {
    const MIGLayout layout = under_way(test::layout(kLayout).retire("nvidia.com/gpu"));
    world.add(layout).add(test::node(kNode).a100_80(4).label("tier", "mig"));
    const std::string config = world.render_agent_config(kLayout);
    Node node = test::node(kNode).a100_80(4).label("tier", "mig");
    node.meta.labels.set(names::kMigConfig, config);
    node.meta.labels.set(names::kMigConfigState, state);
    if (state == "pending") node = paused(node);
    world.add(on_its_way(node, layout, config, RolloutPhase::kApplying, world.now));
    const Snapshot snapshot = world.snapshot();
    LayoutView view(snapshot);
    return verify(situation_of(snapshot, view, *world.cluster.nodes().find(kNode))).cause.message;
  }
  std::string status_of(const std::string& layout) {
    const Plan plan = world.plan("layout/" + layout);
    return plan.statuses.empty() ? "" : plan.statuses.front().body;
  }
  PlannedCluster world;
};

TEST_F(LayoutStatus, WhatIsSaidOfAnAgentFitsUncut) {
  struct Row {
    const char* state;
    const char* says;
  };
  const Row rows[] = {
      {"", "check that its pod runs on the node"},
      {"pending", "nvsm"},
      {"failed", "its log on the node says why"},
      {"rebooting", "rebooting into the new MIG mode"},
      {"a-state-that-no-mig-manager-known-to-anybody-has-ever-reported-x", "reported-x\""},
      {"success", "mig-manager reports success, but"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.state);
    const std::string message = verification(row.state);
    EXPECT_THAT(message, HasSubstr(row.says));
    EXPECT_LE(message.size(), limits::kMaxMessage) << message;
  }
}

// A usual repartition pauses NVIDIA's pods for a minute or two: no fault until it takes too long.
TEST_F(LayoutStatus, AnAgentThatPausesOthersIsAtWorkUntilItsTimeIsUp) {
  const std::string at_once = verification("pending");
  EXPECT_THAT(at_once, StartsWith("mig-manager is repartitioning the GPUs, and has paused"));
  EXPECT_THAT(at_once, Not(HasSubstr("see its log")));
  world.now += hours(1);
  const Snapshot snapshot = world.snapshot();
  LayoutView view(snapshot);
  EXPECT_THAT(
      verify(situation_of(snapshot, view, *world.cluster.nodes().find(kNode))).cause.message,
      HasSubstr("and not resumed them; see its log"));
}

TEST_F(LayoutStatus, WhatALabelSaysWronglyIsShown) {
  struct Row {
    const char* sentence;
    Node node;
    const char* says;
  };
  const auto a100 = [] { return test::node("n1").a100_80(4).label("tier", "mig"); };
  const Row rows[] = {
      {"a strategy that is none", a100().label(names::kMigStrategy, "weird"),
       "label nvidia.com/mig.strategy=weird must be none, single or mixed"},
      {"a count that is no number", a100().label(names::kGpuCount, "0x4"),
       "labels nvidia.com/gpu.product=NVIDIA-A100-SXM4-80GB and nvidia.com/gpu.count=0x4 don't "
       "show"},
      {"no label at all", test::node("n1").label("tier", "mig"),
       "labels nvidia.com/gpu.product (not set) and nvidia.com/gpu.count (not set) don't show"},
      {"GPUs that can't be partitioned", a100().label(names::kMigCapable, "false"),
       "MigNotCapable"},
  };
  world.add(under_way(layout("small").retire("nvidia.com/gpu")));
  for (const Row& row : rows) {
    SCOPED_TRACE(row.sentence);
    world.add(row.node);
    EXPECT_THAT(status_of("small"), HasSubstr(row.says));
  }
}

TEST_F(LayoutStatus, WhoLosesANodeReadsTheRuleThatDecided) {
  struct Row {
    const char* sentence;
    MIGLayout other;
    const char* says;
  };
  const Row rows[] = {
      {"the priority", layout("other").priority(5), "n1 (other: priority 5 over 0)"},
      {"then the age", layout("other").created(world.now - hours(2)),
       "n1 (other: older, of the same priority 0)"},
      {"then the uid", layout("other").created(world.now - hours(1)),
       "n1 (other: as old and of the same priority 0, first by uid)"},
  };
  world.add_nodes(1).add(under_way(layout("small").created(world.now - hours(1))));
  for (const Row& row : rows) {
    SCOPED_TRACE(row.sentence);
    world.add(row.other);
    EXPECT_THAT(status_of("small"),
                HasSubstr(std::string("other MIGLayouts own every selected node: ") + row.says));
  }
}

TEST_F(LayoutStatus, OfAWedgedAgentItSaysWhatHungAndWhatToDo) {
  std::string why = verification("pending");
  world.now += hours(1);
  {
    const Snapshot snapshot = world.snapshot();
    LayoutView view(snapshot);
    why = verify(situation_of(snapshot, view, *world.cluster.nodes().find(kNode))).cause.message;
  }
  Node node = *world.cluster.nodes().find(kNode);
  NodeRollout rollout = *read_rollout(node).rollout;
  rollout.phase = RolloutPhase::kFailed;
  rollout.failed_config = rollout.config;
  rollout.why = why;
  node.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(rollout));
  world.add(node);
  const std::string status = status_of(kLayout);
  const std::string said[] = {status.substr(status.find("\"conditions\"")),
                              status.substr(status.find("\"details\""))};
  for (const std::string& part : said) {
    EXPECT_THAT(part, HasSubstr("mig-manager has paused"));
    EXPECT_THAT(
        part,
        HasSubstr("; edit the layout, or make mig-manager succeed: berth continues by itself\""));
  }
}

// A budget's name, the pod's name, and the server's message may all be long.
TEST_F(LayoutStatus, WhateverIsLongTheAdviceIsLeft) {
  world.add_nodes(1).add(under_way(layout("small").retire("nvidia.com/gpu")));
  world.add(pod(std::string(200, 'p')).on("n1").gpu(1).unmanaged());
  world.render_agent_config("small");
  const std::string said = status_of("small");
  EXPECT_THAT(said, HasSubstr("UnmanagedPod"));
  EXPECT_THAT(said, HasSubstr("…; wait until it ends, delete it, or set spec.drain.force\""));
}

// Each asks for a different layout on 16 GPUs; the first node belongs to the oldest layout, the
// second to the youngest.
void add_too_many_layouts(PlannedCluster& world, int count) {
  std::vector<ProfileCounts> kinds;
  for (int more = 1; more <= 7; ++more) kinds.push_back({{"1g.10gb", more}});
  for (int more = 1; more <= 5; ++more) kinds.push_back({{"1g.10gb", more}, {"2g.20gb", 1}});
  for (int more = 1; more <= 3; ++more) kinds.push_back({{"1g.10gb", more}, {"2g.20gb", 2}});
  for (int more = 1; more <= 4; ++more) kinds.push_back({{"1g.10gb", more}, {"3g.40gb", 1}});
  for (int i = 0; i < count; ++i) {
    MIGLayout crowd = layout(fmt::format("the-{:03}th-of-too-many-different-layouts", i))
                          .created(world.now - hours(1000 - i));
    crowd.spec.devices.clear();
    for (int gpu = 0; gpu < 16; ++gpu) {
      const std::size_t kind = static_cast<std::size_t>(gpu * (1 + i / 19) + i) % kinds.size();
      crowd.spec.devices.push_back(DeviceLayout{std::vector<std::int32_t>{gpu}, kinds[kind]});
    }
    if (i == count - 1) crowd.spec.node_selector = LabelSelector{{{"tier", "last"}}, {}};
    world.add(crowd);
  }
  world.add(node("n1").a100_80(16).label("tier", "mig"));
  world.add(node("n2").a100_80(16).label("tier", "last"));
}

// Users who look for unavailable nodes find it nowhere else: no layout selects it any more.
TEST_F(LayoutStatus, ANodeThatHasLeftTheLayoutIsInProgressUntilItIsBack) {
  const MIGLayout small = under_way(layout("small"));
  world.add_nodes(1).add(small);
  const std::string config = world.render_agent_config("small");
  world.claim("n1", "small");
  Node taken = on_its_way(*world.cluster.nodes().find("n1"), small, config, RolloutPhase::kCordoned,
                          world.now);
  world.add(taken);
  EXPECT_THAT(status_of("small"), HasSubstr(R"("selected":1,"updated":0,"inProgress":1,)"));
  taken.meta.labels.erase("tier");
  world.add(taken);
  EXPECT_THAT(status_of("small"), HasSubstr(R"("selected":0,"updated":0,"inProgress":1,)"));
  ConfigMap ledger = world.ledger();
  ledger.data.clear();
  world.add(ledger);
  EXPECT_THAT(status_of("small"), HasSubstr(R"("selected":0,"updated":0,"inProgress":0,)"));
}

TEST_F(LayoutStatus, IsWrittenToTheVersionThatItWasComputedFrom) {
  MIGLayout seen = under_way(layout("small"));
  seen.meta.resource_version = "41";
  world.add_nodes(1).add(seen);
  EXPECT_THAT(status_of("small"), StartsWith(R"({"metadata":{"resourceVersion":"41"},"status":{)"));
}

// berth writes nothing when a held node turns out right, so no other event updates the layout's
// message about the hold.
TEST_F(LayoutStatus, OfAHeldNodeItSaysSoOnceTheNodeIsRight) {
  const MIGLayout small = under_way(layout("small"));
  world.add_nodes(1).add(small);
  Node node = on_its_way(*world.cluster.nodes().find("n1"), small, names::kAllDisabled,
                         RolloutPhase::kRollingBack, world.now);
  world.add(node);
  world.now += std::chrono::seconds(1);
  EXPECT_THAT(status_of("small"), HasSubstr(R"("reason":"Verifying")"));
  EXPECT_EQ(world.plan("layout/small").requeue_after, std::nullopt);
  node.meta.annotations.set(names::kHoldAnnotation, "mine");
  world.add(node);
  const std::optional<Duration> left = world.plan("layout/small").requeue_after;
  ASSERT_TRUE(left.has_value());
  world.now += *left;
  EXPECT_THAT(status_of("small"), HasSubstr(R"("reason":"Held")"));
  EXPECT_THAT(status_of("small"), HasSubstr("back at all-disabled, verified; stays cordoned"));
}

TEST_F(LayoutStatus, TheLayoutThatBringsTheAgentsFileOverItsLimitIsStalled) {
  constexpr int kCount = 260;
  add_too_many_layouts(world, kCount);
  Plan file = world.plan("agent-config");
  ASSERT_THAT(file.objects, SizeIs(1));
  ASSERT_THAT(file.events, Not(IsEmpty()));
  EXPECT_EQ(file.events.back().regarding.name, "the-259th-of-too-many-different-layouts");
  EXPECT_EQ(file.events.back().reason, "AgentConfigTooLarge");
  const std::string last = status_of("the-259th-of-too-many-different-layouts");
  EXPECT_THAT(last, HasSubstr(R"("type":"Stalled","status":"True")"));
  EXPECT_THAT(last, HasSubstr("AgentConfigTooLarge"));
  EXPECT_THAT(last, HasSubstr("and a ConfigMap holds 1024000; use fewer MIGLayouts or fewer "
                              "different GPUs in each"));
  // The other layouts continue.
  EXPECT_THAT(status_of("the-000th-of-too-many-different-layouts"),
              Not(HasSubstr("AgentConfigTooLarge")));
  const std::string& written = std::get<Write>(file.objects.front().steps.back()).body;
  EXPECT_THAT(written, HasSubstr("  berth-the-000th-of-too-many-different-layouts-"));
  EXPECT_THAT(written, Not(HasSubstr("berth-the-259th")));
}

}  // namespace
}  // namespace berth::test
