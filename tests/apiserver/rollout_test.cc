// SPDX-License-Identifier: Apache-2.0
// The README's rollout: eight nodes with four A100-80GB, two of them in use, repartitioned one by
// one.
#include <algorithm>

#include "tests/apiserver/rollout_fixture.h"

namespace berth::test {
namespace {

using std::chrono::seconds;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Rollout : public RolloutTest {
 protected:
  // Eight nodes; a Deployment's pods fill two of them.
  void SetUp() override {
    RolloutTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    nodes_ = cluster().add_gpu_nodes(8, {});
    cluster().wait_agents_running();
    cluster().add_deployment({.name = "serve", .replicas = 2, .count = 3});
    cluster().wait_pods_running("team-a", "serve", 2);
    for (const Object& pod : cluster().pods_of("team-a", "serve"))
      busy_.push_back(pod.text("/spec/nodeName"));
    std::sort(busy_.begin(), busy_.end());
  }

  std::vector<std::string> nodes_;
  std::vector<std::string> busy_;
};

// "2026-11-21T12:00:10.500000Z" in seconds of its day.
double second_of_day(const std::string& time) {
  return std::stod(time.substr(11, 2)) * 3600 + std::stod(time.substr(14, 2)) * 60 +
         std::stod(time.substr(17, 9));
}

// The parts that berth must write at once: each condition's type, status and generation.
std::string verdicts_of(const Object& layout) {
  std::string out;
  for (const Object& condition : layout.items("/status/conditions"))
    out += condition.text("/type") + "=" + condition.text("/status") + " of " +
           condition.text("/observedGeneration") + "\n";
  return out;
}

// The statuses above one in five seconds among those with equal conditions, plus one: on a busy
// machine the first may come late by any time, while the next ones keep their times.
std::vector<std::string> hasty_statuses(const std::vector<AuditEvent>& writes) {
  constexpr double kEvery = 5;
  std::vector<std::string> hasty;
  const AuditEvent* first = nullptr;  // of those with equal conditions
  int since = 0;
  for (const AuditEvent& event : writes) {
    if (event.resource != "miglayouts" || event.subresource != "status") continue;
    if (first == nullptr || verdicts_of(first->response) != verdicts_of(event.response)) {
      first = &event;
      since = 0;
      continue;
    }
    const double after = second_of_day(event.received_at) - second_of_day(first->received_at);
    if (after >= 0 && after < (++since - 1) * kEvery) hasty.push_back(event.describe());
  }
  return hasty;
}

TEST_F(Rollout, EveryNodeIsRepartitionedVerifiedAndReturned) {
  start_berth();
  apply({});
  wait_ready("inference-a100", 150);

  for (const std::string& node : nodes_) {
    EXPECT_EQ(cluster().gpu_allocatable(node), kMixedA100) << node;
    EXPECT_FALSE(cordoned(node)) << node;
    EXPECT_EQ(phase(node), "Idle") << node;
  }
  EXPECT_THAT(kube().get({"configmaps", "berth-node-slots", "berth-system"}).strings("/data"),
              IsEmpty());

  // Idle nodes were first.
  std::vector<std::string> order = cordon_order();
  ASSERT_THAT(order, SizeIs(8));
  std::vector<std::string> last(order.end() - 2, order.end());
  std::sort(last.begin(), last.end());
  EXPECT_EQ(last, busy_);

  // Pods left by eviction, never by DELETE.
  int evictions = 0;
  for (const AuditEvent& event : writes()) {
    if (event.subresource == "eviction") ++evictions;
    EXPECT_FALSE(event.verb == "delete" && event.resource == "pods") << event.describe();
  }
  EXPECT_GE(evictions, 2);

  EXPECT_THAT(hasty_statuses(writes()), IsEmpty());
  const Object status = layout().at("/status");
  EXPECT_EQ(status.number("/nodes/updated"), 8) << status.dump();
  EXPECT_EQ(status.number("/nodes/selected"), 8);
}

TEST_F(Rollout, ASecondStartWritesNothingButLeaseEpochAndHistory) {
  start_berth();
  apply({});
  wait_ready("inference-a100", 150);
  stop_berth();
  const std::size_t before = writes().size();

  start_berth();
  wait_for("the second start's epoch", 30,
           [&]() -> std::string { return writes().size() > before ? "" : "no write yet"; });
  // berth reconciles everything right after the epoch; after three renewals of the lease it is done
  // for sure.
  std::string renewed;
  int renewals = 0;
  wait_for("three renewals of the lease", 30, [&]() -> std::string {
    const std::string now =
        kube().get({"leases", "berth-controller", "berth-system"}).text("/spec/renewTime");
    if (now != renewed) ++renewals;
    renewed = now;
    return renewals > 3 ? "" : "renewed at " + now;
  });
  stop_berth();
  const auto all = writes();
  for (std::size_t i = before; i < all.size(); ++i)
    EXPECT_THAT(all[i].name,
                ::testing::AnyOf("berth-node-slots", ::testing::StartsWith("berth-history-")))
        << all[i].describe();
}

TEST_F(Rollout, WithoutRetireTheLastNodeIsRefusedWithTheLineToAdd) {
  Layout without;
  without.guard = {};
  start_berth();
  apply(without);
  wait_for("seven nodes updated and the last refused", 150, [&]() -> std::string {
    const Object status = layout().at("/status");
    return status.number("/nodes/updated") == 7 && status.number("/nodes/blocked") == 1
               ? ""
               : status.dump();
  });
  const Object entry = layout().items("/status/details").at(0);
  EXPECT_EQ(entry.text("/reason"), "LastProvider");
  EXPECT_THAT(entry.text("/message"), HasSubstr("nvidia.com/gpu"));
  EXPECT_THAT(entry.text("/message"), HasSubstr("retire"));
  EXPECT_FALSE(cordoned(entry.text("/node")));

  apply({});  // with the line
  wait_ready("inference-a100", 60);
}

}  // namespace
}  // namespace berth::test
