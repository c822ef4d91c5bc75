// SPDX-License-Identifier: Apache-2.0
// Queues on the real API server while berth dies during its writes, and while two berths lead.
#include <functional>
#include <memory>

#include "tests/apiserver/queue_fixture.h"
#include "tests/support/fault_proxy.h"

namespace berth::test {
namespace {

using std::chrono::seconds;

class QueueFaults : public QueueTest {
 protected:
  bool suspended(const std::string& namespace_, const std::string& job) {
    return kube().get({"jobs", job, namespace_}).at("/spec/suspend").dump() == "true";
  }
  // As if it had expired; other tests are about the wait for that.
  void drop_lease() { kube().remove({"leases", "berth-controller", "berth-system"}); }
  // Lives of berth that each end during a write, until it is done.
  void live_until(const std::function<bool()>& done) {
    static constexpr const char* kWays[] = {"hold-reply", "hold", "hold-reply", "lose"};
    FaultProxy proxy(plane());
    for (int life = 0; !done(); ++life) {
      ASSERT_LT(life, 50) << "no progress";
      proxy.add({.id = "kill",
                 .method = "WRITE",
                 .not_path = "/leases|/events|/status|dryRun=",
                 .action = kWays[kills_ % 4],
                 .skip = 2,
                 .times = 1});
      Berth one(plane(), {.name = "berth-lives", .kubeconfig = proxy.kubeconfig()});
      wait_until("berth's next write", seconds(60), [&]() -> std::string {
        if (proxy.holding("kill") > 0 || done() || !one.process().running()) return "";
        return "it last said " + one.process().log_tail(3);
      });
      if (proxy.holding("kill") > 0) ++kills_;
      one.process().kill_now();
      proxy.release("kill");
      drop_lease();
    }
  }
  std::string holder() {
    const auto leases = kube().list("leases", "berth-system");
    return leases.empty() ? "" : leases[0].text("/spec/holderIdentity");
  }

  int kills_ = 0;
};

// Each life of berth starts the epochs of its two ledgers, and dies during the next write: applied
// with the reply lost, arriving after the death, or lost on the way. One workload comes at a time,
// so that both its decision and its release are hit.
TEST_F(QueueFaults, KilledAtEveryWriteItLetsGoWhatFitsAndNothingElse) {
  add_pool(2);
  apply_queue("vision", "team-a", 8), apply_queue("nlp", "team-b", 8);
  submit("team-a", "v1", 4);
  live_until([&] { return !suspended("team-a", "v1"); });
  submit("team-a", "v2", 4);
  live_until([&] { return !suspended("team-a", "v2"); });
  gate("team-b", "one", 2);
  live_until([&] { return !gated("team-b", "one"); });
  for (int i = 0; i < 3; ++i) gate("team-b", "ring-" + std::to_string(i), 2, "ring", 3);
  live_until([&] {
    return !gated("team-b", "ring-0") && !gated("team-b", "ring-1") && !gated("team-b", "ring-2");
  });
  EXPECT_GE(kills_, 4) << "one over each workload at least; which write, is chance";

  submit("team-a", "late", 1);
  start_berth();
  wait_used("vision", "8/8"), wait_used("nlp", "8/8");
  wait_reasons("vision", "WaitingForQuota 1");
  wait_nothing_in_flight();
  EXPECT_TRUE(suspended("team-a", "late"));
  for (const char* pod : {"ring-0", "ring-1", "ring-2", "one"}) wait_bound("team-b", pod);
}

// The first leader freezes during its release. The second one releases that pod itself, and it
// ends; another pod of the name is created and waits. The late request was for the first pod.
TEST_F(QueueFaults, ALateReleaseOfAFrozenLeaderLetsNothingElseGo) {
  add_pool(1);
  apply_queue("vision", "team-a", 8);
  gate("team-a", "train", 8);
  FaultProxy proxy(plane());
  proxy.add({.id = "release",
             .method = "PATCH",
             .path = "/namespaces/team-a/pods/train",
             .body = "schedulingGates",
             .action = "hold",
             .times = 1});
  Berth first(plane(), {.name = "berth-first", .kubeconfig = proxy.kubeconfig()});
  wait_for("the first leader's release to be held", 60, [&]() -> std::string {
    return proxy.holding("release") == 1 ? "" : "it last said " + first.process().log_tail(3);
  });
  first.process().freeze();
  const std::string leader = holder();
  EXPECT_TRUE(gated("team-a", "train"));

  start_berth();
  wait_for("the second to lead and to let the pod go", 60, [&]() -> std::string {
    if (holder() == leader) return "the lease is still the first's";
    return gated("team-a", "train") ? "the gate stands" : "";
  });
  kube().remove({"pods", "train", "team-a"});
  gate("team-a", "other", 8);
  wait_bound("team-a", "other");
  gate("team-a", "train", 8);
  wait_reasons("vision", "WaitingForQuota 1");

  proxy.release("release");
  first.process().thaw();
  EXPECT_NE(first.process().wait(seconds(120)).value_or(0), 0)
      << "a leader that lost its lease must exit";
  EXPECT_TRUE(gated("team-a", "train"));
  wait_nothing_in_flight();
}

}  // namespace
}  // namespace berth::test
