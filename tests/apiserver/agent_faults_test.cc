// SPDX-License-Identifier: Apache-2.0
// mig-manager fails, hangs, lies and reboots, under both failure policies. berth retries as
// designed, gives up as the layout says, reports node and step, and then claims no other node.
#include "tests/apiserver/rollout_fixture.h"

namespace berth::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kMigConfig[] = "nvidia.com/mig.config";

class AgentFaults : public RolloutTest {
 protected:
  void SetUp() override {
    RolloutTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    cluster().add_gpu_nodes(2, {});
    cluster().wait_agents_running();
  }

  // n1 is first and has the fault; n2 must wait until n1 is verified.
  void roll_out(const std::string& fault, const std::string& policy) {
    kube().set_annotation({"nodes", "n1"}, "test.berth.dev/fault", fault);
    Layout layout;
    layout.rollout = {"maxUnavailable: 1", "order: Name", "initialBatch: 1", "progressDeadline: 5s",
                      "failurePolicy: " + policy};
    apply(layout);
    start_berth();
  }

  // The values that berth wrote to n1's mig.config, in order.
  std::vector<std::string> labels_written() {
    std::vector<std::string> out;
    for (const AuditEvent& event : writes()) {
      if (event.resource != "nodes" || event.name != "n1" || event.subresource != "") continue;
      if (event.request.dump().find("mig.config\"") == std::string::npos &&
          event.request.dump().find("mig.config ") == std::string::npos &&
          event.request.dump().find("nvidia.com~1mig.config\"") == std::string::npos)
        continue;
      const std::string value = event.response.label(kMigConfig);
      if (out.empty() || out.back() != value) out.push_back(value);
    }
    return out;
  }

  void expect_stalled(const std::string& words) {
    wait_condition("Stalled", "True", 90);
    const Object now = layout();
    EXPECT_THAT(now.condition("Stalled", "message"), AllOf(HasSubstr("n1"), HasSubstr(words)));
    EXPECT_EQ(now.condition("Ready"), "False");
    EXPECT_THAT(cordon_order(), ElementsAre("n1")) << "no other node is touched";
    EXPECT_EQ(cluster().gpu_allocatable("n2"), (std::map<std::string, int>{{"nvidia.com/gpu", 4}}));
  }

  void expect_halted(const std::string& words, std::size_t label_writes) {
    wait_phase("n1", "Failed", 90);
    expect_stalled(words);
    EXPECT_TRUE(cordoned("n1")) << "a failed node stays out";
    EXPECT_THAT(detail("n1"), HasSubstr("Failed"));
    EXPECT_THAT(labels_written(), SizeIs(label_writes)) << "each attempt writes one new value";
    EXPECT_EQ(kube().get({"nodes", "n1"}).label("nvidia.com/gpu.deploy.device-plugin"), "true")
        << "paused labels are given back";
    invariants_.all_returned = false;
  }

  void expect_rolled_back(const std::string& words) {
    expect_stalled(words);
    wait_phase("n1", "Idle", 60);
    EXPECT_FALSE(cordoned("n1"));
    wait_for("n1 to offer what it did before", 20, [&]() -> std::string {
      return cluster().gpu_allocatable("n1") == std::map<std::string, int>{{"nvidia.com/gpu", 4}}
                 ? ""
                 : "it does not";
    });
    EXPECT_THAT(kube().get({"nodes", "n1"}).label(kMigConfig), HasSubstr("all-disabled"));
  }

  void expect_done_in_spite() {
    wait_ready("inference-a100", 90);
    for (const char* node : {"n1", "n2"}) {
      EXPECT_EQ(cluster().gpu_allocatable(node), kMixedA100) << node;
      EXPECT_FALSE(cordoned(node)) << node;
    }
  }
};

TEST_F(AgentFaults, AFailureIsRetriedTwiceAndThenHalts) {
  roll_out("fail", "Halt");
  expect_halted("failed", 3);
}

TEST_F(AgentFaults, AFailureIsRolledBack) {
  roll_out("fail", "Rollback");
  expect_rolled_back("failed");
}

TEST_F(AgentFaults, AFailureThatLeavesLabelsPausedHalts) {
  roll_out("fail-labels-paused", "Halt");
  expect_halted("failed", 3);
}

TEST_F(AgentFaults, AFailureThatLeavesLabelsPausedIsRolledBack) {
  roll_out("fail-labels-paused", "Rollback");
  expect_rolled_back("failed");
}

TEST_F(AgentFaults, OneFailureIsGotOver) {
  roll_out("fail-once", "Halt");
  expect_done_in_spite();
  EXPECT_THAT(labels_written(), SizeIs(2));
}

TEST_F(AgentFaults, AWedgedAgentIsSetGoingOnceMoreAndThenHalts) {
  roll_out("wedge", "Halt");
  expect_halted("mig-manager has paused", 2);
}

TEST_F(AgentFaults, AWedgedAgentIsRolledBack) {
  roll_out("wedge", "Rollback");
  expect_rolled_back("mig-manager has paused");
}

TEST_F(AgentFaults, AnAgentThatWedgesOnceIsGotOver) {
  roll_out("wedge-once", "Halt");
  expect_done_in_spite();
}

TEST_F(AgentFaults, ALieIsFoundOutAndHalts) {
  roll_out("lie", "Halt");
  expect_halted("nvidia.com/mig-", 3);
}

TEST_F(AgentFaults, ALieIsFoundOutAndRolledBack) {
  roll_out("lie", "Rollback");
  expect_rolled_back("nvidia.com/mig-");
}

TEST_F(AgentFaults, ARebootOnTheWayIsWaitedFor) {
  roll_out("reboot", "Halt");
  expect_done_in_spite();
}

}  // namespace
}  // namespace berth::test
