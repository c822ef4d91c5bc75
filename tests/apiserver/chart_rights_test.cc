// SPDX-License-Identifier: Apache-2.0
// What a thief of berth's token can't do. Every act of the tables is sent with the token of the
// chart's ServiceAccount, as a dry run where it would write, and must be answered 403 with the
// words beside it: by RBAC, or by one of the chart's admission policies. What those confine is sent
// once more by an account that somebody has bound to cluster-admin: they hold without RBAC.
#include "tests/apiserver/chart_acts.h"
#include "tests/apiserver/chart_fixture.h"

namespace berth::test {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

class ChartRights : public ChartTest {
 protected:
  void SetUp() override {
    ChartTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    cluster().add_gpu_node(
        {.name = "n1",
         .labels = {{"nvidia.com/gpu.deploy.device-plugin", "paused-for-mig-change"},
                    {"nvidia.com/gpu.deploy.dcgm-exporter", "false"}}});
    cluster().add_gpu_node({.name = "n2"});
    kube().patch({"nodes", "n2"}, PatchType::kMerge,
                 R"({"spec": {"taints": [{"key": "node-role.kubernetes.io/control-plane",)"
                 R"( "effect": "NoSchedule"}]}})");
    cluster().add_bare_pod({.name = "victim", .count = 0});
    const Said installed = install({"nodeKeys={example.com/pool}", "webhook.enabled=true"});
    ASSERT_EQ(installed.code, 0) << installed.text;
    apply({});
    kube().apply(kPolicy);
    kube().apply(
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: others}, value: "
        "1}");
    kube().patch({"miglayouts", "inference-a100"}, PatchType::kMerge,
                 R"({"metadata": {"finalizers": ["example.com/other"]}})");
    victim_ = kube().get({"pods", "victim", "team-a"}).uid();
    thief_ = std::make_unique<Kube>(account());
    // A policy works a moment after it was made.
    wait_until("every policy to be at work", seconds(30), [&]() -> std::string {
      for (const Act& act : confined_acts())
        if (const Reply reply = send(act); reply.status != 403)
          return std::string(act.what) + ": " + reply.body.dump();
      return "";
    });
  }

  Reply send(const Act& act) {
    std::string path = act.path;
    const std::string method = act.method;
    const bool connects = path.find("stdout=true") != std::string::npos;
    if (method != "GET" && !connects)
      path += path.find('?') == std::string::npos ? "?dryRun=All" : "&dryRun=All";
    std::string body = act.body;
    if (const auto at = body.find("UID"); at != std::string::npos) body.replace(at, 3, victim_);
    const bool patches = method == "PATCH";
    const bool strategic = patches && path.find("/pods/") != std::string::npos;
    return thief_->send(method, path, body,
                        strategic ? "application/strategic-merge-patch+json"
                        : patches ? "application/merge-patch+json"
                                  : "application/json");
  }

  void expect_refused(std::span<const Act> acts) {
    for (const Act& act : acts) {
      SCOPED_TRACE(act.what);
      const Reply reply = send(act);
      EXPECT_EQ(reply.status, 403) << reply.body.dump();
      EXPECT_THAT(reply.body.text("/message"), HasSubstr(act.words));
    }
  }

  std::string victim_;
  std::unique_ptr<Kube> thief_;
};

TEST_F(ChartRights, TheWebhooksTokenReadsAndNothingElse) {
  thief_ = std::make_unique<Kube>(account("berth-webhook"));
  for (const Act& act : acts_beyond_the_webhook()) {
    SCOPED_TRACE(act.what);
    const Reply reply = send(act);
    EXPECT_EQ(reply.status, 403) << reply.body.dump();
    EXPECT_THAT(reply.body.text("/message"), HasSubstr("berth-webhook\" cannot"));
  }
  for (const char* path :
       {"/api/v1/nodes", "/api/v1/namespaces", "/apis/scheduling.k8s.io/v1/priorityclasses",
        "/apis/gpu.berth.dev/v1alpha1/miglayouts",
        "/apis/gpu.berth.dev/v1alpha1/gpuclusterpolicies"})
    EXPECT_EQ(thief_->send("GET", path).status, 200) << path;
}

TEST_F(ChartRights, WhatBerthLivesFromIsLetThrough) {
  for (const Act& act : granted_acts()) {
    SCOPED_TRACE(act.what);
    const Reply reply = send(act);
    EXPECT_TRUE(reply.ok()) << reply.status << " " << reply.body.text("/message");
  }
}

TEST_F(ChartRights, AStolenTokenIsRefusedWhateverElseItTries) {
  ASSERT_GE(ungranted_acts().size() + confined_acts().size(), 40u);
  expect_refused(ungranted_acts());
  expect_refused(confined_acts());
}

TEST_F(ChartRights, ThePoliciesHoldEvenAnAdministrator) {
  kube().apply(kToAdmin);
  wait_until("the binding to count", seconds(20), [&]() -> std::string {
    const Reply reply = thief_->send("GET", "/api/v1/secrets");
    return reply.ok() ? "" : reply.body.text("/message");
  });
  expect_refused(confined_acts());
  expect_refused(confined_administrators_acts());
  kube().remove({"clusterrolebindings", "mine"});
}

}  // namespace
}  // namespace berth::test
