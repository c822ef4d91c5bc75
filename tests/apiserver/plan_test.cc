// SPDX-License-Identifier: Apache-2.0
// `berth plan` and `berth snapshot` with a live API server; and the controller then does what the
// plan said.
#include <filesystem>
#include <fstream>

#include "tests/apiserver/rollout_fixture.h"

namespace berth::test {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class LivePlan : public RolloutTest {
 protected:
  void SetUp() override {
    RolloutTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    cluster().add_gpu_nodes(8, {});
    cluster().wait_agents_running();
    cluster().add_deployment({.name = "serve", .replicas = 2, .count = 3});
    cluster().wait_pods_running("team-a", "serve", 2);
    file_ = plane().scratch() + "/plan-layout.yaml";
    std::ofstream(file_) << yaml({});
    kubeconfig_ = plane().write_kubeconfig("planner");
  }

  struct Ran {
    int exit_code = -1;
    std::string text;
  };
  Ran run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), berth_program());
    static int runs = 0;  // in all cases: a log is appended to
    const std::string log = plane().scratch() + "/plan-" + std::to_string(++runs) + ".log";
    Child child(std::move(arguments), log);
    const int exit_code = child.wait(seconds(240)).value_or(-1);
    return {exit_code, child.log_text()};
  }
  Ran plan(const std::string& output) {
    return run({"plan", "-f", file_, "-o", output, "--kubeconfig", kubeconfig_});
  }

  std::string file_;
  std::string kubeconfig_;
};

TEST_F(LivePlan, TellsTheOrderThatTheControllerThenTakes) {
  const Ran planned = plan("json");
  ASSERT_EQ(planned.exit_code, 2) << planned.text;
  const Object told = Object::parse(planned.text);
  std::vector<std::string> order;
  for (const Object& node : told.items("/nodes")) {
    order.push_back(node.text("/node"));
    EXPECT_EQ(node.text("/outcome"), "Repartitioned") << node.dump();
  }
  ASSERT_THAT(order, SizeIs(8)) << planned.text;
  EXPECT_THAT(told.items("/refusals"), SizeIs(0)) << planned.text;
  EXPECT_TRUE(writes().empty()) << "a plan writes nothing";

  start_berth();
  apply({});
  wait_ready("inference-a100", 150);
  EXPECT_EQ(cordon_order(), order);
  const std::string name = told.text("/layouts/0/configs/0/name");
  EXPECT_EQ(kube().get({"nodes", order.front()}).label("nvidia.com/mig.config"), name);

  const Ran again = plan("text");
  EXPECT_EQ(again.exit_code, 0) << again.text;
  EXPECT_THAT(again.text, HasSubstr("Nothing to do"));
}

TEST_F(LivePlan, WhoIsNotLetInIsToldWhy) {
  const auto said = [&](const KeyPair& pair, const std::string& token) {
    const std::string file = plane().write_kubeconfig(
        "stranger", {plane().server(), plane().authority_pem(), pair.certificate, pair.key, token});
    const Ran ran = run({"plan", "--kubeconfig", file});
    EXPECT_EQ(ran.exit_code, 1);
    return ran.text;
  };
  EXPECT_THAT(said({}, "wrong"), HasSubstr("Unauthorized; the token in context"));
  Authority authority;
  EXPECT_THAT(said(authority.issue_client("late", {}, seconds(-60)), ""),
              ::testing::ContainsRegex("Unauthorized; the client certificate .* ended on 20"));
  EXPECT_THAT(said(authority.issue_client("stranger", {}), ""),
              HasSubstr("does not know who signed it"));
}

TEST_F(LivePlan, ASnapshotGivesTheSamePlan) {
  const std::string dump = plane().scratch() + "/dump.json";
  const Ran saved = run({"snapshot", "-o", dump, "--kubeconfig", kubeconfig_});
  ASSERT_EQ(saved.exit_code, 0) << saved.text;
  const Ran live = plan("text");
  const Ran offline = run({"plan", "-f", file_, "--snapshot", dump});
  EXPECT_EQ(offline.exit_code, 2);
  EXPECT_EQ(offline.text, live.text);

  std::ifstream file(dump);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  for (const char* never : {"\"Secret\"", "\"env\"", "\"args\"", "\"image\"", "managedFields"})
    EXPECT_THAT(text, Not(HasSubstr(never)));
}

// As in cloud providers' kubeconfigs: a program next to the file prints the token.
TEST_F(LivePlan, ASnapshotLogsInByACredentialPlugin) {
  kube().create("serviceaccounts", "default",
                R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"planner"}})");
  kube().create("clusterrolebindings", "",
                R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding",
                    "metadata":{"name":"planner"},
                    "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole",
                               "name":"cluster-admin"},
                    "subjects":[{"kind":"ServiceAccount","name":"planner",
                                 "namespace":"default"}]})");
  const Reply made =
      kube().send("POST", path_of({"serviceaccounts", "planner", "default"}) + "/token",
                  R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}})");
  ASSERT_TRUE(made.ok()) << made.body.dump();

  const std::string program = plane().scratch() + "/login";
  std::ofstream(program) << "#!/bin/sh\ncat <<END\n{\"kind\": \"ExecCredential\", \"apiVersion\": "
                            "\"client.authentication.k8s.io/v1\", \"status\": {\"token\": \""
                         << made.body.text("/status/token") << "\"}}\nEND\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  Credentials credentials = kube().credentials();
  credentials.token = "PLUGIN";
  std::string text = kubeconfig_text(credentials);
  const std::string line = "token: PLUGIN";
  ASSERT_NE(text.find(line), std::string::npos) << text;
  text.replace(text.find(line), line.size(),
               "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./login, "
               "interactiveMode: Never}");
  const std::string file = plane().scratch() + "/plugin.kubeconfig";
  std::ofstream(file) << text;

  const Ran saved = run({"snapshot", "--kubeconfig", file});
  EXPECT_EQ(saved.exit_code, 0) << saved.text;
  EXPECT_THAT(saved.text, HasSubstr("\"Node\""));

  std::filesystem::remove(program);
  const Ran missing = run({"snapshot", "--kubeconfig", file});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.text, HasSubstr("cannot run the credential plugin"));

  const Ran service = run({"controller", "--kubeconfig", file});
  EXPECT_EQ(service.exit_code, 1);
  EXPECT_THAT(service.text, HasSubstr("run no credential plugins"));
}

// A page of five hundred real nodes, with their images and annotations, exceeds 4 MiB.
TEST_F(LivePlan, ASnapshotReadsNodesOfAnyWidth) {
  for (int i = 0; i < 20; ++i)
    kube().create("nodes", "",
                  R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"wide-)" +
                      std::to_string(i) + R"(","annotations":{"example.com/much":")" +
                      std::string(250'000, 'x') + "\"}}}");
  const Ran saved = run({"snapshot", "--kubeconfig", kubeconfig_});
  ASSERT_EQ(saved.exit_code, 0) << saved.text;
  EXPECT_THAT(saved.text, HasSubstr("wide-19"));
}

}  // namespace
}  // namespace berth::test
