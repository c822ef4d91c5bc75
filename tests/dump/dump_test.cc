// SPDX-License-Identifier: Apache-2.0
#include "controller/dump/dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth {
namespace {

using testing::HasSubstr;
using testing::Not;

const Time kNow = Time(std::chrono::seconds(1'800'000'000));

constexpr char kNodes[] = R"({"metadata":{"continue":"more"},"items":[
  {"metadata":{"name":"g1","uid":"u1","labels":{"nvidia.com/gpu.product":"A"},
    "annotations":{"gpu.berth.dev/hold":"x","kubectl.kubernetes.io/last-applied-configuration":"SECRET"}},
   "spec":{"unschedulable":true},
   "status":{"allocatable":{"nvidia.com/gpu":"4"},"images":[{"names":["SECRET"]}],
             "conditions":[{"type":"Ready","status":"True","message":"fine"}]}},
  {"metadata":{"name":"c1","uid":"u2"},"status":{"allocatable":{"cpu":"8"}}}]})";

// A pod with a GPU request on any node, one without on a GPU node, and an irrelevant one.
constexpr char kPods[] = R"({"metadata":{},"items":[
  {"metadata":{"name":"a","namespace":"x","uid":"p1",
     "ownerReferences":[{"kind":"Job","name":"j","uid":"job-1","controller":true}]},
   "spec":{"nodeName":"c1","containers":[{"name":"m","image":"SECRET","args":["SECRET"],
     "env":[{"name":"A","value":"SECRET"}],"resources":{"requests":{"nvidia.com/gpu":"2"},
     "limits":{"nvidia.com/gpu":"2"}}}],
     "volumes":[{"name":"v","secret":{"secretName":"SECRET"}},{"name":"e","emptyDir":{}}]}},
  {"metadata":{"name":"b","namespace":"x","uid":"p2"},"spec":{"nodeName":"g1","containers":[{}]}},
  {"metadata":{"name":"c","namespace":"x","uid":"p3"},"spec":{"nodeName":"c1","containers":[{}]}}]})";

constexpr char kJobs[] = R"({"items":[
  {"metadata":{"name":"j","namespace":"x","uid":"job-1"},"spec":{"backoffLimit":0}},
  {"metadata":{"name":"k","namespace":"x","uid":"job-2"},"spec":{"backoffLimit":0}}]})";

std::string dump_text() {
  DumpWriter writer;
  Result<std::string> next = writer.add_list(kKind<Node>, kNodes);
  EXPECT_TRUE(next.has_value() && *next == "more");
  EXPECT_TRUE(writer.add_list(kKind<Pod>, kPods).has_value());
  EXPECT_TRUE(writer.add_list(kKind<Job>, kJobs).has_value());
  EXPECT_EQ(writer.objects(), 5u);
  return writer.str(kNow);
}

TEST(Dump, ComesBackAsItWasTaken) {
  Result<Dump> dump = load_dump(dump_text());
  ASSERT_TRUE(dump.has_value()) << describe(dump.error());
  EXPECT_EQ(dump->taken_at, kNow);
  const Node* node = dump->cluster.nodes().find("g1");
  ASSERT_NE(node, nullptr);
  EXPECT_TRUE(node->cordoned());
  EXPECT_TRUE(node->ready);
  EXPECT_EQ(node->allocatable.get("nvidia.com/gpu"), Quantity::whole(4));
  EXPECT_EQ(node->meta.annotations.get("gpu.berth.dev/hold"), "x");
  const Pod* pod = dump->cluster.pods().find("x", "a");
  ASSERT_NE(pod, nullptr);
  EXPECT_EQ(pod->shape->requests.get("nvidia.com/gpu"), Quantity::whole(2));
  EXPECT_TRUE(pod->has_empty_dir);
}

TEST(Dump, KeepsOnlyWhatAPlanNeeds) {
  Result<Dump> dump = load_dump(dump_text());
  ASSERT_TRUE(dump.has_value());
  EXPECT_NE(dump->cluster.pods().find("x", "b"), nullptr) << "it sits on a GPU node";
  EXPECT_EQ(dump->cluster.pods().find("x", "c"), nullptr) << "neither GPU nor GPU node";
  EXPECT_NE(dump->cluster.jobs().find("x", "j"), nullptr) << "it owns a kept pod";
  EXPECT_EQ(dump->cluster.jobs().find("x", "k"), nullptr);
}

TEST(Dump, HoldsNoEnvironmentArgumentsImagesOrForeignAnnotations) {
  EXPECT_THAT(dump_text(), Not(HasSubstr("SECRET")));
}

constexpr char kWaiting[] = R"({"items":[
  {"metadata":{"name":"plain","namespace":"x"},"spec":{"containers":[{"env":[
     {"name":"A","value":"SECRET"},{"name":"NVIDIA_VISIBLE_DEVICES","value":"all"}]}]},
   "status":{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable",
     "message":"0/1 nodes are available"},{"type":"Ready","message":"SECRET"}]}},
  {"metadata":{"name":"odd","namespace":"x"},"spec":{"containers":"SECRETLY odd"},"status":7}]})";

TEST(Dump, HoldsWhatTheSchedulerSaysOfAPodInTheNamespaceThatIsAskedAbout) {
  DumpWriter elsewhere;
  ASSERT_TRUE(elsewhere.add_list(kKind<Pod>, kWaiting).has_value());
  EXPECT_EQ(elsewhere.objects(), 0u) << "neither asks for a GPU";

  DumpWriter writer("x");
  ASSERT_TRUE(writer
                  .add_list(kKind<Pod>,
                            std::string(kWaiting).replace(
                                std::string(kWaiting).find(",\n  {\"metadata\":{\"name\":\"odd"),
                                std::string::npos, "]}"))
                  .has_value());
  writer.add_unread({.resource = "nodes", .reason = "Forbidden", .message = "no"});
  const std::string text = writer.str(kNow);
  EXPECT_THAT(text, Not(HasSubstr("SECRET")));
  const Result<Dump> dump = load_dump(text);
  ASSERT_TRUE(dump.has_value()) << describe(dump.error());
  const Pod* pod = dump->cluster.pods().find("x", "plain");
  ASSERT_NE(pod, nullptr);
  const PodClues* clues = dump->clues.of(*pod);
  ASSERT_NE(clues, nullptr);
  EXPECT_EQ(clues->scheduler_says, "0/1 nodes are available");
  ASSERT_EQ(clues->containers.size(), 1u);
  EXPECT_EQ(clues->containers[0].visible_devices, 1);
  EXPECT_FALSE(dump->clues.knows("nodes"));
  EXPECT_TRUE(dump->clues.knows("pods"));
}

TEST(Dump, TakesAnOddPodAsItIs) {
  DumpWriter writer("x");
  EXPECT_TRUE(writer.add_list(kKind<Pod>, kWaiting).has_value());
}

TEST(Dump, HoldsThePolicyAndWhatItIsAbout) {
  DumpWriter writer;
  ASSERT_TRUE(writer.add_list(kKind<GPUClusterPolicy>, R"({"items":[{"metadata":{"name":"cluster"},
    "spec":{"pools":[{"name":"lab","nodeSelector":{"matchLabels":{"a":"b"}}}]}}]})"));
  ASSERT_TRUE(writer.add_list(kKind<Namespace>, R"({"items":[{"metadata":{"name":"x",
    "labels":{"team":"vision"},"annotations":{"a":"SECRET"}},"spec":{"finalizers":["f"]}}]})"));
  ASSERT_TRUE(writer.add_list(kKind<PriorityClass>, R"({"items":[{"metadata":{"name":"low"},
    "value":7,"preemptionPolicy":"Never","description":"SECRET"}]})"));
  ASSERT_TRUE(writer.add_list(kKind<ClusterPolicy>, R"({"items":[{"metadata":{"name":"c"},"spec":{
    "devicePlugin":{"config":{"name":"f","default":"d"},"env":["SECRET"]}}}]})"));
  const std::string text = writer.str(kNow);
  EXPECT_THAT(text, Not(HasSubstr("SECRET")));
  Result<Dump> dump = load_dump(text);
  ASSERT_TRUE(dump.has_value()) << describe(dump.error());
  EXPECT_EQ(dump->cluster.gpu_policies().find("cluster")->spec.pools.at(0).name, "lab");
  EXPECT_EQ(dump->cluster.namespaces().find("x")->meta.labels.get("team"), "vision");
  EXPECT_EQ(dump->cluster.priority_classes().find("low")->value, 7);
  EXPECT_EQ(dump->cluster.priority_classes().find("low")->preemption_policy, "Never");
  EXPECT_EQ(dump->cluster.cluster_policies().find("c")->device_plugin_config_map, "f");
}

// How many of the pods are kept with this node "n".
std::size_t pods_kept(const std::string& node, const std::string& pods) {
  DumpWriter writer;
  EXPECT_TRUE(writer.add_object(kKind<Node>, node).has_value());
  EXPECT_TRUE(writer.add_list(kKind<Pod>, R"({"items":[)" + pods + "]}").has_value());
  return writer.objects() - 1;
}

TEST(Dump, AGpuNodeIsKnownByAnyOfItsMarks) {
  constexpr char kPlain[] = R"({"metadata":{"name":"a"},"spec":{"nodeName":"n"}})";
  for (
      const char* mark :
      {R"("metadata":{"name":"n","labels":{"nvidia.com/gpu.count":"8"}})",
       R"("metadata":{"name":"n","labels":{"feature.node.kubernetes.io/pci-10de.present":"true"}})",
       R"("metadata":{"name":"n","annotations":{"gpu.berth.dev/hold":"x"}})",
       R"("metadata":{"name":"n"},"status":{"capacity":{"nvidia.com/mig-1g.5gb":"7"}})"})
    EXPECT_EQ(pods_kept("{" + std::string(mark) + "}", kPlain), 1U) << mark;
  EXPECT_EQ(pods_kept(R"({"metadata":{"name":"n","labels":{"a":"b"},"annotations":{"a":"b"}},
                          "status":{"capacity":{"cpu":"8"}}})",
                      kPlain),
            0U);
  EXPECT_EQ(pods_kept(R"({"metadata":{"name":"n"}})",
                      R"({"metadata":{"name":"n","annotations":{"gpu.berth.dev/hold":"x"}}},)" +
                          std::string(kPlain)),
            0U)
      << "a pod of the node's name makes nothing of the node";
}

TEST(Dump, APodAsksForGpusOrNamesAQueueInAnyWay) {
  const std::string node = R"({"metadata":{"name":"n"}})";
  for (const char* asks :
       {R"({"spec":{"resourceClaims":[{"name":"c"}]}})",
        R"({"spec":{"containers":[{},{"resources":{"requests":{"nvidia.com/mig-1g.5gb":"1"}}}]}})",
        R"({"spec":{"initContainers":[{"resources":{"requests":{"nvidia.com/gpu":"1"}}}]}})",
        R"({"spec":{"containers":[{"resources":{"requests":{
            "alpha.kubernetes.io/nvidia-gpu":"1"}}}]}})",
        R"({"metadata":{"labels":{"gpu.berth.dev/queue-name":"q"}}})"})
    EXPECT_EQ(pods_kept(node, asks), 1U) << asks;
  for (
      const char* asks_not :
      {R"({"spec":{"resourceClaims":"odd","containers":[{"resources":{"requests":{"cpu":"1"}}}]}})",
       R"({"metadata":{"labels":{"app":"q"},"annotations":{"gpu.berth.dev/queue-name":"q"}}})"})
    EXPECT_EQ(pods_kept(node, asks_not), 0U) << asks_not;
}

TEST(Dump, JobsAreKeptThatMayYetAskForGpusOrOwnAKeptPod) {
  const auto kept = [](const std::string& job, std::string ns = "") {
    DumpWriter writer(std::move(ns));
    EXPECT_TRUE(writer
                    .add_list(kKind<Pod>, R"({"items":[{"metadata":{"name":"a",
                        "labels":{"gpu.berth.dev/queue-name":"q"},
                        "ownerReferences":[{"kind":"Job","uid":"owner"},
                                           {"kind":"ReplicaSet","uid":"set"}]}}]})")
                    .has_value());
    EXPECT_TRUE(writer.add_object(kKind<Job>, job).has_value());
    return writer.objects() == 2;
  };
  const auto ended = [](const char* type, const char* status) {
    return R"({"metadata":{"labels":{"gpu.berth.dev/queue-name":"q"}},
        "status":{"conditions":[{"type":")" +
           std::string(type) + R"(","status":")" + status + "\"}]}}";
  };
  EXPECT_TRUE(kept(R"({"metadata":{"labels":{"gpu.berth.dev/queue-name":"q"}}})"));
  EXPECT_TRUE(kept(R"({"spec":{"template":{"spec":{"containers":[
      {"resources":{"requests":{"nvidia.com/gpu":1}}}]}}}})"));
  EXPECT_FALSE(kept(R"({"metadata":{"uid":"other"},"spec":{"template":{"spec":{}}}})"));
  EXPECT_TRUE(kept(R"({"metadata":{"uid":"owner"}})"));
  EXPECT_FALSE(kept(R"({"metadata":{"uid":"set"}})")) << "a ReplicaSet's pod is no Job's";
  EXPECT_TRUE(kept(R"({"metadata":{"namespace":"x"}})", "x"));
  EXPECT_FALSE(kept(R"({"metadata":{"namespace":"y"}})", "x"));
  EXPECT_FALSE(kept(ended("Complete", "True")));
  EXPECT_FALSE(kept(ended("Failed", "True")));
  EXPECT_TRUE(kept(ended("Failed", "False")));
  EXPECT_TRUE(kept(ended("Suspended", "True")));
}

TEST(Dump, AListThatIsNoneIsRefused) {
  DumpWriter writer;
  const auto fault = [&](const char* body) {
    const Result<std::string> added = writer.add_list(kKind<Node>, body);
    return added.has_value() ? "" : describe(added.error());
  };
  EXPECT_EQ(fault(R"({"items":null})"), "") << "as Go writes an empty one";
  EXPECT_EQ(fault("{}"), "");
  EXPECT_EQ(fault(R"({"items":{}})"), "nodes: items: a list is expected");
  EXPECT_EQ(fault("{\n\noops"), "nodes: is not JSON: line 3 can't be read");
  EXPECT_EQ(fault(R"({"items":["odd"]})"), "Node: is not a kind that snapshots hold");
  EXPECT_EQ(writer.objects(), 0U);
  const Result<void> one = writer.add_object(kKind<Node>, "oops");
  ASSERT_FALSE(one.has_value());
  EXPECT_THAT(describe(one.error()), HasSubstr("Node: is not JSON: line 1"));
}

TEST(Dump, HoldsWhatItIsWithoutAndWhatMakesPods) {
  DumpWriter writer;
  writer.add_unread({.resource = "nodes"});
  writer.add_unread({.resource = "pods"});
  constexpr KindInfo kDeployment{"apps", "v1", "deployments", "Deployment", true};
  ASSERT_TRUE(writer.add_object(kDeployment, R"({"metadata":{"name":"web","namespace":"x"}})"));
  ASSERT_TRUE(writer.add_object(kKind<Node>, R"({"metadata":{"name":"n"}})"));
  const Result<Dump> dump = load_dump(writer.str(kNow));
  ASSERT_TRUE(dump.has_value()) << describe(dump.error());
  ASSERT_EQ(dump->clues.unread.size(), 2U);
  EXPECT_EQ(dump->clues.unread[1].resource, "pods");
  ASSERT_EQ(dump->clues.workloads.size(), 1U);
  EXPECT_EQ(dump->clues.workloads[0].name, "web");
  EXPECT_NE(dump->cluster.nodes().find("n"), nullptr);
  EXPECT_TRUE(dump->clues.pods.empty()) << "none of these is a pod";
}

TEST(Dump, RefusesSecrets) {
  constexpr KindInfo kSecret{"", "v1", "secrets", "Secret", true};
  DumpWriter writer;
  Result<void> added = writer.add_object(kSecret, R"({"metadata":{"name":"s"},"data":{"a":"b"}})");
  ASSERT_FALSE(added.has_value());
  EXPECT_EQ(writer.objects(), 0u);
}

struct BadDump {
  const char* what;
  const char* text;
  const char* expected;
};

TEST(Dump, ABadOneIsRefusedWithThePlace) {
  const BadDump cases[] = {
      {"no JSON", "{\n\"kind\": oops}", "line 2"},
      {"empty", "", "is not JSON"},
      {"a manifest instead", R"({"apiVersion":"v1","kind":"Pod"})", "berth snapshot"},
      {"of berth's version and another kind",
       R"({"apiVersion":"snapshot.gpu.berth.dev/v1","kind":"Pod","items":[]})", "berth snapshot"},
      {"another's snapshot", R"({"apiVersion":"v1","kind":"Snapshot"})", "berth snapshot"},
      {"of a future berth", R"({"apiVersion":"snapshot.gpu.berth.dev/v2","kind":"Snapshot"})",
       "snapshot.gpu.berth.dev/v1"},
      {"without items", R"({"apiVersion":"snapshot.gpu.berth.dev/v1","kind":"Snapshot"})",
       "a list is expected"},
      {"without a time",
       R"({"apiVersion":"snapshot.gpu.berth.dev/v1","kind":"Snapshot","items":[]})", "takenAt"},
      {"a kind that has no business there",
       R"({"apiVersion":"snapshot.gpu.berth.dev/v1","kind":"Snapshot",
           "takenAt":"2026-11-21T12:00:00Z","items":[{"kind":"Secret","metadata":{"name":"x"}}]})",
       "items[0] (Secret/x)"},
      {"and what has",
       R"({"apiVersion":"snapshot.gpu.berth.dev/v1","kind":"Snapshot",
           "takenAt":"2026-11-21T12:00:00Z","items":[{"kind":"Secret"}]})",
       ", PriorityClass, ResourceQuota, Deployment, ReplicaSet, "},
      {"a lease of the wrong type",
       R"({"apiVersion":"snapshot.gpu.berth.dev/v1","kind":"Snapshot",
           "takenAt":"2026-11-21T12:00:00Z",
           "items":[{"kind":"Lease","metadata":{"name":"l"},"spec":{"holderIdentity":7}}]})",
       "items[0] (Lease/l)"},
      {"a field of the wrong type",
       R"({"apiVersion":"snapshot.gpu.berth.dev/v1","kind":"Snapshot",
           "takenAt":"2026-11-21T12:00:00Z",
           "items":[{"kind":"Node","metadata":{"name":"n"},"spec":{"unschedulable":"yes"}}]})",
       "unschedulable"},
      {"an object without a name",
       R"({"apiVersion":"snapshot.gpu.berth.dev/v1","kind":"Snapshot",
           "takenAt":"2026-11-21T12:00:00Z","items":[{"kind":"Node","metadata":{}}]})",
       "metadata.name"},
      {"an item that is no object",
       R"({"apiVersion":"snapshot.gpu.berth.dev/v1","kind":"Snapshot",
           "takenAt":"2026-11-21T12:00:00Z","items":[7]})",
       "items[0]"},
  };
  for (const BadDump& c : cases) {
    Result<Dump> dump = load_dump(c.text);
    ASSERT_FALSE(dump.has_value()) << c.what;
    EXPECT_THAT(describe(dump.error()), HasSubstr(c.expected)) << c.what;
  }
}

}  // namespace
}  // namespace berth
