// SPDX-License-Identifier: Apache-2.0
// Scenario files: what they come to, and what is said of those that are wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/scenario/scenario.h"
#include "tests/support/places.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr char kWhole[] = R"(name: everything
description: each field once
nodes:
- {count: 3, product: A100-80GB, gpus: 2, labels: {tier: inference}}
- {name: lonely, cordoned: true, annotations: {a: b}}
workloads:
- {name: chat, replicas: 3, resource: nvidia.com/gpu, count: 1, budget: {minAvailable: 2}}
- {kind: Job, namespace: search, name: rank, nodeSelector: {tier: inference}, toleratesGPU: false}
objects:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: y}}
timeline:
- at: 10s
  apply:
    apiVersion: gpu.berth.dev/v1alpha1
    kind: MIGLayout
    metadata: {name: a100}
- {at: 1m, edit: pdb/team-a/chat, patch: {spec: {minAvailable: 1}}}
- {whenPhase: Applying, node: n2, after: 3s, crash: leader}
- {at: 90s, label: n1, set: {tier: batch, gone: null}}
- {at: 2m, agent-fault: n3, fault: wedge, times: 1}
- {at: 2m, add-node: n9, product: H100-80GB, gpus: 8}
- {at: 3m, cordon: n9}
- {at: 3m, lag: berth-1, by: 20s}
- {at: 3m, compact: true}
- {at: 4m, delete: node/n1}
kube: {podStop: 5s, bindLagMin: 10ms}
agents: {applyTime: 30s, strategy: single}
settings: {verifyFor: 1m}
berths: 2
limit: 1h
expect: {a100: True, other: False NodeFailed}
)";

Scenario parsed(const std::string& yaml) {
  Result<Scenario> scenario = parse_scenario(yaml, "s.yaml");
  EXPECT_TRUE(scenario.has_value()) << (scenario ? "" : describe(scenario.error()));
  return scenario ? *std::move(scenario) : Scenario{};
}

TEST(ParseScenario, ReadsTheCluster) {
  const Scenario s = parsed(kWhole);
  EXPECT_EQ(s.name, "everything");
  ASSERT_EQ(s.nodes.size(), 2u);
  EXPECT_THAT(node_names(s.nodes[0]), ElementsAre("n1", "n2", "n3"));
  EXPECT_EQ(s.nodes[0].like.product, "NVIDIA-A100-SXM4-80GB") << "from the short name";
  EXPECT_EQ(s.nodes[0].like.gpus, 2);
  EXPECT_THAT(node_names(s.nodes[1]), ElementsAre("lonely")) << "without count: of this name";
  EXPECT_TRUE(s.nodes[1].like.cordoned);
  ASSERT_EQ(s.workloads.size(), 2u);
  EXPECT_EQ(s.workloads[0].budget, "minAvailable: 2");
  EXPECT_EQ(s.workloads[1].kind, ScenarioWorkload::Kind::kJob);
  EXPECT_FALSE(s.workloads[1].tolerates_gpu);
  EXPECT_THAT(s.objects, ElementsAre(HasSubstr("ConfigMap")));
}

TEST(ParseScenario, ReadsWhatActorsAndBerthAreSetTo) {
  const Scenario s = parsed(kWhole);
  EXPECT_EQ(s.kube.pod_stop, 5s);
  EXPECT_EQ(s.kube.bind_lag_min, 10ms);
  EXPECT_EQ(s.agents.apply_time, 30s);
  EXPECT_EQ(s.agents.strategy, "single");
  EXPECT_EQ(s.settings.verify_for, 1min);
  EXPECT_EQ(s.settings.settle, Settings{}.settle) << "what is absent keeps its default";
  EXPECT_EQ(s.berths, 2);
  EXPECT_EQ(s.limit, 1h);
  EXPECT_THAT(s.expect, ElementsAre(Pair("a100", "True"), Pair("other", "False NodeFailed")));
}

TEST(ParseScenario, ReadsTheTimeline) {
  const Scenario s = parsed(kWhole);
  ASSERT_EQ(s.timeline.size(), 10u);
  EXPECT_EQ(s.timeline[0].at, 10s);
  EXPECT_THAT(s.timeline[0].manifest, HasSubstr("MIGLayout"));
  EXPECT_EQ(s.timeline[1].target, "poddisruptionbudgets/team-a/chat");
  EXPECT_EQ(s.timeline[1].args.at("patch"), R"({"spec":{"minAvailable":1}})");
  EXPECT_EQ(s.timeline[2].when_phase, "Applying");
  EXPECT_EQ(s.timeline[2].after, 3s);
  EXPECT_EQ(s.timeline[2].target, "berth/leader");
  EXPECT_EQ(s.timeline[2].args.at("node"), "n2");
  EXPECT_EQ(s.timeline[3].args.at("set"), R"({"gone":null,"tier":"batch"})");
  EXPECT_EQ(s.timeline[4].args.at("fault"), "wedge");
  EXPECT_EQ(s.timeline[6].target, "node/n9") << "which is added before";
  EXPECT_EQ(s.timeline[7].target, "berth/1");
  EXPECT_EQ(s.timeline[7].args.at("by"), "20s");
}

TEST(ParseScenario, ObjectsOfAFileAreFoundBesideTheScenario) {
  const std::string examples = test::source_dir() + "/examples/";
  const Result<Scenario> s = parse_scenario(
      "nodes: [{count: 1}]\ntimeline: [{at: 1s, apply: {file: miglayout-a100-mixed.yaml}}]",
      examples + "scenario.yaml");
  ASSERT_TRUE(s.has_value()) << describe(s.error());
  EXPECT_THAT(s->timeline[0].manifest, HasSubstr("name: inference-a100"));
}

struct Bad {
  const char* what;
  const char* yaml;
  const char* error;
};

TEST(ParseScenario, SaysWhatIsWrongWhereAndWhatToWrite) {
  const Bad table[] = {
      {"no document", "", "s.yaml: a scenario is one YAML document; there are 0 here"},
      {"two documents", "nodes: [{count: 1}]\n---\nnodes: [{count: 1}]\n", "there are 2 here"},
      {"no map", "- a\n", "must be a map"},
      {"broken YAML", "nodes: [\n", "s.yaml:"},
      {"no nodes", "name: x\n", "nodes: is required"},
      {"a misspelt field", "nodes: [{count: 1}]\nworkload: []\n",
       "s.yaml:2: workload: unknown field; did you mean workloads?"},
      {"a misspelt field of a node", "nodes:\n- {cuont: 3}\n",
       "s.yaml:2: nodes[0].cuont: unknown field; did you mean count?"},
      {"a number out of bounds", "nodes: [{count: 0}]", "must be a whole number from 1 to 1000"},
      {"a text for a number", "nodes: [{count: three}]", "must be a whole number"},
      {"an unknown product", "nodes: [{product: NVIDIA-A100-SXM4-80GBB}]",
       "did you mean NVIDIA-A100-SXM4-80GB?"},
      {"a name that no node can have", "nodes: [{name: N_1}]", "lower case letters"},
      {"two nodes of one name", "nodes: [{name: n, count: 2}, {name: n2}]",
       "n2 is the name of two nodes"},
      {"a label that is no text", "nodes: [{labels: {a: 1}}]", "a must be text"},
      {"a budget that is none", "nodes: [{}]\nworkloads: [{name: a, budget: {min: 1}}]",
       "write minAvailable or maxUnavailable"},
      {"a workload without a name", "nodes: [{}]\nworkloads: [{replicas: 1}]",
       "workloads[0].name: is required"},
      {"a kind of workload that is not played", "nodes: [{}]\nworkloads: [{name: a, kind: Jobb}]",
       "did you mean Job?"},
      {"an object of a kind that is not served", "nodes: [{}]\nobjects: [{kind: Deployment}]",
       "the simulation serves no Deployment"},
      {"a duration without unit", "nodes: [{}]\nkube: {podStop: 5}", "must be a duration"},
      {"lags the wrong way round", "nodes: [{}]\nkube: {bindLagMin: 9s}",
       "must not be less than bindLagMin"},
      {"an incident without a time", "nodes: [{}]\ntimeline: [{crash: berth-0}]",
       "say when: either at: 90s, or whenPhase: Applying"},
      {"an incident with two times",
       "nodes: [{}]\ntimeline: [{at: 1s, whenPhase: Idle, crash: berth-0}]", "say when"},
      {"a phase there is not", "nodes: [{}]\ntimeline: [{whenPhase: Aplying, crash: berth-0}]",
       "did you mean Applying?"},
      {"nothing that happens", "nodes: [{}]\ntimeline: [{at: 1s}]", "names nothing that happens"},
      {"a misspelt verb", "nodes: [{}]\ntimeline: [{at: 1s, crsh: berth-0}]",
       "is no verb; did you mean crash?"},
      {"two verbs", "nodes: [{}]\ntimeline: [{at: 1s, crash: berth-0, cordon: n1}]",
       "one incident does one thing"},
      {"an argument of another verb", "nodes: [{}]\ntimeline: [{at: 1s, cordon: n1, fault: fail}]",
       "timeline[0].fault: unknown field"},
      {"an argument that is missing", "nodes: [{}]\ntimeline: [{at: 1s, agent-fault: n1}]",
       "fault: is required by agent-fault"},
      {"a fault there is not", "nodes: [{}]\ntimeline: [{at: 1s, agent-fault: n1, fault: lies}]",
       "did you mean lie?"},
      {"a node there is not", "nodes: [{count: 2}]\ntimeline: [{at: 1s, cordon: n3}]",
       "there is no node n3; did you mean"},
      {"a berth there is not", "nodes: [{}]\ntimeline: [{at: 1s, crash: berth-1}]",
       "there is no berth-1: berths is 1"},
      {"a product there is not", "nodes: [{}]\ntimeline: [{at: 1s, add-node: x, product: A100}]",
       "timeline[0].product: \"A100\" is unknown"},
      {"a pod without its namespace", "nodes: [{}]\ntimeline: [{at: 1s, evict: chat}]",
       "must name a pod"},
      {"a use of more than there is",
       "nodes: [{}]\ntimeline: [{at: 1s, use: team-a/chat, percent: 101}]",
       "percent: must be a whole number from 0 to 100"},
      {"a use of what is not said", "nodes: [{}]\ntimeline: [{at: 1s, use: team-a/chat}]",
       "percent: is required by use"},
      {"an object without a kind", "nodes: [{}]\ntimeline: [{at: 1s, delete: chat}]",
       "write KIND/NAME"},
      {"an object of no known kind", "nodes: [{}]\ntimeline: [{at: 1s, delete: mglayout/x}]",
       "did you mean miglayout?"},
      {"a namespaced object without one", "nodes: [{}]\ntimeline: [{at: 1s, delete: pod/x}]",
       "write pod/NAMESPACE/NAME"},
      {"a namespace where none is", "nodes: [{}]\ntimeline: [{at: 1s, delete: node/a/b}]",
       "has no namespace"},
      {"a patch that is no map", "nodes: [{}]\ntimeline: [{at: 1s, edit: node/n1, patch: 3}]",
       "patch: must be a map"},
      {"a manifest without a kind", "nodes: [{}]\ntimeline: [{at: 1s, apply: {a: b}}]",
       "needs apiVersion, kind and metadata.name"},
      {"a file that is not there", "nodes: [{}]\ntimeline: [{at: 1s, apply: {file: gone.yaml}}]",
       "gone.yaml cannot be read"},
      {"a target where none belongs", "nodes: [{}]\ntimeline: [{at: 1s, compact: n1}]",
       "takes nothing; write true"},
      {"an expectation that is none", "nodes: [{}]\nexpect: {a: Ready}",
       "what Ready is at the end"},
      {"too many berths", "nodes: [{}]\nberths: 9", "from 0 to 3"},
  };
  for (const Bad& bad : table) {
    const Result<Scenario> scenario = parse_scenario(bad.yaml, "s.yaml");
    ASSERT_FALSE(scenario.has_value()) << bad.what;
    EXPECT_THAT(describe(scenario.error()), HasSubstr(bad.error)) << bad.what;
  }
}

TEST(ParseScenario, TellsEverythingThatIsWrongAtOnce) {
  const Result<Scenario> scenario =
      parse_scenario("nodes:\n- {gpus: 0}\nberths: none\ntimelin: []\n", "s.yaml");
  ASSERT_FALSE(scenario.has_value());
  const std::string text = describe(scenario.error());
  EXPECT_THAT(text, HasSubstr("s.yaml:2: nodes[0].gpus"));
  EXPECT_THAT(text, HasSubstr("s.yaml:3: berths"));
  EXPECT_THAT(text, HasSubstr("s.yaml:4: timelin"));
}

TEST(ParseScenario, ReadsTheWebhook) {
  const Scenario s = parsed(
      "nodes: [{count: 1}]\n"
      "webhook: {replicas: 2, failurePolicy: Ignore, timeout: 2s, reinvoked: true}\n"
      "timeline:\n- {at: 1s, crash: webhook-1}\n- {at: 2s, freeze: webhooks}\n");
  EXPECT_EQ(s.webhook.replicas, 2);
  EXPECT_TRUE(s.webhook.ignored);
  EXPECT_TRUE(s.webhook.reinvoked);
  EXPECT_EQ(s.webhook.timeout, 2s);
  EXPECT_EQ(s.timeline[0].target, "webhook/1");
  EXPECT_EQ(s.timeline[1].target, "webhook/all");
  EXPECT_EQ(parsed("nodes: [{count: 1}]\nwebhook: {}").webhook.replicas, 1);
  EXPECT_EQ(parsed("nodes: [{count: 1}]").webhook.replicas, 0);
}

TEST(ParseScenario, AWebhookThatIsNotThereIsTold) {
  const Result<Scenario> wrong =
      parse_scenario("timeline:\n- {at: 1s, crash: webhook-0}\n", "s.yaml");
  ASSERT_FALSE(wrong.has_value());
  EXPECT_THAT(wrong.error().message, HasSubstr("there is no webhook-0: webhook.replicas is 0"));
}

}  // namespace
}  // namespace berth
