// SPDX-License-Identifier: Apache-2.0
// Gangs without a Job on the real API server: berth requeues them whole when one of their nodes is
// about to be removed, or when their pods don't become Ready. Re-created members wait at their
// gates until the gang is placed again.
#include <fmt/format.h>

#include <set>

#include "tests/apiserver/queue_fixture.h"
#include "tests/support/fault_proxy.h"

namespace berth::test {
namespace {

using ::testing::HasSubstr;

constexpr char kNotice[] =
    R"({"spec": {"taints": [{"key": "aws-node-termination-handler/spot-itn", "effect": "NoSchedule"}]}})";

class QueueRecall : public QueueTest {
 protected:
  using Names = std::set<std::string>;

  void SetUp() override {
    QueueTest::SetUp();
    add_pool(3);
    apply_queue("vision", "team-a", 16);
  }
  // Two pods, each with all GPUs of a node, created by a ReplicaSet.
  void make_gang(const std::string& more = "") {
    kube().apply(fmt::format(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {{namespace: team-a, name: ring}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: ring}}}}
  template:
    metadata:
      labels: {{app: ring, gpu.berth.dev/pod-group: ring}}
      annotations: {{gpu.berth.dev/pod-group-size: "2"}}
    spec:
      terminationGracePeriodSeconds: 1
      schedulingGates: [{{name: gpu.berth.dev/queue}}]
      {}
      containers: [{{name: main, image: example.com/train, resources: {{limits: {{nvidia.com/gpu: 8}}}}}}]
)",
                             more));
  }
  std::vector<Object> pods() { return kube().list("pods", "team-a"); }
  Names uids() {
    Names all;
    for (const Object& pod : pods()) all.insert(pod.text("/metadata/uid"));
    return all;
  }
  void wait_running_on(const Names& wanted) {
    wait_for("both pods to run there", 90, [&]() -> std::string {
      Names nodes;
      std::string told;
      for (const Object& pod : pods()) {
        if (pod.text("/status/phase") == "Running") nodes.insert(pod.text("/spec/nodeName"));
        told += pod.name() + " on " + pod.text("/spec/nodeName") + "; ";
      }
      return nodes == wanted && pods().size() == 2 ? "" : told + ledger().dump();
    });
  }
  Object ledger() { return kube().get({"configmaps", "berth-admissions", "berth-system"}); }
  // No pod was evicted before the mark existed, and no pod of the gang twice.
  void expect_evicted(const Names& names) {
    Names evicted;
    bool marked = false;
    for (const AuditEvent& event : events()) {
      const bool taken = event.ok() || event.unanswered();  // berth dies in some of the tests
      if (!event.by_berth() || !taken || event.dry_run()) continue;
      if (event.resource == "configmaps" &&
          event.request.dump().find("recall.") != std::string::npos)
        marked = true;
      if (event.subresource != "eviction") continue;
      EXPECT_TRUE(marked) << event.name;
      evicted.insert(event.name);
    }
    EXPECT_EQ(evicted, names);
  }
};

TEST_F(QueueRecall, AGangLeavesANodeThatItsCloudTakesBackAndBeginsWholeElsewhere) {
  start_berth();
  make_gang();
  wait_running_on({"n1", "n2"});
  Names names;
  for (const Object& pod : pods()) names.insert(pod.name());
  const Names before = uids();
  kube().patch({"nodes", "n1"}, PatchType::kMerge, kNotice);
  wait_running_on({"n2", "n3"});
  for (const std::string& uid : uids()) EXPECT_FALSE(before.contains(uid)) << "it goes whole";
  Names decisions;
  for (const Object& pod : pods())
    decisions.insert(Object::parse(pod.annotation("gpu.berth.dev/admitted")).text("/since"));
  EXPECT_EQ(decisions.size(), 1u) << "nobody follows by the admission that is over";
  expect_evicted(names);
}

TEST_F(QueueRecall, WhoeverLeadsNextGoesOnWhereTheFirstWasKilled) {
  FaultProxy proxy(plane());
  proxy.add({.id = "evict",
             .method = "POST",
             .path = "/eviction",
             .not_path = "dryRun=",
             .action = "hold",
             .times = 1});
  Berth first(plane(), {.name = "berth-first", .kubeconfig = proxy.kubeconfig()});
  make_gang();
  wait_running_on({"n1", "n2"});
  const Names before = uids();
  kube().patch({"nodes", "n1"}, PatchType::kMerge, kNotice);
  wait_for("its first eviction", 60, [&]() -> std::string {
    return proxy.holding("evict") == 1 ? "" : "it last said " + first.process().log_tail(3);
  });
  first.process().kill_now();
  proxy.release("evict");
  kube().remove({"leases", "berth-controller", "berth-system"});
  kube().patch({"nodes", "n1"}, PatchType::kMerge, R"({"spec": {"taints": null}})");
  start_berth();
  wait_for("all of the gang to be others", 90, [&]() -> std::string {
    std::size_t running = 0;
    for (const Object& pod : pods())
      if (!before.contains(pod.text("/metadata/uid")) && pod.text("/status/phase") == "Running")
        ++running;
    return running == 2 && pods().size() == 2 ? "" : ledger().dump();
  });
}

TEST_F(QueueRecall, AGangWhosePodsNeverBecomeReadyIsSetBackUntilSomebodyDeletesThem) {
  kube().patch({"gpuqueues", "vision"}, PatchType::kMerge,
               R"({"spec": {"podsReadyTimeout": "10s"}})");
  start_berth();
  make_gang("schedulerName: nobody");  // no such scheduler will ever bind them
  wait_reasons("vision", "BackingOff 1");
  wait_for("the gang to wait at its gates, as the ledger says", 60, [&]() -> std::string {
    for (const Object& pod : pods())
      if (!pod.has("/spec/schedulingGates")) return pod.dump();
    const std::string marks = ledger().dump();
    return pods().size() == 2 && marks.find("first") != std::string::npos ? "" : marks;
  });
  EXPECT_THAT(queue("vision").text("/status/pending/0/message"),
              HasSubstr("not all of its pods were Ready in time, 1 of 5 times"));
  for (const Object& pod : pods()) kube().remove({"pods", pod.name(), "team-a"});
  wait_for("those that are made anew to be let go", 60, [&]() -> std::string {
    for (const Object& pod : pods())
      if (pod.has("/spec/schedulingGates")) return reasons("vision");
    return pods().size() == 2 ? "" : "not two pods";
  });
}

}  // namespace
}  // namespace berth::test
