// SPDX-License-Identifier: Apache-2.0
// The fields that decode keeps of a pod, and how it adds up the pod's requests.
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
  EXPECT_TRUE(pod.never_restarts);
  EXPECT_TRUE(pod.shape->claims_devices());
  EXPECT_TRUE(pod.shape->gated());
  EXPECT_EQ(pod.shape->priority, -5);
  EXPECT_EQ(pod.termination_grace_period_seconds, 60);
  EXPECT_EQ(pod.shape->scheduler_name, "default-scheduler");
  EXPECT_EQ(pod.shape->node_selector, (StringMap{{"tier", "gold"}}));
  ASSERT_EQ(pod.shape->tolerations.size(), 1u);
  EXPECT_EQ(pod.shape->tolerations[0].op, "Exists");
  ASSERT_EQ(pod.shape->required_node_affinity.size(), 1u);
  EXPECT_EQ(pod.shape->required_node_affinity[0].match_expressions[0].values,
            (std::vector<Text>{"a", "b"}));
  EXPECT_EQ(pod.shape->required_node_affinity[0].match_fields[0].op, SelectorOperator::kNotIn);
  ASSERT_TRUE(pod.start_time.has_value());
  EXPECT_EQ(format_time(*pod.start_time), "2026-11-21T14:23:00Z");
}

// The annotations of other projects that define a gang.
TEST(DecodePod, KeepsTheSizeOfALeaderWorkerSetsGroup) {
  EXPECT_TRUE(keeps_annotation("leaderworkerset.sigs.k8s.io/size"));
  EXPECT_TRUE(keeps_annotation("gpu.berth.dev/fast-admission"));
  EXPECT_FALSE(keeps_annotation("leaderworkerset.sigs.k8s.io/leader-name"));
}

TEST(DecodePod, KeepsWhatAPatchOfItsGatesAndAffinityNeeds) {
  const auto shape = [](const std::string& spec) {
    return decode<Pod>(R"({"spec":)" + spec + "}")->shape;
  };
  EXPECT_EQ(shape(R"({"schedulingGates":[{"name":"b"},{"name":"a"}]})")->scheduling_gates,
            (std::vector<Text>{"b", "a"}))
      << "in their order";
  EXPECT_FALSE(shape(R"({"schedulingGates":[]})")->gated());
  EXPECT_TRUE(shape(R"({"affinity":{}})")->has_affinity);
  EXPECT_FALSE(shape(R"({"affinity":{}})")->has_node_affinity);
  EXPECT_TRUE(shape(R"({"affinity":{"nodeAffinity":{}}})")->has_node_affinity);
  EXPECT_FALSE(shape(R"({"affinity":null})")->has_affinity);
  EXPECT_FALSE(shape(R"({"affinity":{"nodeAffinity":null}})")->has_node_affinity);
}

struct UnmodelledCase {
  const char* spec;
  std::uint8_t unmodelled;
};

TEST(DecodePod, MarksWhatTheSchedulerHeedsBesidesInBothEncodings) {
  const UnmodelledCase cases[] = {
      {R"({"schedulerName":"default-scheduler"})", 0},
      {R"({"schedulerName":"volcano"})", Unmodelled::kOtherScheduler},
      {R"({"resourceClaims":[{"name":"gpu"}]})", Unmodelled::kResourceClaims},
      {R"({"containers":[{"ports":[{"containerPort":80}]}]})", 0},
      {R"({"containers":[{},{"ports":[{"containerPort":80},{"containerPort":81,"hostPort":81}]}]})",
       Unmodelled::kHostPorts},
      {R"({"initContainers":[{"ports":[{"hostPort":81}]}],"containers":[{"ports":[]}]})",
       Unmodelled::kHostPorts},
      {R"({"volumes":[{"name":"a","emptyDir":{}},{"name":"b","configMap":{"name":"c"}}]})", 0},
      {R"({"volumes":[{"name":"a","persistentVolumeClaim":{"name":"c"}},{"name":"b","emptyDir":{}}]})",
       Unmodelled::kVolumes},
      {R"({"topologySpreadConstraints":[{"maxSkew":1,"whenUnsatisfiable":"ScheduleAnyway"}]})", 0},
      {R"({"topologySpreadConstraints":[{"whenUnsatisfiable":"DoNotSchedule"},
        {"whenUnsatisfiable":"ScheduleAnyway"}]})",
       Unmodelled::kTopologySpread},
      {R"({"affinity":{"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"name":"x"}]}}})",
       0},
      {R"({"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone"}]},
        "podAntiAffinity":{}}})",
       Unmodelled::kPodAffinity},
      {R"({"schedulerName":"x","affinity":{"podAntiAffinity":
        {"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone"}]}}})",
       Unmodelled::kPodAffinity | Unmodelled::kOtherScheduler},
  };
  for (const UnmodelledCase& c : cases) {
    const std::string object = std::string(R"({"spec":)") + c.spec + "}";
    const Result<Pod> pod = decode<Pod>(object);
    ASSERT_TRUE(pod.has_value()) << c.spec << ": " << describe(pod.error());
    EXPECT_EQ(pod->shape->unmodelled, c.unmodelled) << c.spec;
    std::string event = protobuf_event("ADDED", "Pod", object);
    const Result<WatchEvent<Pod>> too = decode_watch_event<Pod>(event, Encoding::kProtobuf);
    ASSERT_TRUE(too.has_value()) << c.spec << ": " << describe(too.error());
    EXPECT_EQ(too->object.shape, pod->shape) << c.spec << ", in protobuf";
  }
  for (const char* source :
       {"gcePersistentDisk", "awsElasticBlockStore", "iscsi", "persistentVolumeClaim", "rbd",
        "cinder", "vsphereVolume", "azureDisk", "portworxVolume", "csi", "ephemeral"}) {
    const std::string object =
        std::string(R"({"spec":{"volumes":[{"name":"a",")") + source + R"(":{}}]}})";
    EXPECT_EQ(decode<Pod>(object)->shape->unmodelled, Unmodelled::kVolumes) << source;
    std::string event = protobuf_event("ADDED", "Pod", object);
    EXPECT_EQ(decode_watch_event<Pod>(event, Encoding::kProtobuf)->object.shape->unmodelled,
              Unmodelled::kVolumes)
        << source;
  }
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
    EXPECT_EQ(pod->shape->requests.get("cpu").str(), c.cpu) << c.what;
    std::string event = protobuf_event("ADDED", "Pod", std::string(R"({"spec":)") + c.spec + "}");
    const Result<WatchEvent<Pod>> too = decode_watch_event<Pod>(event, Encoding::kProtobuf);
    ASSERT_TRUE(too.has_value()) << c.what << ": " << describe(too.error());
    EXPECT_EQ(too->object.shape->requests, pod->shape->requests) << c.what << ", in protobuf";
  }
  Result<Pod> pod = decode<Pod>(kPod);
  ASSERT_TRUE(pod.has_value());
  EXPECT_EQ(pod->shape->requests.get("cpu").str(),
            "3110m");  // fetch 3 next to proxy 0.1, plus overhead
  EXPECT_EQ(pod->shape->requests.get("memory").str(), "2147483648");
  EXPECT_EQ(pod->shape->requests.get("nvidia.com/gpu").as_whole(), 2);
}

struct TroubleCase {
  const char* what;
  const char* object;
  const char* trouble;
};

constexpr TroubleCase kTroubles[] = {
    {"rejected by the kubelet",
     R"({"status":{"phase":"Failed","reason":"TopologyAffinityError","message":"no"}})",
     "TopologyAffinityError"},
    {"about to start",
     R"({"status":{"initContainerStatuses":[{"state":{"waiting":{"reason":"PodInitializing"}}}],
     "containerStatuses":[{"state":{"waiting":{"reason":"ContainerCreating"}}}]}})",
     ""},
    {"the second container crashes",
     R"({"status":{"containerStatuses":[{"state":{"running":{}}},
     {"state":{"waiting":{"reason":"CrashLoopBackOff","message":"m"}}}]}})",
     "CrashLoopBackOff"},
    {"an init container comes first",
     R"({"status":{"containerStatuses":[{"state":{"waiting":{"reason":"ErrImagePull"}}}],
     "initContainerStatuses":[{"state":{"waiting":{"reason":"ImagePullBackOff"}}}]}})",
     "ImagePullBackOff"},
};

TEST(DecodePod, WhatKeepsItFromRunning) {
  for (const TroubleCase& c : kTroubles) {
    const Result<Pod> pod = decode<Pod>(c.object);
    ASSERT_TRUE(pod.has_value()) << c.what << ": " << describe(pod.error());
    EXPECT_EQ(pod->trouble, c.trouble) << c.what;
    std::string event = protobuf_event("ADDED", "Pod", c.object);
    const Result<WatchEvent<Pod>> too = decode_watch_event<Pod>(event, Encoding::kProtobuf);
    ASSERT_TRUE(too.has_value()) << c.what << ": " << describe(too.error());
    EXPECT_EQ(too->object, *pod) << c.what << ", in protobuf";
  }
}

// berth needs the addresses of dcgm-exporter's pods, not those of the other fifty thousand.
TEST(DecodePod, TheAddressOfAnExporterIsKept) {
  const auto address = [](const std::string& labels, const char* status) {
    const std::string object =
        R"({"metadata":{"name":"p","labels":)" + labels + R"(},"status":)" + status + "}";
    const Result<Pod> pod = decode<Pod>(object.c_str());
    EXPECT_TRUE(pod.has_value()) << object;
    std::string event = protobuf_event("ADDED", "Pod", object.c_str());
    const Result<WatchEvent<Pod>> too = decode_watch_event<Pod>(event, Encoding::kProtobuf);
    EXPECT_TRUE(too.has_value() && too->object == *pod) << object << ", in protobuf";
    return pod.has_value() ? pod->address.str() : "broken";
  };
  const char* running = R"({"phase":"Running","podIP":"10.0.0.1"})";
  EXPECT_EQ(address(R"({"app":"nvidia-dcgm-exporter"})", running), "10.0.0.1");
  EXPECT_EQ(address(R"({"app.kubernetes.io/name":"dcgm-exporter"})", running), "10.0.0.1");
  EXPECT_EQ(address(R"({"app":"nvidia-dcgm-exporter"})", R"({"phase":"Running"})"), "");
  EXPECT_EQ(address(R"({"app":"web"})", running), "");
  EXPECT_EQ(address("{}", running), "");
}

TEST(DecodePod, NullsAndUnknownFieldsChangeNothing) {
  Result<Pod> pod = decode<Pod>(
      R"({"metadata":{"name":"p","labels":null,"creationTimestamp":null,"zzz":[{}]},"spec":{"containers":null,
    "tolerations":null,"priority":null,"affinity":null,"nodeName":null,"future":{"a":[1,2,{"b":null}]}},"status":null,"more":1.5e300})");
  ASSERT_TRUE(pod.has_value()) << describe(pod.error());
  Pod plain;
  plain.meta.name = "p";
  EXPECT_EQ(*pod, plain);
  EXPECT_EQ(pod->shape, PodShape());
}

}  // namespace
}  // namespace berth::test
