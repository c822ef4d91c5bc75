// SPDX-License-Identifier: Apache-2.0
// Nothing that a user can apply, or a server can send, may crash the controller: every reader of
// foreign bytes is given good inputs that were broken at random. The sanitizers judge; the seed is
// fixed, so what fails once fails again. BERTH_FUZZ_SEED=7 build/dev/fuzz_test looks elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "apis/decode.h"
#include "apis/manifest.h"
#include "controller/client/kubeconfig_file.h"
#include "controller/client/watch_frames.h"
#include "controller/core/snapshot.h"
#include "controller/mig/agent_config.h"
#include "controller/mig/allocatable.h"
#include "controller/mig/layout.h"
#include "controller/mig/node_facts.h"
#include "controller/mig/rollout_annotation.h"
#include "controller/mig/slots.h"
#include "controller/reconcilers/reconcile.h"
#include "tests/apis/protobuf_writer.h"
#include "tests/fuzz/http_check.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/review_check.h"

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

std::vector<std::string> reviews() {
  std::vector<std::string> bodies;
  for (const auto& file : std::filesystem::directory_iterator(
           std::filesystem::path(BERTH_SOURCE_DIR) / "tests/data/reviews")) {
    std::ostringstream text;
    text << std::ifstream(file.path()).rdbuf();
    bodies.push_back(text.str());
  }
  std::ranges::sort(bodies);
  return bodies;
}

std::vector<std::string> manifests() {
  std::vector<std::string> documents;
  for (const char* file : {"good_manifests.yaml", "bad_manifests.yaml"}) {
    std::ifstream in(std::filesystem::path(BERTH_SOURCE_DIR) / "tests/data" / file);
    std::ostringstream text;
    text << in.rdbuf();
    const std::string all = text.str();
    for (std::size_t from = 0; from < all.size();) {
      const std::size_t to = std::min(all.find("\n---\n", from), all.size());
      documents.push_back(all.substr(from, to - from));
      from = to + 5;
    }
  }
  return documents;
}

std::uint64_t seed() {
  const char* given = std::getenv("BERTH_FUZZ_SEED");
  return given == nullptr ? 1 : std::strtoull(given, nullptr, 10);
}

void each(int count, std::vector<std::string> corpus,
          const std::function<void(std::string)>& read) {
  ASSERT_FALSE(corpus.empty());
  Mutator mutator(std::move(corpus), seed());
  for (int i = 0; i < count; ++i) {
    std::string input = mutator.next();
    try {
      read(input);
    } catch (const std::exception& error) {
      FAIL() << "input " << i << " throws " << error.what() << ":\n" << input.substr(0, 2000);
    }
  }
}

template <class T>
auto decodes() {
  return [](std::string text) { (void)decode_object<T>(text); };
}

// What is read from a node's own text.
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

TEST(Mutation, Pods) { each(20'000, {kPod}, decodes<Pod>()); }

TEST(Mutation, Layouts) {
  each(2'500, {kLayout}, [](std::string text) {
    if (Result<MIGLayout> layout = decode_object<MIGLayout>(text)) (void)check_rules(*layout);
  });
}

TEST(Mutation, WatchEventsAndPages) {
  each(
      10'000,
      {R"({"type":"MODIFIED","object":)" + kNode + "}",
       R"({"type":"BOOKMARK","object":{"kind":"Node","metadata":{"resourceVersion":"9",)"
       R"("annotations":{"k8s.io/initial-events-end":"true"}}}})",
       R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"old"}})"},
      [](std::string text) { (void)decode_watch_event<Node>(text); });
  each(2'500,
       {R"({"kind":"PodList","metadata":{"resourceVersion":"9","continue":"x"},"items":[)" + kPod +
        "," + kPod + "]}"},
       [](std::string text) { (void)decode_list<Pod>(text); });
}

TEST(Mutation, Protobuf) {
  int good = 0;
  each(20'000, {protobuf_event("MODIFIED", "Node", kNode)}, [&good](std::string bytes) {
    const Result<WatchEvent<Node>> event = decode_watch_event<Node>(bytes, Encoding::kProtobuf);
    if (!event) return;
    look_at(event->object);
    ++good;
  });
  EXPECT_GT(good, 500) << "too few get past the decoder";
  each(
      10'000,
      {protobuf_event("ADDED", "Pod", kPod),
       protobuf_event(
           "BOOKMARK", "Pod",
           R"({"metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}})"),
       protobuf_event("ERROR", "Status", R"({"code":410,"reason":"Expired","message":"old"})")},
      [](std::string bytes) { (void)decode_watch_event<Pod>(bytes, Encoding::kProtobuf); });
  each(2'500,
       {protobuf_body("PodList", R"({"metadata":{"continue":"x"},"items":[)" + kPod + "]}"),
        protobuf_body("Status", R"({"code":504,"details":{"causes":[{"reason":"a"}]}})")},
       [](std::string bytes) {
         (void)decode_list<Pod>(bytes);
         (void)decode_status(504, bytes);
       });
}

TEST(Mutation, KindsOfSmallVolume) {
  each(
      2'500,
      {R"({"metadata":{"name":"j","namespace":"a"},"spec":{"backoffLimit":6,"podFailurePolicy":{"rules":[)"
       R"({"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget"}]}]}},"status":{"failed":1}})"},
      decodes<Job>());
  each(2'500,
       {R"({"metadata":{"name":"b","namespace":"a"},"spec":{"selector":{"matchLabels":{"a":"b"}}},)"
        R"("status":{"disruptionsAllowed":0,"currentHealthy":1,"desiredHealthy":1}})"},
       decodes<PodDisruptionBudget>());
  each(
      2'500,
      {R"({"metadata":{"name":"berth-node-slots","annotations":{"gpu.berth.dev/epoch":"3"}},"data":{"n1":)"
       R"("{\"uid\":\"u-n1\",\"holder\":\"MIGLayout/small\",\"seq\":3,\"epoch\":1,\"since\":\"2026-11-21T12:00:00Z\"}"}})"},
      [](std::string text) {
        if (Result<ConfigMap> map = decode_object<ConfigMap>(text)) {
          (void)read_ledger(&*map);
          (void)claim_epoch(&*map, Settings());
        }
      });
}

TEST(Mutation, ARolloutThatCanBeReadIsWrittenAsItIsRead) {
  each(12'000, {kRollout}, [](std::string text) {
    const std::optional<NodeRollout> read = decode_rollout(text);
    if (!read) return;
    const std::string written = encode_rollout(*read);
    const std::optional<NodeRollout> again = decode_rollout(written);
    ASSERT_TRUE(again) << written;
    EXPECT_EQ(encode_rollout(*again), written);
  });
}

TEST(Mutation, Manifests) {
  each(1'000, manifests(), [](std::string text) {
    for (const ManifestDocument& document : parse_manifest(text, "a.yaml").documents)
      (void)decode_strict(document, "a.yaml");
  });
}

TEST(Mutation, AdmissionReviews) {
  for (const std::string& body : reviews()) EXPECT_EQ(check_review(body), "");
  each(4'000, reviews(), [](std::string text) {
    const std::string wrong = check_review(text);
    EXPECT_EQ(wrong, "") << text;
  });
}

TEST(Mutation, WhatClientsSayToAServer) {
  using namespace std::string_literals;
  const std::vector<std::string> corpus = {
      "\0\5GET /a?b HTTP/1.1\r\nHost: h\r\nConnection: keep-alive\r\n\r\n"
      "POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\nok"s,
      "\1\5\0\0\3\1\5\0\0\0\1\x82\x84\x87\0\0\6\1\4\0\0\0\3\x83\x84\x87\x5c\1\x31\0\0\1\0\1\0\0\0\3x"s};
  for (const std::string& said : corpus) EXPECT_EQ(check_http(said), "");
  each(4'000, corpus, [](std::string text) { EXPECT_EQ(check_http(text), ""); });
}

TEST(Mutation, Kubeconfigs) {
  each(2'000,
       {"apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: "
        "c, user: u}}]\n"
        "clusters:\n- name: c\n  cluster: {server: 'https://h:6443', certificate-authority-data: "
        "LS0tLQ==}\n"
        "users:\n- name: u\n  user: {token: t, as-groups: [a], client-key-data: LS0tLQ==}\n"},
       [](std::string text) { (void)parse_kubeconfig(text, "/a/config"); });
}

TEST(Mutation, AnAgentsFileThatCanBeReadCanBeWritten) {
  each(2'000,
       {"version: v1\nmig-configs:\n  all-disabled:\n  - devices: all\n    mig-enabled: false\n"
        "  custom:\n  - device-filter: [\"0x20B210DE\"]\n    devices: [0, 1]\n    mig-enabled: "
        "true\n"
        "    mig-devices:\n      \"1g.10gb\": 7\n"},
       [](std::string text) {
         const Result<MigConfigs> read = parse_file(text);
         if (!read) return;
         const Result<std::string> written = render_file(*read);
         ASSERT_TRUE(written) << text;
         const Result<MigConfigs> again = parse_file(*written);
         ASSERT_TRUE(again) << describe(again.error()) << "\n" << *written;
         EXPECT_EQ(*again, *read);
       });
}

TEST(Mutation, AStreamIsCutIntoTheSameLinesHoweverItsBytesCome) {
  each(2'000, {kNode + "\n" + kPod + "\n\n" + kLayout + "\n"}, [](std::string text) {
    std::vector<std::string> whole, parts;
    const auto into = [](std::vector<std::string>& lines) {
      return [&lines](std::string& line) {
        lines.push_back(line);
        return true;
      };
    };
    WatchFrames at_once, in_parts;
    ASSERT_TRUE(at_once.feed(text, into(whole)));
    const std::size_t step = 1 + text.size() % 97;
    for (std::size_t from = 0; from < text.size(); from += step)
      ASSERT_TRUE(in_parts.feed(std::string_view(text).substr(from, step), into(parts)));
    EXPECT_EQ(whole, parts);
  });
}

TEST(Mutation, Values) {
  const auto read = [](std::string text) {
    if (Result<Quantity> quantity = Quantity::parse(text)) (void)quantity->as_whole();
    if (Result<IntOrPercent> budget = IntOrPercent::parse(text)) (void)budget->of(8);
    (void)parse_time(text);
    (void)parse_duration(text);
    (void)strip_alias(text);
  };
  each(30'000,
       {"95500m", "512Gi", "1e3", "25%", "3", "2026-11-21T12:00:00.123456Z", "1h30m0.5s",
        "berth-a-0123abcd-r2"},
       read);
}

// Whatever stands in the cluster, every reconciler makes a plan of it.
TEST(Mutation, ReconcilersOfABrokenCluster) {
  Mutator nodes({kNode}, seed()), pods({kPod}, seed()), layouts({kLayout}, seed()),
      annotations({kRollout}, seed());
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
