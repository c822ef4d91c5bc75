// SPDX-License-Identifier: Apache-2.0
// The claims in the comments above the examples' pods, word for word: the webhook's repairs and
// refusals, and the answers of `berth why` for pods that it does not review.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apis/codec/decode.h"
#include "controller/core/snapshot.h"
#include "controller/explain/explain_pod.h"
#include "controller/fleet/pools.h"
#include "tests/admission/review_case.h"
#include "tests/examples/example.h"

namespace berth::test {
namespace {

using Json = nlohmann::json;

constexpr char kMutations[] = "/metadata/annotations/gpu.berth.dev~1mutations";

struct Order {
  Request request;
  std::string template_path;  // the path of its pod
};

// In the form of the API server: for a Deployment, the pods of its ReplicaSet.
Order order_of(const ManifestDocument& document) {
  Json object = Json::parse(document.json);
  const std::string ns = object["metadata"]["namespace"];
  if (document.kind == "Deployment") object = object["spec"]["template"];
  Order order{.request = {.object = object.dump(), .ns = ns}, .template_path = ""};
  if (document.kind == "Job") {
    order.request.group = "batch";
    order.request.kind = "Job";
    order.template_path = "/spec/template";
  }
  return order;
}

std::string unquoted(const std::string& json) {
  return json == "absent" ? "" : Json::parse(json).get<std::string>();
}

void expect_admission(const Example& example, const ClusterState& cluster) {
  const Order order = order_of(example.document);
  const Answer mutated = ask(kMutate, order.request, cluster);
  std::string refused = mutated.allowed ? "" : mutated.message;
  std::string added;
  std::vector<std::string> warnings = mutated.warnings;
  if (mutated.allowed) {
    added = unquoted(at(mutated.object, order.template_path + kMutations));
    Request again = order.request;
    again.object = mutated.object;
    EXPECT_EQ(ask(kMutate, again, cluster).patch, "") << "once is enough";
    const Answer judged = ask(kValidate, again, cluster);
    refused = judged.allowed ? "" : judged.message;
    warnings.insert(warnings.end(), judged.warnings.begin(), judged.warnings.end());
  }
  EXPECT_EQ(refused, example.claim("refused"));
  EXPECT_EQ(refused.empty() ? added : "", example.claim("added"));
  EXPECT_EQ(warnings.empty() ? "" : warnings.front(), example.claim("warned"));
  EXPECT_LE(warnings.size(), 1U);
}

// Like the API server: a limit without a request sets the request.
Pod pod_of(const ManifestDocument& document) {
  Json object = Json::parse(document.json);
  for (Json& container : object["spec"]["containers"])
    if (container.contains("resources"))
      container["resources"]["requests"] = container["resources"]["limits"];
  std::string json = object.dump();
  Result<Pod> pod = decode_object<Pod>(json);
  if (!pod) throw std::runtime_error(describe(pod.error()));
  pod->meta.uid = "uid-" + pod->meta.name;
  return *std::move(pod);
}

// For a pending pod, which is removed again.
Explanation explain(const Pod& pod, ClusterState& cluster) {
  cluster.upsert(pod, Time());
  const Answers answers;
  const Settings settings;
  const Snapshot snapshot{
      .cluster = cluster, .answers = answers, .settings = settings, .offline = true};
  const std::string_view ns = pod.meta.namespace_.view();
  const Explanation explanation = explain_pod(snapshot, *cluster.pods().find(ns, pod.meta.name));
  cluster.erase<Pod>(ns, pod.meta.name);
  return explanation;
}

void expect_why(const Example& example, const Explanation& explanation) {
  EXPECT_EQ(explanation.message, example.claim("why"));
  std::string helps;
  if (!explanation.remedies.empty()) {
    helps = explanation.remedies.front().message;
    std::string line = explanation.remedies.front().line;
    if (const std::size_t end = line.find('\n'); end != line.npos) line.replace(end, 1, "; ");
    if (!line.empty()) helps += ": " + line;
  }
  EXPECT_EQ(helps, example.claim("helps"));
}

// Every object that creates pods; `least` ensures that the file was read completely.
void expect_claims(const std::string& path, const ClusterState& cluster, std::size_t least) {
  std::size_t seen = 0;
  for (const Example& example : read_examples(path)) {
    SCOPED_TRACE(path + ": " + example.document.name);
    expect_admission(example, cluster);
    ++seen;
  }
  EXPECT_GE(seen, least);
}

TEST(ExamplePods, OfEachTierLandInItsPool) {
  ClusterState cluster = cluster_of({"tiers/policy.yaml"});
  add_pool_node(cluster, "t1", "training", "nvidia.com/gpu", 8);
  add_pool_node(cluster, "i1", "inference", "nvidia.com/gpu.shared", 16);
  add_pool_node(cluster, "d1", "development", "nvidia.com/gpu.shared", 32);
  expect_claims("tiers/workloads.yaml", cluster, 3);
}

TEST(ExamplePods, AreAdmittedForWhatALayoutPromises) {
  ClusterState cluster = cluster_of({"mig-inference/policy.yaml", "mig-inference/layout.yaml"});
  add_pool_node(cluster, "i1", "inference", "nvidia.com/gpu", 4);
  expect_claims("mig-inference/servers.yaml", cluster, 3);
}

ClusterState make_tenants() {
  ClusterState cluster = cluster_of(
      {"multi-tenant/policy.yaml", "multi-tenant/layout.yaml", "multi-tenant/tenants.yaml"});
  add_pool_node(cluster, "w1", "whole", "nvidia.com/gpu", 8);
  add_pool_node(cluster, "m1", "sliced", "nvidia.com/mig-1g.10gb", 14);
  add_pool_node(cluster, "s1", "shared", "nvidia.com/gpu.shared", 16);
  return cluster;
}

TEST(ExamplePods, OfTenantsGetWhatTheirPlanIncludes) {
  ClusterState cluster = make_tenants();
  expect_claims("multi-tenant/orders/pods.yaml", cluster, 5);
}

TEST(ExampleQuotas, AreZeroForExactlyWhatTheCatalogCloses) {
  const ClusterState cluster = make_tenants();
  const std::vector<CatalogEntry>& catalog = find_policy(cluster)->spec.resource_catalog;
  std::size_t quotas = 0;
  for (const Example& example : read_examples("multi-tenant/tenants.yaml")) {
    if (example.document.kind != "ResourceQuota") continue;
    const Json quota = Json::parse(example.document.json);
    const std::string ns = quota["metadata"]["namespace"];
    const Json& hard = quota["spec"]["hard"];
    EXPECT_EQ(hard.size(), catalog.size()) << ns;
    for (const CatalogEntry& entry : catalog) {
      Request order = pod(asks(entry.resource, 1));
      order.ns = ns;
      const std::string key = "requests." + entry.resource;
      ASSERT_TRUE(hard.contains(key)) << ns << " " << key;
      EXPECT_EQ(ask(kValidate, order, cluster).allowed, hard[key] > 0) << ns << " " << key;
    }
    ++quotas;
  }
  EXPECT_EQ(quotas, 3U);
}

TEST(ExamplePods, TheFifthNotebookIsToldThatTheGpuIsFull) {
  ClusterState cluster = cluster_of({"time-slicing-lab/lab.yaml"});
  add_pool_node(cluster, "lab-1", "lab", "nvidia.com/gpu", 4);
  const std::vector<Example> notebooks = read_examples("time-slicing-lab/notebooks.yaml");
  ASSERT_EQ(notebooks.size(), 5U);
  for (std::size_t i = 0; i < 4; ++i) {
    Pod running = pod_of(notebooks[i].document);
    running.node_name = "lab-1";
    running.phase = PodPhase::kRunning;
    cluster.upsert(running, Time());
  }
  expect_why(notebooks[4], explain(pod_of(notebooks[4].document), cluster));
}

ClusterState make_mistakes() {
  ClusterState cluster = cluster_of({"mistakes/policy.yaml"});
  add_pool_node(cluster, "t1", "training", "nvidia.com/gpu", 4);
  add_pool_node(cluster, "t2", "training", "nvidia.com/gpu", 4);
  add_pool_node(cluster, "l1", "lab", "nvidia.com/gpu.shared", 16);
  return cluster;
}

TEST(ExampleMistakes, AreAnsweredByTheWebhookAsTheirCommentsSay) {
  ClusterState cluster = make_mistakes();
  add_pool_node(cluster, "p1", "production", "nvidia.com/gpu", 4);
  expect_claims("mistakes/pods.yaml", cluster, 10);
}

TEST(ExampleMistakes, AreExplainedWhereTheWebhookIsNotAsked) {
  ClusterState cluster = make_mistakes();
  std::size_t seen = 0;
  for (const Example& example : read_examples("mistakes/pods.yaml")) {
    if (!example.claims.contains("why")) continue;
    SCOPED_TRACE(example.document.name);
    Pod unseen = pod_of(example.document);
    unseen.meta.namespace_ = "legacy";
    expect_why(example, explain(unseen, cluster));
    ++seen;
  }
  EXPECT_GE(seen, 5U);
}

}  // namespace
}  // namespace berth::test
