// SPDX-License-Identifier: Apache-2.0
// What decode keeps of a pod, and how it counts the pod's requests.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/apis/protobuf_writer.h"
#include "tests/apis/wire_objects.h"

namespace berth::test {
namespace {

TEST(DecodePod, KeepsWhatDecisionsNeed) {
  Result<Pod> result = decode<Pod>(kPod);
  ASSERT_TRUE(result.has_value()) << describe(result.error());
  const Pod& pod = *result;
  EXPECT_EQ(pod.meta.name, "train-0");
  EXPECT_EQ(pod.meta.namespace_, "vision");
  EXPECT_EQ(pod.meta.uid, "6fe9d087");
  EXPECT_EQ(pod.meta.resource_version, "4711");
  EXPECT_EQ(pod.meta.generation, 2);
  EXPECT_EQ(format_time(pod.meta.creation_timestamp), "2026-11-21T14:22:49Z");
  EXPECT_TRUE(pod.terminating());
  EXPECT_EQ(pod.meta.labels, (StringMap{{"app", "train"}, {"gpu.berth.dev/pod-group", "g1"}}));
  EXPECT_EQ(pod.meta.annotations.size(), 2u) << "kubectl's copy of the object is dropped";
  EXPECT_TRUE(pod.meta.annotations.contains("cluster-autoscaler.kubernetes.io/safe-to-evict"));
  ASSERT_NE(pod.meta.controller(), nullptr);
  EXPECT_EQ(pod.meta.controller()->kind, "Job");
  EXPECT_EQ(pod.meta.finalizers, std::vector<Text>{"batch.kubernetes.io/job-tracking"});
  EXPECT_EQ(pod.node_name, "n1");
  EXPECT_EQ(pod.phase, PodPhase::kRunning);
  EXPECT_TRUE(pod.has_empty_dir);
  EXPECT_TRUE(pod.has_resource_claims);
  EXPECT_TRUE(pod.gated);
  EXPECT_EQ(pod.priority, -5);
  EXPECT_EQ(pod.termination_grace_period_seconds, 60);
  EXPECT_EQ(pod.scheduler_name, "default-scheduler");
  EXPECT_EQ(pod.node_selector, (StringMap{{"tier", "gold"}}));
  ASSERT_EQ(pod.tolerations.size(), 1u);
  EXPECT_EQ(pod.tolerations[0].op, "Exists");
  ASSERT_EQ(pod.required_node_affinity.size(), 1u);
  EXPECT_EQ(pod.required_node_affinity[0].match_expressions[0].values,
            (std::vector<Text>{"a", "b"}));
  EXPECT_EQ(pod.required_node_affinity[0].match_fields[0].op, SelectorOperator::kNotIn);
  ASSERT_TRUE(pod.start_time.has_value());
  EXPECT_EQ(format_time(*pod.start_time), "2026-11-21T14:23:00Z");
}

struct RequestsCase {
  const char* what;
  const char* spec;
  const char* cpu;
};

TEST(DecodePod, CountsRequestsAsTheSchedulerDoes) {
  const RequestsCase cases[] = {
      {"no containers", "{}", "0"},
      {"the sum of the containers",
       R"({"containers":[{"resources":{"requests":{"cpu":"1"}}},{"resources":{"requests":{"cpu":"2"}}}]})",
       "3"},
      {"a greater init container",
       R"({"initContainers":[{"resources":{"requests":{"cpu":"5"}}}],"containers":[{"resources":{"requests":{"cpu":"1"}}}]})",
       "5"},
      {"init containers run one after the other",
       R"({"initContainers":[{"resources":{"requests":{"cpu":"2"}}},{"resources":{"requests":{"cpu":"2"}}}],"containers":[{"resources":{"requests":{"cpu":"3"}}}]})",
       "3"},
      {"a sidecar runs beside the containers",
       R"({"initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}}],"containers":[{"resources":{"requests":{"cpu":"3"}}}]})",
       "5"},
      {"an init container runs beside the sidecars before it",
       R"({"initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}},{"resources":{"requests":{"cpu":"4"}}}],"containers":[{"resources":{"requests":{"cpu":"1"}}}]})",
       "6"},
      {"but not beside those after it",
       R"({"initContainers":[{"resources":{"requests":{"cpu":"4"}}},{"restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}}],"containers":[{"resources":{"requests":{"cpu":"1"}}}]})",
       "4"},
      {"overhead comes on top",
       R"({"overhead":{"cpu":"250m"},"containers":[{"resources":{"requests":{"cpu":"1"}}}]})",
       "1250m"},
      {"requests of the whole pod replace the sum",
       R"({"resources":{"requests":{"cpu":"8"}},"containers":[{"resources":{"requests":{"cpu":"1"}}}]})",
       "8"},
      {"containers twice: the last list counts",
       R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],"containers":[{"resources":{"requests":{"cpu":"2"}}}]})",
       "2"},
  };
  for (const RequestsCase& c : cases) {
    Result<Pod> pod =
        decode<Pod>(std::string(R"({"metadata":{"name":"p"},"spec":)") + c.spec + "}");
    ASSERT_TRUE(pod.has_value()) << c.what << ": " << describe(pod.error());
    EXPECT_EQ(pod->requests.get("cpu").str(), c.cpu) << c.what;
    std::string event = protobuf_event("ADDED", "Pod", std::string(R"({"spec":)") + c.spec + "}");
    const Result<WatchEvent<Pod>> too = decode_watch_event<Pod>(event, Encoding::kProtobuf);
    ASSERT_TRUE(too.has_value()) << c.what << ": " << describe(too.error());
    EXPECT_EQ(too->object.requests, pod->requests) << c.what << ", in protobuf";
  }
  Result<Pod> pod = decode<Pod>(kPod);
  ASSERT_TRUE(pod.has_value());
  EXPECT_EQ(pod->requests.get("cpu").str(), "3110m");  // fetch 3 beside proxy 0.1, plus overhead
  EXPECT_EQ(pod->requests.get("memory").str(), "2147483648");
  EXPECT_EQ(pod->requests.get("nvidia.com/gpu").as_whole(), 2);
}

TEST(DecodePod, NullsAndUnknownFieldsChangeNothing) {
  Result<Pod> pod = decode<Pod>(
      R"({"metadata":{"name":"p","labels":null,"creationTimestamp":null,"zzz":[{}]},"spec":{"containers":null,
    "tolerations":null,"priority":null,"affinity":null,"nodeName":null,"future":{"a":[1,2,{"b":null}]}},"status":null,"more":1.5e300})");
  ASSERT_TRUE(pod.has_value()) << describe(pod.error());
  Pod plain;
  plain.meta.name = "p";
  EXPECT_EQ(*pod, plain);
}

}  // namespace
}  // namespace berth::test
