// SPDX-License-Identifier: Apache-2.0
// The gang in examples/: berth takes the pods, as their controller creates them, for one gang,
// which starts with the first pod.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apis/codec/decode.h"
#include "controller/queue/index/facts_from.h"
#include "tests/admission/review_case.h"
#include "tests/examples/example.h"

namespace berth::test {
namespace {

using Json = nlohmann::json;

Json pod_of(const Json& set, int ordinal) {
  Json pod = set["spec"]["template"];
  const std::string name = set["metadata"]["name"];
  pod["metadata"]["name"] = name + "-" + std::to_string(ordinal);
  pod["metadata"]["namespace"] = set["metadata"]["namespace"];
  pod["metadata"]["ownerReferences"] = {{{"apiVersion", set["apiVersion"]},
                                         {"kind", set["kind"]},
                                         {"name", name},
                                         {"uid", "uid-of-" + name},
                                         {"controller", true}}};
  return pod;
}

TEST(ExampleGangs, AreWholeForBerthAndStartWithTheirFirstPod) {
  ClusterState cluster = cluster_of({"three-teams/queues.yaml"});
  add_pool_node(cluster, "t1", "training", "nvidia.com/gpu", 8);
  std::size_t seen = 0;
  for (const Example& example : read_examples("three-teams/statefulset.yaml")) {
    if (example.document.kind != "StatefulSet") continue;
    const Json set = Json::parse(example.document.json);
    for (int i = 0; i < set["spec"]["replicas"]; ++i) {
      Request request{.object = pod_of(set, i).dump(), .ns = set["metadata"]["namespace"]};
      const Answer made = ask(kMutate, request, cluster);
      EXPECT_EQ(at(made.object, "/spec/schedulingGates/0/name"), R"("gpu.berth.dev/queue")");
      request.object = made.object;
      const Answer judged = ask(kValidate, request, cluster);
      EXPECT_TRUE(judged.allowed) << judged.message;
      std::string text = made.object;
      const Result<Pod> pod = decode_object<Pod>(text);
      ASSERT_TRUE(pod.has_value());
      const auto fact = queue::pod_fact(*pod, "vision", 0);
      EXPECT_EQ(fact->workload, "PodGroup/vision/StatefulSet:ring");
      EXPECT_EQ(fact->group_size, set["spec"]["replicas"]);
      EXPECT_TRUE(fact->fast);
      ++seen;
    }
  }
  EXPECT_EQ(seen, 3U);
}

}  // namespace
}  // namespace berth::test
