// SPDX-License-Identifier: Apache-2.0
// Objects that are randomly broken and can still be decoded: no object that a user can apply may
// crash the controller. The sanitizers judge. The seed is fixed, so that failures are reproducible;
// BERTH_FUZZ_SEED=7 build/dev/fuzz_test uses another one.
#include <gtest/gtest.h>

#include <functional>

#include "apis/codec/decode.h"
#include "controller/core/snapshot.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/fleet/allocatable.h"
#include "controller/fleet/node_facts.h"
#include "controller/mig/config_label.h"
#include "controller/reconcilers/reconcile.h"
#include "tests/fuzz/mutator.h"

namespace berth::test {
namespace {

constexpr char kRollout[] =
    R"({"seq":3,"epoch":1,"layoutUID":"u1","layout":"small","config":"berth-small-0123abcd",)"
    R"("previous":"all-disabled","phase":"Applying","since":"2026-11-21T12:00:00.000000Z",)"
    R"("taken":"2026-11-21T11:59:00.000000Z","attempt":1,"notBefore":"2026-11-21T12:01:00.000000Z",)"
    R"("reasserts":0,"berthCordoned":true,"failedConfig":"x","why":"because \"so\""})";

const std::string kNode =
    R"({"kind":"Node","metadata":{"name":"n1","uid":"u-n1","resourceVersion":"7",)"
    R"("labels":{"tier":"mig","nvidia.com/gpu.product":"NVIDIA-A100-SXM4-80GB","nvidia.com/gpu.count":"4",)"
    R"("nvidia.com/gpu.memory":"81920","nvidia.com/mig.config":"all-disabled","nvidia.com/mig.strategy":"mixed",)"
    R"("nvidia.com/mig.config.state":"success","nvidia.com/gpu.deploy.mig-manager":"true",)"
    R"("nvidia.com/gpu.replicas":"2","nvidia.com/gpu.sharing-strategy":"time-slicing"},)"
    R"("annotations":{"gpu.berth.dev/hold":"yes","gpu.berth.dev/mig-rollout":"{\"seq\":3,\"phase\":\"Idle\",)"
    R"(\"since\":\"2026-11-21T12:00:00Z\"}","gpu.berth.dev/gpu-inventory":"{\"product\":\"NVIDIA-A30\",\"count\":2}"}},)"
    R"("spec":{"unschedulable":true,"taints":[{"key":"a","value":"b","effect":"NoSchedule"}]},)"
    R"("status":{"capacity":{"cpu":"96","nvidia.com/gpu":"4"},"allocatable":{"cpu":"95500m","memory":"512Gi",)"
    R"("nvidia.com/gpu":"4","nvidia.com/mig-1g.10gb":"0"},"conditions":[{"type":"Ready","status":"True"}],)"
    R"("nodeInfo":{"bootID":"b1"}}})";

const std::string kPod =
    R"({"kind":"Pod","metadata":{"name":"p","namespace":"team-a","uid":"u-p",)"
    R"("resourceVersion":"8","labels":{"app":"x"},"creationTimestamp":"2026-11-21T12:00:00Z",)"
    R"("deletionTimestamp":"2026-11-21T12:00:30Z","annotations":{"kubernetes.io/config.mirror":"x"},)"
    R"("ownerReferences":[{"apiVersion":"v1","kind":"ReplicaSet","name":"rs","uid":"u","controller":true}]},)"
    R"("spec":{"nodeName":"n1","priority":-5,"volumes":[{"name":"v","emptyDir":{}}],"containers":[{"name":"c",)"
    R"("resources":{"limits":{"nvidia.com/gpu":"1"},"requests":{"cpu":"100m"}}}],"initContainers":[]},)"
    R"("status":{"phase":"Running"}})";

const std::string kLayout =
    R"({"kind":"MIGLayout","metadata":{"name":"small","uid":"u1","generation":2},"spec":{)"
    R"("nodeSelector":{"matchLabels":{"tier":"mig"},"matchExpressions":[{"key":"a","operator":"NotIn","values":["b"]}]},)"
    R"("devices":[{"gpus":[0,1],"profiles":{"3g.40gb":1,"2g.20gb":1,"1g.10gb":2}},{"profiles":{"1g.10gb":7}}],)"
    R"("rollout":{"maxUnavailable":"25%","progressDeadline":"30m"},"drain":{"timeout":"20m","force":false},)"
    R"("capacityGuard":{"minAvailable":{"nvidia.com/mig-1g.10gb":7},"retire":["nvidia.com/gpu"]}},)"
    R"("status":{"nodes":{"selected":1},"conditions":[{"type":"Ready","status":"False","reason":"RollingOut",)"
    R"("lastTransitionTime":"2026-11-21T12:00:00Z"}],"details":[{"node":"n1","phase":"Waiting"}]}})";

void each(int count, std::vector<std::string> corpus,
          const std::function<void(std::string)>& read) {
  ASSERT_FALSE(corpus.empty());
  Mutator mutator(std::move(corpus), mutation_seed());
  for (int i = 0; i < count; ++i) {
    std::string input = mutator.next();
    try {
      read(input);
    } catch (const std::exception& error) {
      FAIL() << "input " << i << " throws " << error.what() << ":\n" << input.substr(0, 2000);
    }
  }
}

// The readers of a node's own texts.
void look_at(const Node& node) {
  (void)read_rollout(node);
  (void)inventory_of(node);
  (void)inventory_to_record(node);
  (void)read_sharing(node.meta.labels);
  (void)paused_labels(node);
  (void)driver_upgrade(node);
  (void)deletion_mark(node);
  (void)next_label("berth-small-0123abcd", label_of(node, "nvidia.com/mig.config"));
}

TEST(Mutation, Nodes) {
  int good = 0;
  each(20'000, {kNode}, [&good](std::string text) {
    const Result<Node> node = decode_object<Node>(text);
    if (!node) return;
    look_at(*node);
    ++good;
  });
  EXPECT_GT(good, 2'000) << "too few get past the decoder";
}

TEST(Mutation, Layouts) {
  each(2'500, {kLayout}, [](std::string text) {
    if (Result<MIGLayout> layout = decode_object<MIGLayout>(text)) (void)check_rules(*layout);
  });
}

// Every reconciler makes a plan for any cluster.
TEST(Mutation, ReconcilersOfABrokenCluster) {
  Mutator nodes({kNode}, mutation_seed()), pods({kPod}, mutation_seed()),
      layouts({kLayout}, mutation_seed()), annotations({kRollout}, mutation_seed());
  const Answers answers;
  const Settings settings;
  const Time now = *parse_time("2026-11-21T12:00:10Z");
  for (int i = 0; i < 300; ++i) {
    ClusterState cluster;
    std::string text = kNode;
    Node node = *decode_object<Node>(text);
    if (std::string broken = nodes.next(); i % 2 == 0)
      if (Result<Node> decoded = decode_object<Node>(broken)) node = *std::move(decoded);
    if (i % 3 == 0) node.meta.annotations.set("gpu.berth.dev/mig-rollout", annotations.next());
    if (i % 5 == 0) node.meta.annotations.erase("gpu.berth.dev/hold");
    const std::string name = node.meta.name;
    cluster.upsert(std::move(node), now);
    if (std::string broken = pods.next(); auto pod = decode_object<Pod>(broken))
      cluster.upsert(*std::move(pod), now);
    std::string whole = kLayout, broken = layouts.next();
    Result<MIGLayout> layout = decode_object<MIGLayout>(i % 4 == 0 ? broken : whole);
    if (layout) cluster.upsert(*std::move(layout), now);
    const Snapshot snapshot{
        .cluster = cluster, .answers = answers, .settings = settings, .now = now, .epoch = 1};
    for (const std::string& key : {"node/" + name, std::string("layout/small"),
                                   std::string("slots"), std::string("agent-config")})
      (void)reconcile(snapshot, key);
  }
}

}  // namespace
}  // namespace berth::test
