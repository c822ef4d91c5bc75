// SPDX-License-Identifier: Apache-2.0
// `berth plan` as a program: exit codes, output streams and error messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cmd/program.h"

namespace berth::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Ran plan_folder(const std::string& folder, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"plan", "-f", golden(folder + "/layout.yaml"), "--snapshot",
                                        golden(folder + "/cluster.json")};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_berth(arguments);
}

struct PlanCase {
  const char* folder;
  int exit_code;
};

TEST(Plan, ExitCodeSaysWhetherThereIsAnythingToDo) {
  const PlanCase cases[] = {{"rollout", 2},
                            {"without-retire", 2},
                            {"budget", 2},
                            {"two-layouts", 2},
                            {"every-node", 2},
                            {"hold", 2},
                            {"job", 2},
                            {"unknown-product", 2},
                            {"agent-not-configured", 2},
                            {"no-operator", 2},
                            {"selects-nothing", 2},
                            {"policy-new", 2},
                            {"policy-fewer-replicas", 2},
                            {"queues-new", 2},
                            {"queues-edited", 2},
                            {"queues-urgent-job", 2},
                            {"queues-asked", 2},
                            {"queues-imported", 2},
                            {"queues-mixed-units", 1},
                            {"queues-nothing", 0},
                            {"invalid-geometry", 1},
                            {"nothing-to-do", 0}};
  for (const PlanCase& c : cases) {
    const Ran ran = plan_folder(c.folder);
    EXPECT_EQ(ran.exit_code, c.exit_code) << c.folder << ran.err;
    EXPECT_EQ(ran.out, text_of(golden(std::string(c.folder) + "/plan.txt"))) << c.folder;
    EXPECT_THAT(ran.err, IsEmpty()) << c.folder;
  }
}

TEST(Plan, WritesJSONForMachines) {
  const Ran ran = plan_folder("rollout", {"-o", "json"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_EQ(ran.out, text_of(golden("rollout/plan.json")));
}

TEST(Plan, WritesYAMLToo) {
  const Ran ran = plan_folder("rollout", {"-o", "yaml"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.out, testing::StartsWith(
                           "apiVersion: plan.gpu.berth.dev/v1\nkind: Plan\nchanges: true\n"));
}

TEST(Plan, ReadsStandardInput) {
  const Ran ran = run_berth({"plan", "-f", "-", "--snapshot", golden("rollout/cluster.json")},
                            text_of(golden("rollout/layout.yaml")));
  EXPECT_EQ(ran.exit_code, 2) << ran.err;
  EXPECT_EQ(ran.out, text_of(golden("rollout/plan.txt")));
}

TEST(Plan, AManifestWithFaultsIsRefusedWithFileAndLine) {
  const std::string file = scratch_file("bad.yaml", R"(apiVersion: gpu.berth.dev/v1alpha1
kind: MIGLayout
metadata: {name: x}
spec:
  nodeSelectr: {}
  devices: [{profiles: {1g.10gb: 7}}]
)");
  const Ran ran = run_berth({"plan", "-f", file, "--snapshot", golden("rollout/cluster.json")});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr(file + ":5: "));
  EXPECT_THAT(ran.err, HasSubstr("nodeSelector")) << "the nearest known name";
  EXPECT_THAT(ran.out, IsEmpty());
}

TEST(Plan, SaysWhatItCouldNotRead) {
  const std::string layout = golden("rollout/layout.yaml");
  Ran ran = run_berth({"plan", "-f", "/nowhere.yaml", "--snapshot", "/nowhere.json"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("/nowhere.yaml: No such file"));

  ran = run_berth({"plan", "-f", layout, "--snapshot", layout});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("is not JSON"));

  ran = run_berth({"plan", "-f", layout});
  EXPECT_EQ(ran.exit_code, 1) << "no kubeconfig at all";
  EXPECT_THAT(ran.err, HasSubstr("berth plan: "));
}

TEST(Plan, AnUnreachableClusterIsToldAtOnce) {
  const std::string config = scratch_file("kubeconfig", R"(apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {token: t}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
)");
  for (const std::string command : {"plan", "snapshot"}) {
    const Ran ran = run_berth({command, "--kubeconfig", config});
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_THAT(ran.err, HasSubstr("https://127.0.0.1:1: cannot read nodes")) << command;
    EXPECT_THAT(ran.err, Not(HasSubstr("Sanitizer"))) << ran.err;
    EXPECT_THAT(ran.out, IsEmpty());
  }
}

TEST(Plan, ACredentialPluginRunsOnlyIfItMay) {
  const std::string config = scratch_file("kubeconfig", R"(apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: "false"}}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
)");
  const auto said = [&](const std::string& plugins) {
    const Ran ran = run_berth({"plan", "--kubeconfig", config, "--exec-plugins", plugins});
    EXPECT_EQ(ran.exit_code, 1);
    return ran.err;
  };
  EXPECT_THAT(said("none"), HasSubstr("the credential plugin false may not run, as --exec-plugins "
                                      "is none; if you trust it, say --exec-plugins=false"));
  EXPECT_THAT(said("aws,true"), HasSubstr("as --exec-plugins is aws,true"));
  EXPECT_THAT(said("aws,false"), HasSubstr("failed with exit code 1"));
  for (const std::string wrong : {"", "all,aws", "aws,", "bin/aws"})
    EXPECT_THAT(said(wrong), HasSubstr("\"" + wrong + "\" is neither all nor none")) << wrong;
}

TEST(Plan, AnUnknownOutputIsAnErrorThatNamesTheKnownOnes) {
  const Ran ran = plan_folder("rollout", {"-o", "xml"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(
      ran.err,
      HasSubstr("berth plan: -o,--output: must be one of text|json|yaml|html, not \"xml\""));
}

TEST(Plan, ASavedClusterAndALiveOneAreTwoClusters) {
  const std::string cluster = golden("rollout/cluster.json");
  for (const std::string flag : {"--kubeconfig", "--context"})
    for (std::vector<std::string> command :
         {std::vector<std::string>{"plan"}, std::vector<std::string>{"why", "node/n1"}}) {
      command.insert(command.end(), {"--snapshot", cluster, flag, "x"});
      const Ran ran = run_berth(command);
      EXPECT_EQ(ran.exit_code, 1) << flag;
      EXPECT_THAT(ran.err, HasSubstr("--snapshot: conflicts with " + flag));
      EXPECT_THAT(ran.out, IsEmpty());
    }
}

TEST(Plan, AMisspeltKindIsNotNothingToDo) {
  const std::string file =
      scratch_file("typo.yaml", "apiVersion: gpu.berth.dev/v1alpha1\nkind: MigLayout\n");
  const Ran ran = run_berth({"plan", "-f", file, "--snapshot", golden("rollout/cluster.json")});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("typo.yaml:2: MigLayout: kind: gpu.berth.dev has no such kind; "
                                 "did you mean MIGLayout?"));
  EXPECT_THAT(ran.out, IsEmpty());
}

}  // namespace
}  // namespace berth::test
