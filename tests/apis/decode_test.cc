// SPDX-License-Identifier: Apache-2.0
// The API server's bytes, as they come and as they should not.
#include "apis/decode.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

// A pod as the API server sends it, shortened; what berth skips stands between what it reads.
constexpr char kPod[] =
    R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"train-0","generateName":"train-","namespace":"vision",
"uid":"6fe9d087","resourceVersion":"4711","generation":2,"creationTimestamp":"2026-11-21T14:22:49Z",
"deletionTimestamp":"2026-11-21T15:00:00Z","deletionGracePeriodSeconds":30,
"labels":{"app":"train","gpu.berth.dev/pod-group":"g\u0031"},
"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"a\":[1]}","gpu.berth.dev/last-checkpoint":"2026-11-21T14:00:00Z",
"cluster-autoscaler.kubernetes.io/safe-to-evict":"false"},
"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"train","uid":"77","controller":true,"blockOwnerDeletion":true}],
"finalizers":["batch.kubernetes.io/job-tracking"],
"managedFields":[{"manager":"kubelet","operation":"Update","fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:app":{}}}}}]},
"spec":{"volumes":[{"name":"c","configMap":{"name":"x"}},{"name":"tmp","emptyDir":{}}],
"initContainers":[{"name":"proxy","restartPolicy":"Always","resources":{"requests":{"cpu":"100m"}}},
{"name":"fetch","resources":{"requests":{"cpu":"3","memory":"1Gi"},"limits":{"cpu":"4"}}}],
"containers":[{"name":"a","image":"i","env":[{"name":"X","value":"}]\"{["}],"resources":{"limits":{"nvidia.com/gpu":"2"},"requests":{"cpu":"500m","memory":"2Gi","nvidia.com/gpu":"2"}}},
{"name":"b","resources":{}},{"name":"c","resources":{"requests":{"cpu":"250m"}}}],
"restartPolicy":"Never","terminationGracePeriodSeconds":60,"nodeSelector":{"tier":"gold"},"nodeName":"n1","schedulerName":"default-scheduler",
"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"In","values":["a","b"]}],
"matchFields":[{"key":"metadata.name","operator":"NotIn","values":["n9"]}]}]}},"podAffinity":{"x":1}},
"schedulingGates":[{"name":"gpu.berth.dev/queue"}],"resourceClaims":[{"name":"gpu"}],
"tolerations":[{"key":"nvidia.com/gpu","operator":"Exists","effect":"NoSchedule"}],"priority":-5,"overhead":{"cpu":"10m"}},
"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"startTime":"2026-11-21T14:23:00Z","podIP":"10.0.0.1"}})";

constexpr char kNode[] =
    R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n1","uid":"u1","resourceVersion":"9","labels":{"nvidia.com/gpu.count":"4"},
"annotations":{"gpu.berth.dev/mig-rollout":"{\"seq\":1}","volumes.kubernetes.io/controller-managed-attach-detach":"true"}},
"spec":{"podCIDR":"10.0.0.0/24","unschedulable":true,"taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule","timeAdded":"2026-11-21T14:22:49Z"}]},
"status":{"capacity":{"cpu":"64","nvidia.com/gpu":"4"},"allocatable":{"cpu":"63500m","memory":"263Gi","nvidia.com/gpu":"0","nvidia.com/mig-1g.10gb":"14"},
"conditions":[{"type":"MemoryPressure","status":"False"},{"type":"Ready","status":"True"},{"type":"DiskPressure","status":"True"}],
"nodeInfo":{"machineID":"m","bootID":"b-1"},"images":[{"names":["x"],"sizeBytes":12345}]}})";

template <class T>
Result<T> decode(std::string body) {
  return decode_object<T>(body);
}

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

TEST(DecodeNode, KeepsWhatDecisionsNeed) {
  Result<Node> node = decode<Node>(kNode);
  ASSERT_TRUE(node.has_value()) << describe(node.error());
  EXPECT_TRUE(node->cordoned());
  EXPECT_TRUE(node->ready);
  EXPECT_EQ(node->boot_id, "b-1");
  EXPECT_EQ(node->taints,
            (std::vector<Taint>{{"node.kubernetes.io/unschedulable", "", "NoSchedule"}}));
  EXPECT_EQ(node->allocatable.get("nvidia.com/mig-1g.10gb").as_whole(), 14);
  ASSERT_NE(node->allocatable.find("nvidia.com/gpu"), nullptr) << "a zero count lingers visibly";
  EXPECT_EQ(node->capacity.get("nvidia.com/gpu").as_whole(), 4);
  EXPECT_EQ(node->meta.annotations, (StringMap{{"gpu.berth.dev/mig-rollout", "{\"seq\":1}"}}));

  EXPECT_EQ(decode<Node>(R"({"spec":{}})")->unschedulable, std::nullopt);
  EXPECT_EQ(decode<Node>(R"({"spec":{"unschedulable":false}})")->unschedulable,
            std::optional(false));
  EXPECT_FALSE(
      decode<Node>(R"({"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}})")->ready);
}

struct WrongCase {
  const char* body;
  const char* where;
  const char* says;
};

TEST(DecodePod, NamesThePathOfAWrongType) {
  const WrongCase cases[] = {
      {R"({"spec":{"containers":[{},{"resources":{"requests":{"cpu":{}}}}]}})",
       "spec.containers[1].resources.requests.cpu", "must be a quantity, is an object"},
      {R"({"spec":{"containers":[{"resources":{"requests":{"nvidia.com/gpu":"two"}}}]}})",
       "spec.containers[0].resources.requests.nvidia.com/gpu", "not a quantity"},
      {R"({"spec":{"containers":{}}})", "spec.containers", "must be a list, is an object"},
      {R"({"spec":{"containers":["x"]}})", "spec.containers[0]", "must be an object, is a string"},
      {R"({"metadata":{"labels":{"a":1}}})", "metadata.labels.a", "must be a string, is a number"},
      {R"({"metadata":{"labels":[]}})", "metadata.labels", "must be an object, is a list"},
      {R"({"metadata":{"generation":"2"}})", "metadata.generation", "must be a whole number"},
      {R"({"metadata":{"generation":2.5}})", "metadata.generation", "must be a whole number"},
      {R"({"metadata":{"creationTimestamp":"today"}})", "metadata.creationTimestamp", "not a time"},
      {R"({"metadata":{"ownerReferences":[{"controller":"yes"}]}})",
       "metadata.ownerReferences[0].controller", "true or false"},
      {R"({"spec":{"priority":9999999999}})", "spec.priority", "32 bits"},
      {R"({"spec":{"tolerations":[{"key":{}}]}})", "spec.tolerations[0].key", "must be a string"},
      {R"({"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"operator":"Near"}]}]}}}}})",
       "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
       "nodeSelectorTerms[0].matchExpressions[0].operator",
       "no operator"},
      {R"({"status":{"phase":7}})", "status.phase", "must be a string"},
      {R"({"spec":true})", "spec", "must be an object"},
  };
  for (const WrongCase& c : cases) {
    Result<Pod> pod = decode<Pod>(c.body);
    ASSERT_FALSE(pod.has_value()) << c.body;
    EXPECT_EQ(pod.error().where, c.where);
    EXPECT_NE(pod.error().message.find(c.says), std::string::npos) << pod.error().message;
    EXPECT_EQ(pod.error().kind, ErrorKind::kDecode);
  }
  for (const char* body : {"", "{", "[]", "7", "\"x\"", "{\"a\"}", "{\"a\":}", "nul",
                           "{\"metadata\":{}", "\xFF\xFE", "{\"a\":\"\x01\"}x"}) {
    EXPECT_FALSE(decode<Pod>(body).has_value()) << body;
  }
}

TEST(DecodeNode, NamesThePathOfAWrongType) {
  const WrongCase cases[] = {
      {R"({"spec":{"taints":[{"effect":1}]}})", "spec.taints[0].effect", "must be a string"},
      {R"({"spec":{"unschedulable":"true"}})", "spec.unschedulable", "true or false"},
      {R"({"status":{"allocatable":{"nvidia.com/gpu":[]}}})", "status.allocatable.nvidia.com/gpu",
       "a quantity"},
      {R"({"status":{"nodeInfo":{"bootID":1}}})", "status.nodeInfo.bootID", "a string"},
      {R"({"status":{"conditions":[{"type":{}}]}})", "status.conditions[0].type", "a string"},
  };
  for (const WrongCase& c : cases) {
    Result<Node> node = decode<Node>(c.body);
    ASSERT_FALSE(node.has_value()) << c.body;
    EXPECT_EQ(node.error().where, c.where);
    EXPECT_NE(node.error().message.find(c.says), std::string::npos) << node.error().message;
  }
}

TEST(DecodeWatch, ReadsEveryTypeOfEvent) {
  auto event_of = [](const std::string& type, const std::string& object) {
    return R"({"type":")" + type + R"(","object":)" + object + "}";
  };
  std::string line = event_of("MODIFIED", kPod) + "\n";
  Result<WatchEvent<Pod>> event = decode_watch_event<Pod>(line);
  ASSERT_TRUE(event.has_value()) << describe(event.error());
  EXPECT_EQ(event->type, WatchEvent<Pod>::Type::kModified);
  EXPECT_EQ(event->object, *decode<Pod>(kPod));

  line = std::string(R"({"object":)") + kPod + R"(,"type":"DELETED"})";
  event = decode_watch_event<Pod>(line);
  ASSERT_TRUE(event.has_value()) << "the order of the fields does not matter: "
                                 << describe(event.error());
  EXPECT_EQ(event->type, WatchEvent<Pod>::Type::kDeleted);

  line = event_of(
      "BOOKMARK",
      R"({"kind":"Pod","metadata":{"resourceVersion":"99","annotations":{"k8s.io/initial-events-end":"true"}},"spec":{"containers":null}})");
  event = decode_watch_event<Pod>(line);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->type, WatchEvent<Pod>::Type::kBookmark);
  EXPECT_EQ(event->object.meta.resource_version, "99");
  EXPECT_TRUE(event->initial_events_end);

  line = event_of("BOOKMARK", R"({"metadata":{"resourceVersion":"100"}})");
  EXPECT_FALSE(decode_watch_event<Job>(line)->initial_events_end);

  line = event_of(
      "ERROR",
      R"({"kind":"Status","status":"Failure","message":"too old resource version","reason":"Expired","code":410})");
  event = decode_watch_event<Pod>(line);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->type, WatchEvent<Pod>::Type::kError);
  EXPECT_EQ(event->error.kind, ErrorKind::kGone);
  EXPECT_EQ(event->error.http_code, 410);

  for (const char* bad : {R"({"type":"ADDED"})", R"({"object":{}})",
                          R"({"type":"MOVED","object":{}})", R"({"type":7,"object":{}})",
                          R"({"type":"ADDED","object":[]})", R"({"type":"ERROR","object":7})",
                          R"({"type":"ADDED","object":{"metadata":{}})", "{}", ""}) {
    std::string pod_line = bad, job_line = bad;
    EXPECT_FALSE(decode_watch_event<Pod>(pod_line).has_value()) << bad;
    EXPECT_FALSE(decode_watch_event<Job>(job_line).has_value()) << bad;
  }
}

TEST(DecodeWatch, SurvivesTruncationAtEveryByte) {
  std::string whole = std::string(R"({"type":"ADDED","object":)") + kPod + "}";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::string line = whole.substr(0, size);
    line.shrink_to_fit();
    EXPECT_FALSE(decode_watch_event<Pod>(line).has_value()) << "cut after " << size;
  }
  std::string node = kNode;
  for (std::size_t size = 0; size < node.size(); ++size) {
    EXPECT_FALSE(decode<Node>(node.substr(0, size)).has_value()) << "cut after " << size;
  }
}

TEST(DecodeWatch, SurvivesAnyByteChanged) {
  std::string whole = std::string(R"({"type":"ADDED","object":)") + kPod + "}";
  for (std::size_t at = 0; at < whole.size(); at += 2) {
    for (char c : {'"', '}', ',', '\\', '\0'}) {
      std::string line = whole;
      line[at] = c;
      (void)decode_watch_event<Pod>(line).has_value();
    }
  }
}

TEST(DecodeWatch, NestingIsNoDanger) {
  for (const char* open : {"[", "{\"a\":"}) {
    std::string deep = R"({"type":"ADDED","object":{"metadata":{"managedFields":)";
    for (int i = 0; i < 50'000; ++i) deep += open;
    std::string again = deep;
    EXPECT_FALSE(decode_watch_event<Pod>(deep).has_value());
    EXPECT_FALSE(decode_watch_event<ConfigMap>(again).has_value());
  }
}

TEST(DecodeList, ReadsPagesAndNamesTheItem) {
  std::string body =
      std::string(
          R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"12","continue":"tok","remainingItemCount":5},"items":[)") +
      kPod + "," + kPod + "]}\n";
  Result<ListPage<Pod>> page = decode_list<Pod>(body);
  ASSERT_TRUE(page.has_value()) << describe(page.error());
  EXPECT_EQ(page->resource_version, "12");
  EXPECT_EQ(page->continue_token, "tok");
  ASSERT_EQ(page->items.size(), 2u);
  EXPECT_EQ(page->items[1], *decode<Pod>(kPod));

  body = R"({"metadata":{"resourceVersion":"1"},"items":null})";
  EXPECT_TRUE(decode_list<Pod>(body)->items.empty());
  body = R"({"metadata":{},"items":[{},{"spec":{"priority":"x"}}]})";
  EXPECT_EQ(decode_list<Pod>(body).error().where, "items[1].spec.priority");
  body = R"({"metadata":{},"items":[{},{"spec":{"backoffLimit":"x"}}]})";
  EXPECT_EQ(decode_list<Job>(body).error().where, "items[1].spec.backoffLimit");

  std::string large = R"({"metadata":{"resourceVersion":"1"},"items":[)";
  for (int i = 0; i < 300; ++i) large += std::string(i == 0 ? "" : ",") + kPod;
  large += "]}";
  EXPECT_EQ(decode_list<Pod>(large)->items.size(), 300u) << "beyond the event parser's size";
}

TEST(DecodeSmall, ReadsTheOtherKinds) {
  auto budget = decode<PodDisruptionBudget>(
      R"({"metadata":{"name":"b","namespace":"n"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"a":"b"},
    "matchExpressions":[{"key":"c","operator":"Exists"}]}},"status":{"disruptionsAllowed":1,"currentHealthy":3,"desiredHealthy":2,"expectedPods":3,"observedGeneration":4}})");
  ASSERT_TRUE(budget.has_value()) << describe(budget.error());
  EXPECT_EQ(format(*budget->selector), "a=b,c");
  EXPECT_EQ(budget->disruptions_allowed, 1);
  EXPECT_EQ(budget->current_healthy, 3);
  EXPECT_EQ(budget->observed_generation, 4);
  EXPECT_FALSE(decode<PodDisruptionBudget>(R"({"spec":{}})")->selector.has_value());
  EXPECT_TRUE(decode<PodDisruptionBudget>(R"({"spec":{"selector":{}}})")->selector->empty());

  auto job = decode<Job>(
      R"({"spec":{"suspend":true,"backoffLimit":0,"parallelism":4,"podFailurePolicy":{"rules":[
    {"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget","status":"True"}]}]}},"status":{"failed":2}})");
  EXPECT_TRUE(job->suspended);
  EXPECT_EQ(job->backoff_limit, 0);
  EXPECT_EQ(job->failed, 2);
  EXPECT_TRUE(job->ignores_disruptions);
  EXPECT_EQ(decode<Job>("{}")->backoff_limit, 6);
  EXPECT_FALSE(
      decode<Job>(R"({"spec":{"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{}},
    {"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget"}]}]}}})")
          ->ignores_disruptions)
      << "an exit code decides first";

  auto map = decode<ConfigMap>(
      R"({"metadata":{"annotations":{"any":"kept"}},"data":{"config.yaml":"a\nb"}})");
  EXPECT_EQ(map->data.at("config.yaml"), "a\nb");
  EXPECT_EQ(map->meta.annotations.get("any"), "kept");

  auto set = decode<DaemonSet>(
      R"({"spec":{"template":{"spec":{"volumes":[{"configMap":{"name":"m"}},{"emptyDir":{}}],"nodeSelector":{"a":"b"},
    "tolerations":[{"operator":"Exists"}]}}}})");
  EXPECT_EQ(set->config_map_volumes, std::vector<Text>{"m"});
  EXPECT_EQ(set->tolerations.size(), 1u);

  auto policy = decode<ClusterPolicy>(
      R"({"spec":{"mig":{"strategy":"mixed"},"migManager":{"config":{"name":"c"}}}})");
  EXPECT_EQ(policy->mig_strategy, "mixed");
  EXPECT_EQ(policy->mig_manager_config_map, "c");

  auto lease = decode<Lease>(
      R"({"spec":{"holderIdentity":"me","leaseDurationSeconds":15,"renewTime":"2026-11-21T14:22:49.123456Z","leaseTransitions":3}})");
  EXPECT_EQ(format_micro_time(*lease->renew_time), "2026-11-21T14:22:49.123456Z");
  EXPECT_FALSE(lease->acquire_time.has_value());

  EXPECT_EQ(decode<ConfigMap>(R"({"data":{"k":1}})").error().where, "data.k");
  EXPECT_EQ(decode<Job>(R"({"spec":{"podFailurePolicy":{"rules":7}}})").error().where,
            "spec.podFailurePolicy.rules");
  EXPECT_EQ(decode<Lease>(R"({"spec":{"leaseTransitions":99999999999}})").error().where,
            "spec.leaseTransitions");
  EXPECT_EQ(decode<Lease>(R"({"spec":{"leaseTransitions":18446744073709551615}})").error().where,
            "spec.leaseTransitions");
}

TEST(DecodeLayout, FillsDefaultsAndNamesFaults) {
  auto layout = decode<MIGLayout>(
      R"({"metadata":{"name":"l","generation":3},"spec":{"future":1,"nodeSelector":{},"devices":[
    {"gpus":[0,1],"profiles":{"3g.40gb":2}},{"profiles":{}}],"rollout":{"maxUnavailable":"10%","order":"Name"},"drain":{"timeout":"90s",
    "waitForCompletion":{"podSelector":{"matchLabels":{"a":"b"}}}},"capacityGuard":{"minAvailable":{"nvidia.com/gpu":2}}},
    "status":{"observedGeneration":2,"nodes":{"selected":8,"inProgress":1},"capacity":{"nvidia.com/gpu":4},"configs":[{"product":"p","name":"n"}],
    "details":[{"node":"n1","phase":"Draining","since":"2026-11-21T14:22:49Z"}],
    "conditions":[{"type":"Ready","status":"False","reason":"r","message":"m","observedGeneration":2,"lastTransitionTime":"2026-11-21T14:22:49Z"}]}})");
  ASSERT_TRUE(layout.has_value()) << describe(layout.error());
  MIGLayoutSpec expected;
  expected.node_selector.emplace();
  expected.devices = {{.gpus = {{0, 1}}, .profiles = {{"3g.40gb", 2}}}, {}};
  expected.rollout.max_unavailable = {10, true};
  expected.rollout.order = RolloutOrder::kName;
  expected.drain.timeout = std::chrono::seconds(90);
  expected.drain.wait_for_completion.emplace().pod_selector.match_labels = {{"a", "b"}};
  expected.capacity_guard.min_available = {{"nvidia.com/gpu", 2}};
  EXPECT_EQ(layout->spec, expected);
  EXPECT_EQ(layout->status.nodes.selected, 8);
  EXPECT_EQ(layout->status.capacity.at("nvidia.com/gpu"), 4);
  ASSERT_EQ(layout->status.conditions.size(), 1u);
  EXPECT_EQ(
      encode_status(layout->status),
      R"({"observedGeneration":2,"configHash":"","configs":[{"product":"p","name":"n"}],"nodes":{"selected":8,"updated":0,"inProgress":1,)"
      R"("blocked":0,"failed":0,"pending":0},"capacity":{"nvidia.com/gpu":4},"details":[{"node":"n1","phase":"Draining","since":"2026-11-21T14:22:49Z"}],)"
      R"("conditions":[{"type":"Ready","status":"False","observedGeneration":2,"lastTransitionTime":"2026-11-21T14:22:49Z","reason":"r","message":"m"}]})");

  EXPECT_EQ(
      decode<MIGLayout>(R"({"spec":{"devices":[{"gpus":[99],"profiles":{}}]}})").error().where,
      "spec.devices[0].gpus[0]");
  EXPECT_EQ(decode<MIGLayout>(R"({"spec":{"devices":[{"profiles":{}}],"drain":{"scope":"Some"}}})")
                .error()
                .where,
            "spec.drain.scope");
  EXPECT_EQ(decode<MIGLayout>(R"({"spec":{"devices":[{"profiles":{}}],"drain":{"timeout":7}}})")
                .error()
                .where,
            "spec.drain.timeout");
}

struct StatusCase {
  const char* what;
  int code;
  const char* body;
  ErrorKind kind;
  const char* says;
};

TEST(DecodeStatus, TellsKindsByCodeAndReason) {
  const StatusCase cases[] = {
      {"not found", 404,
       R"({"kind":"Status","reason":"NotFound","message":"pods \"x\" not found","code":404})",
       ErrorKind::kNotFound, "not found"},
      {"already exists", 409,
       R"({"kind":"Status","reason":"AlreadyExists","message":"m","code":409})",
       ErrorKind::kAlreadyExists, "m"},
      {"conflict", 409, R"({"kind":"Status","reason":"Conflict","message":"m","code":409})",
       ErrorKind::kConflict, "m"},
      {"expired", 410, R"({"kind":"Status","reason":"Expired","message":"m","code":410})",
       ErrorKind::kGone, "m"},
      {"a failed JSON patch test", 422,
       R"({"kind":"Status","reason":"Invalid","message":"the server rejected our request due to an error in our request","details":{},"code":422})",
       ErrorKind::kConflict, "rejected"},
      {"an object the server refuses", 422,
       R"({"kind":"Status","reason":"Invalid","message":"m","details":{"causes":[{"reason":"FieldValueInvalid","message":"bad","field":"spec.x"}]},"code":422})",
       ErrorKind::kInvalid, "m"},
      {"a budget that closes", 429,
       R"({"kind":"Status","reason":"TooManyRequests","message":"m","details":{"causes":[{"reason":"DisruptionBudget","message":"d"}],"retryAfterSeconds":10},"code":429})",
       ErrorKind::kThrottled, "m"},
      {"two budgets", 500,
       R"({"kind":"Status","message":"This pod has more than one PodDisruptionBudget","code":500})",
       ErrorKind::kServer, "more than one"},
      {"too large a resource version", 504,
       R"({"kind":"Status","reason":"Timeout","message":"m","details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}]},"code":504})",
       ErrorKind::kTimeout, "m"},
      {"unauthorized", 401,
       R"({"kind":"Status","reason":"Unauthorized","message":"Unauthorized","code":401})",
       ErrorKind::kUnauthorized, "Unauthorized"},
      {"forbidden", 403, R"({"kind":"Status","reason":"Forbidden","message":"m","code":403})",
       ErrorKind::kForbidden, "m"},
      {"a proxy's page", 502, "<html><body>Bad Gateway</body></html>", ErrorKind::kUnavailable,
       "the server answered 502 (bad gateway)"},
      {"a plain text", 429, "Too many requests, please try again later.\n", ErrorKind::kThrottled,
       "please try again later."},
      {"nothing at all", 503, "", ErrorKind::kUnavailable, "503 (service unavailable)"},
      {"a 422 of somebody else", 422, "{}", ErrorKind::kInvalid, "422"},
      {"another object", 500, R"({"kind":"Pod"})", ErrorKind::kServer, "500"},
      {"wrong types inside", 500, R"({"kind":"Status","message":7,"details":[],"code":"x"})",
       ErrorKind::kServer, "answered 500"},
      {"a bad request", 400, R"({"kind":"Status","reason":"BadRequest","message":"m","code":400})",
       ErrorKind::kBadRequest, "m"},
  };
  for (const StatusCase& c : cases) {
    Error error = decode_status(c.code, c.body);
    EXPECT_EQ(to_string(error.kind), std::string(to_string(c.kind))) << c.what;
    EXPECT_NE(error.message.find(c.says), std::string::npos) << c.what << ": " << error.message;
    EXPECT_EQ(error.http_code, c.code);
  }
  Error budget = decode_status(429, cases[6].body);
  ASSERT_EQ(budget.causes.size(), 1u);
  EXPECT_EQ(budget.causes[0].reason, "DisruptionBudget");
  EXPECT_EQ(budget.retry_after, std::chrono::seconds(10));
  EXPECT_EQ(decode_status(504, cases[8].body).causes[0].reason, "ResourceVersionTooLarge");
}

}  // namespace
}  // namespace berth
