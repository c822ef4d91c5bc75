// SPDX-License-Identifier: Apache-2.0
// What a layout's status says, how much of it, and when it must be written at once.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "controller/mig/verification.h"
#include "tests/mig/rollout_world.h"

namespace berth::test {
namespace {

using std::chrono::hours;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using Fault = RolloutWorld::Fault;

// What a cloud calls its machines, and the longest layout the API server admits.
constexpr char kNode[] = "ip-10-123-234-101.ap-northeast-2.compute.internal-gpu-pool-a100-80gb";
const std::string kLayout(limits::kMaxLayoutName, 'x');

RolloutWorld long_names() {
  RolloutWorld world;
  world.add(node(kNode).a100_80(4).label("tier", "mig"));
  for (const char* part : {"dcgm", "dcgm-exporter", "gpu-feature-discovery", "nvsm"})
    world.change_node(kNode, [&](Node& n) {
      n.meta.labels.set(std::string(names::kDeployPrefix) + part, "true");
    });
  world.add(layout(kLayout).retire("nvidia.com/gpu"));
  return world;
}

// All that the GPU operator deploys by a label and mig-manager pauses.
void pause_everything(Node& node) {
  StringMap labels = node.meta.labels;
  for (const auto& [key, value] : labels)
    if (key.view().starts_with(names::kDeployPrefix) && key != names::kDeployMigManager)
      node.meta.labels.set(key.view(), names::kPausedForMigChange);
}

TEST(LayoutStatus, WhatIsSaidOfAnAgentFitsUncut) {
  struct Row {
    const char* state;
    const char* says;
  };
  const Row rows[] = {
      {"", "see that its pod runs on the node"},
      {"pending", "nvsm"},
      {"failed", "its log on the node says why"},
      {"rebooting", "rebooting into the new MIG mode"},
      {"a-state-that-no-mig-manager-known-to-anybody-has-ever-reported-x", "reported-x\""},
      {"success", "mig-manager reports success, but"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.state);
    RolloutWorld world = long_names();
    ASSERT_TRUE(world.run_until([&] { return world.phase(kNode) == "Applying"; }));
    world.change_node(kNode, [&](Node& n) {
      n.meta.labels.set(names::kMigConfigState, row.state);
      if (std::string_view(row.state) == "pending") pause_everything(n);
    });
    const Snapshot snapshot = world.snapshot();
    LayoutView view(snapshot);
    const Verification v = verify(situation_of(snapshot, view, world.node(kNode)));
    EXPECT_THAT(v.message, HasSubstr(row.says));
    EXPECT_LE(v.message.size(), limits::kMaxMessage) << v.message;
  }
}

TEST(LayoutStatus, OfAWedgedAgentItSaysWhatHungAndWhatToDo) {
  RolloutWorld world = long_names();
  world.break_agent(kNode, Fault::kWedges);
  world.after_write = [&](const std::string& write) {
    if (write.find("apply ") == write.npos && write.find("try again") == write.npos) return;
    world.change_node(kNode, pause_everything);
  };
  world.run_for(hours(4));
  ASSERT_EQ(world.phase(kNode), "Failed");
  for (const std::string& said :
       {world.detail(kLayout, kNode), world.condition(kLayout, "Stalled")}) {
    EXPECT_THAT(said, HasSubstr("mig-manager has paused"));
    EXPECT_THAT(said, EndsWith("; edit the layout, or bring mig-manager to success: berth goes on "
                               "by itself"));
  }
}

// A budget's name, the pod's, and the server's own words are each as long as they like.
TEST(LayoutStatus, WhateverIsLongTheAdviceIsLeft) {
  RolloutWorld world;
  world.add_nodes(1);
  world.add(pod(std::string(200, 'p')).on("n1").gpu(1).unmanaged());
  world.add(layout("small").retire("nvidia.com/gpu"));
  world.run_for(hours(1));
  const std::string said = world.detail("small", "n1");
  EXPECT_THAT(said, HasSubstr("UnmanagedPod"));
  EXPECT_THAT(said, EndsWith("…; wait for its end, delete it, or set spec.drain.force"));
}

// Eight nodes go through all their steps: two conditions change, and those are written at once.
TEST(LayoutStatus, TheStepsOfNodesAreNoCauseToWriteAtOnce) {
  RolloutWorld world;
  world.add_nodes(8);
  world.add(layout("small").retire("nvidia.com/gpu"));
  std::vector<std::string> at_once;
  world.on_status = [&](const StatusUpdate& update) {
    if (!update.conditions_differ) return;
    const std::size_t at = update.body.find("\"conditions\"");
    at_once.push_back(update.body.substr(std::min(at, update.body.size())));
  };
  ASSERT_TRUE(world.run_until_ready("small"));
  ASSERT_THAT(at_once, SizeIs(2));
  EXPECT_THAT(at_once.front(), HasSubstr("Reconciling"));
  EXPECT_THAT(at_once.back(), HasSubstr("AllNodesUpdated"));
}

// Each asks for something else on 16 GPUs; the first node is the oldest layout's, the second the
// youngest's.
void add_too_many_layouts(RolloutWorld& world, int count) {
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

TEST(LayoutStatus, TheLayoutThatBringsTheAgentsFileOverItsLimitIsStalled) {
  constexpr int kCount = 260;
  RolloutWorld world;
  add_too_many_layouts(world, kCount);
  Plan file = world.plan("agent-config");
  ASSERT_THAT(file.objects, SizeIs(1));
  ASSERT_THAT(file.events, Not(IsEmpty()));
  EXPECT_EQ(file.events.back().regarding.name, "the-259th-of-too-many-different-layouts");
  EXPECT_EQ(file.events.back().reason, "AgentConfigTooLarge");
  const auto status_of = [&](const char* name) {
    return world.plan(std::string("layout/") + name).statuses.front().body;
  };
  const std::string last = status_of("the-259th-of-too-many-different-layouts");
  EXPECT_THAT(last, HasSubstr(R"("type":"Stalled","status":"True")"));
  EXPECT_THAT(last, HasSubstr("AgentConfigTooLarge"));
  EXPECT_THAT(last, HasSubstr("and a ConfigMap holds 1024000; use fewer MIGLayouts or fewer "
                              "different GPUs in each"));
  // The others go on.
  EXPECT_THAT(status_of("the-000th-of-too-many-different-layouts"),
              Not(HasSubstr("AgentConfigTooLarge")));
  const std::string& written = std::get<Write>(file.objects.front().steps.front()).body;
  EXPECT_THAT(written, HasSubstr("  berth-the-000th-of-too-many-different-layouts-"));
  EXPECT_THAT(written, Not(HasSubstr("berth-the-259th")));
}

}  // namespace
}  // namespace berth::test
