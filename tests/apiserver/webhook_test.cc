// SPDX-License-Identifier: Apache-2.0
// The webhook as the API server calls it: its messages to users, an unavailable webhook, and its
// certificates, which the certificate manager process creates and replaces during calls.
#include <fmt/format.h>

#include <atomic>
#include <set>
#include <thread>

#include "tests/apiserver/webhook_fixture.h"
#include "tests/support/certs.h"
#include "tests/support/exposition.h"
#include "tests/support/promtool.h"

namespace berth::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kOneGpu[] = R"("limits": {"nvidia.com/gpu": "1"})";
constexpr char kMutations[] = "gpu.berth.dev/mutations";

using Webhook = WebhookTest;

TEST_F(Webhook, RepairsRefusesAndWarnsAndLeavesOthersAlone) {
  start_with_a_pool();

  // It is repaired, as is a dry run of it, which stores nothing; a second review changes nothing.
  const Reply dry = create_pod("gpu-team", pod("train", kOneGpu), true);
  ASSERT_EQ(dry.status, 201) << dry.body.dump();
  EXPECT_FALSE(kube().find({"pods", "train", "gpu-team"}).has_value());
  const Reply made = create_pod("gpu-team", pod("train", kOneGpu));
  ASSERT_EQ(made.status, 201) << made.body.dump();
  EXPECT_THAT(made.body.annotation(kMutations), HasSubstr("tolerations nvidia.com/gpu"));
  EXPECT_THAT(made.body.at("/spec/tolerations").dump(), HasSubstr("nvidia.com/gpu"));
  EXPECT_THAT(made.body.at("/spec/affinity").dump(), HasSubstr("gpu.berth.dev/pool"));
  EXPECT_EQ(dry.body.at("/spec").dump(), made.body.at("/spec").dump());
  const Reply again = create_pod(
      "gpu-team",
      fmt::format(R"({{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "again",)"
                  R"( "annotations": {}}}, "spec": {}}})",
                  made.body.at("/metadata/annotations").dump(), made.body.at("/spec").dump()),
      true);
  ASSERT_EQ(again.status, 201) << again.body.dump();
  EXPECT_EQ(again.body.at("/spec").dump(), made.body.at("/spec").dump());
  EXPECT_EQ(again.body.annotation(kMutations), made.body.annotation(kMutations));

  // Refusals with helpful messages; warnings.
  const Reply unknown =
      create_pod("gpu-team", pod("wrong", R"("limits": {"nvidia.com/mig-9g.99gb": "1"})"));
  EXPECT_EQ(unknown.status, 403) << unknown.body.dump();
  EXPECT_THAT(unknown.body.text("/message"),
              HasSubstr(R"(admission webhook "pods.gpu.berth.dev" denied the request)"));
  EXPECT_THAT(unknown.body.text("/message"), HasSubstr("nvidia.com/mig-9g.99gb"));
  const Reply thief = create_pod(
      "gpu-team",
      pod("thief", "", R"("volumes": [{"name": "d", "hostPath": {"path": "/dev/nvidia0"}}],)"));
  EXPECT_EQ(thief.status, 403) << thief.body.dump();
  const Reply none = create_pod("gpu-team", pod("none", R"("limits": {"nvidia.com/gpu": "0"})"));
  EXPECT_EQ(none.status, 201) << none.body.dump();
  EXPECT_THAT(none.warnings, Contains(HasSubstr("nvidia.com/gpu")));
  const Reply misspelt = create_pod(
      "gpu-team", pod("misspelt", kOneGpu, R"("nodeSelector": {"gpu.berth.dev/pool": "traning"},)"),
      true);
  EXPECT_EQ(misspelt.status, 201) << misspelt.body.dump();
  EXPECT_THAT(misspelt.warnings, Contains(HasSubstr("did you mean training?")));

  // A user who applies a key that the chart does not allow gets a warning.
  const Reply labelled = kube().send(
      "PATCH", "/apis/gpu.berth.dev/v1alpha1/gpuclusterpolicies/cluster?dryRun=All",
      R"({"spec": {"pools": [{"name": "training", "nodeSelector": {"matchLabels": )"
      R"({"kubernetes.io/hostname": "n1"}}, "labels": {"gpu.example.com/tier": "x"}}]}})",
      "application/merge-patch+json");
  EXPECT_TRUE(labelled.ok()) << labelled.body.dump();
  EXPECT_THAT(
      labelled.warnings,
      Contains(HasSubstr("--reset-then-reuse-values --set 'nodeKeys={gpu.example.com/tier}'")));

  // A Job is refused at once, instead of its pods one after the other.
  const auto job = [](const char* name, const char* resource) {
    return fmt::format(
        R"({{"apiVersion": "batch/v1", "kind": "Job", "metadata": {{"name": "{}"}}, "spec": {{)"
        R"("template": {{"spec": {{"restartPolicy": "Never", "containers": [{{"name": "main",)"
        R"( "image": "x", "resources": {{"limits": {{"{}": "1"}}}}}}]}}}}}}}})",
        name, resource);
  };
  const std::string jobs = "/apis/batch/v1/namespaces/gpu-team/jobs?dryRun=All";
  const Reply good_job = kube().send("POST", jobs, job("good", "nvidia.com/gpu"));
  EXPECT_THAT(good_job.body.at("/spec/template/spec/tolerations").dump(),
              HasSubstr("nvidia.com/gpu"))
      << good_job.body.dump();
  const Reply bad_job = kube().send("POST", jobs, job("bad", "nvidia.com/mig-9g.99gb"));
  EXPECT_THAT(bad_job.body.text("/message"), HasSubstr("jobs.gpu.berth.dev"));

  // The API server does not call it for pods without GPUs, and in a namespace that has not opted
  // in.
  for (const auto& [ns, resources] :
       std::vector<std::pair<std::string, std::string>>{{"gpu-team", ""}, {"team-a", kOneGpu}}) {
    const Reply reply = create_pod(ns, pod("other", resources), true);
    ASSERT_EQ(reply.status, 201) << reply.body.dump();
    EXPECT_EQ(reply.body.annotation(kMutations), "") << ns;
  }
  EXPECT_THAT(refused_to_berth(), IsEmpty());

  const std::string metrics = scrape_webhook();
  EXPECT_GT(Exposition(metrics).count(R"(berth_webhook_requests_total{operation="CREATE")"), 0u)
      << metrics;
  EXPECT_EQ(Exposition(metrics).count("workqueue"), 0u) << metrics;
  if (has_promtool()) {
    EXPECT_EQ(lint_metrics(metrics), "");
  }
}

TEST_F(Webhook, WhileItIsAwayOnlyManagedGpuPodsWait) {
  start_with_a_pool();
  kill_webhook();
  const Reply closed = create_pod("gpu-team", pod("train", kOneGpu), true);
  EXPECT_EQ(closed.status, 500) << closed.body.dump();
  EXPECT_THAT(closed.body.text("/message"), HasSubstr("failed calling webhook"));
  EXPECT_EQ(create_pod("gpu-team", pod("cpu", ""), true).status, 201);
  EXPECT_EQ(create_pod("team-a", pod("gpu", kOneGpu), true).status, 201);
  apply({});  // the CRDs' rules apply to berth's own kinds

  // 10,000 creates by four clients, while the webhook restarts: half of them CPU pods in managed
  // namespaces, half of them GPU pods in a namespace that has not opted in. They are dry runs,
  // which the server takes through everything but its store.
  constexpr int kClients = 4, kEach = 2'500;
  std::atomic<int> created = 0;
  std::vector<std::string> failures(kClients);
  std::vector<std::thread> clients;
  for (int client = 0; client < kClients; ++client)
    clients.emplace_back([&, client] {
      Kube own(plane().kube().credentials());
      const bool managed = client % 2 == 0;
      const std::string path = std::string("/api/v1/namespaces/") +
                               (managed ? "gpu-team" : "team-a") + "/pods?dryRun=All";
      for (int i = 0; i < kEach && failures[client].empty(); ++i) {
        const Reply reply =
            own.send("POST", path, pod(fmt::format("p{}-{}", client, i), managed ? "" : kOneGpu));
        if (reply.status == 201)
          ++created;
        else
          failures[client] = reply.body.dump() + reply.error;
      }
    });
  int restarts = 0;
  while (created < kClients * kEach &&
         std::all_of(failures.begin(), failures.end(),
                     [](const std::string& failure) { return failure.empty(); })) {
    start_webhook();
    ++restarts;
    std::this_thread::sleep_for(milliseconds(400));
    kill_webhook();
    std::this_thread::sleep_for(milliseconds(100));
  }
  for (std::thread& client : clients) client.join();
  EXPECT_THAT(failures, Each(IsEmpty()));
  EXPECT_EQ(created, kClients * kEach);
  EXPECT_GT(restarts, 3);
  kube().remove({"miglayouts", "inference-a100"});
}

TEST_F(Webhook, AStopTakesLeaveOfTheApiServerAndFailsNoCall) {
  start_with_a_pool();
  std::atomic<bool> ended = false;
  std::atomic<int> calls = 0;
  std::string failure;
  std::thread client([&] {
    Kube own(plane().kube().credentials());
    while (!ended && failure.empty()) {
      const Reply reply =
          own.send("POST", "/api/v1/namespaces/gpu-team/pods?dryRun=All", pod("train", kOneGpu));
      if (reply.status != 201) failure = reply.body.dump();
      ++calls;
    }
  });
  webhook().signal(SIGTERM);
  const int before = calls;
  wait_until("calls while it takes its leave", seconds(30),
             [&] { return calls > before + 5 || !failure.empty() ? "" : "too few"; });
  ended = true;
  client.join();
  EXPECT_EQ(failure, "");
  EXPECT_EQ(webhook().wait(seconds(60)), 0);
}

// The API server knows both authorities, in either order: with each change it drops its
// connections, and makes a new handshake with the served certificate.
TEST_F(Webhook, AHundredRotationsUnderCallsFailNone) {
  Authority first, second;
  const std::string name = "berth-webhook.berth-system.svc";
  set_bundles(first.certificate() + second.certificate());
  const KeyPair begin = first.issue_server({name});
  mount(begin.certificate, begin.key);
  start_webhook();
  wait_answering();

  std::atomic<bool> over = false;
  std::atomic<int> calls = 0;
  std::vector<std::string> failures(3);
  std::vector<std::thread> clients;
  for (std::string& failure : failures)
    clients.emplace_back([&] {
      Kube own(plane().kube().credentials());
      while (!over && failure.empty()) {
        const Reply reply =
            own.send("POST", "/api/v1/namespaces/gpu-team/pods?dryRun=All", pod("train", kOneGpu));
        if (reply.status != 201) failure = reply.body.dump() + reply.error;
        ++calls;
      }
    });
  const auto served = [&] {
    const std::string log = webhook().log_text();
    int times = 0;
    for (std::size_t at = 0; (at = log.find("serving a certificate", at)) != log.npos; ++at)
      ++times;
    return times;
  };
  const int began = served();
  for (int rotation = 0; rotation < 100; ++rotation) {
    const int before = served();
    Authority& issuer = rotation % 2 == 0 ? second : first;
    const KeyPair next = issuer.issue_server({name});
    mount(next.certificate, next.key);
    if (rotation % 5 == 0)
      set_bundles(rotation % 2 == 0 ? second.certificate() + first.certificate()
                                    : first.certificate() + second.certificate());
    for (int looks = 0; looks < 500 && served() == before; ++looks)
      std::this_thread::sleep_for(milliseconds(20));
  }
  over = true;
  for (std::thread& client : clients) client.join();
  EXPECT_THAT(failures, Each(IsEmpty()));
  EXPECT_GT(calls, 100);
  EXPECT_EQ(served(), began + 100);
}

TEST_F(Webhook, WhatPeopleDeleteOrWipeComesBack) {
  start_with_a_pool();
  const std::vector<std::string> before = bundles();
  ASSERT_EQ(before.size(), 5u);
  EXPECT_THAT(before, Each(before[0]));
  EXPECT_THAT(before[0], HasSubstr("BEGIN CERTIFICATE"));

  const auto wait_bundles = [&](const char* what, const auto& good) {
    wait_for(what, 20, [&]() -> std::string {
      for (const std::string& bundle : bundles())
        if (!good(bundle)) return "\"" + bundle + "\"";
      return "";
    });
  };
  wait_for("the keeper to have nothing left to do", 30,
           [&]() -> std::string { return keepers_readiness() == 200 ? "" : "not ready"; });
  set_bundles("");
  wait_bundles("the wiped bundles", [&](const std::string& now) { return now == before[0]; });
  wait_answering();

  // The authority that all clients know signs a new leaf.
  kube().remove({"secrets", "berth-webhook-tls", "berth-system"});
  mount_secret();
  wait_answering();
  EXPECT_EQ(bundles()[0], before[0]);

  // A lost authority is replaced; the leaf of the first one stays trusted.
  kube().remove({"secrets", "berth-webhook-ca", "berth-system"});
  wait_bundles("both authorities", [&](const std::string& now) {
    return now.size() > before[0].size() && now.ends_with(before[0]);
  });
  start_webhook();
  wait_answering();
  EXPECT_THAT(refused_to_berth(), IsEmpty());

  // Without its rights it reports so, and continues once it has them again.
  const std::string role = "/apis/rbac.authorization.k8s.io/v1/clusterroles/berth-certificates";
  const Object rights = kube().send("GET", role).body.at("/rules");
  kube().send("PATCH", role, R"({"rules": []})", "application/merge-patch+json");
  wait_for("the keeper to be at a loss", 30,
           [&]() -> std::string { return keepers_readiness() == 503 ? "" : "it is ready"; });
  kube().send("PATCH", role, "{\"rules\": " + rights.dump() + "}", "application/merge-patch+json");
  wait_for("the keeper to go on", 30,
           [&]() -> std::string { return keepers_readiness() == 200 ? "" : "it is not ready"; });
}

TEST_F(Webhook, AnswersTheApiServerAloneIfToldByWhatItIsKnown) {
  start_with_a_pool();
  const auto demand = [&](const std::string& name) {
    start_webhook({"--client-ca-file=" + plane().authority_file(), "--client-cert-name=" + name});
  };
  demand(ControlPlane::kWebhookCaller);
  wait_answering();
  EXPECT_EQ(create_pod("gpu-team", pod("train", kOneGpu), true).status, 201);
  demand("somebody-else");
  wait_for("the API server to be turned away", 30, [&]() -> std::string {
    const Reply reply = create_pod("gpu-team", pod("train", kOneGpu), true);
    const std::string said = reply.body.text("/message");
    return reply.status == 500 && said.find("remote error: tls: ") != std::string::npos ? "" : said;
  });
}

TEST_F(Webhook, TwoKeepersAgree) {
  const auto second = new_keeper("100ms");
  for (int round = 0; round < 4; ++round) {
    start_keeper();
    start_webhook();
    wait_answering();
    wait_for("one bundle everywhere", 20, [&]() -> std::string {
      const std::vector<std::string> all = bundles();
      return std::set<std::string>(all.begin(), all.end()).size() == 1 ? "" : "they differ";
    });
    stop_keeper();
    kube().remove({"secrets", "berth-webhook-ca", "berth-system"});
    kube().remove({"secrets", "berth-webhook-tls", "berth-system"});
  }
}

}  // namespace
}  // namespace berth::test
