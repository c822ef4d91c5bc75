// SPDX-License-Identifier: Apache-2.0
// `berth report` on the real control plane: what it packs, what it leaves out, and that it
// continues without some rights.
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>

#include "tests/apiserver/rollout_fixture.h"

namespace berth::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Report : public RolloutTest {
 protected:
  static std::string run(const std::string& command) {
    std::string text;
    FILE* pipe = popen((command + " 2>&1").c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("popen");
    for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) text += static_cast<char>(c);
    EXPECT_EQ(WEXITSTATUS(pclose(pipe)), 0) << command << ": " << text;
    return text;
  }
  std::string report(const std::string& kubeconfig, const std::string& more = "") {
    return run(berth_program() + " report --kubeconfig " + kubeconfig + " -o " + archive_ + " " +
               more);
  }
  std::string file(const std::string& name) {
    return run("tar -xzOf " + archive_ + " berth-report/" + name);
  }
  const std::string archive_ =
      (std::filesystem::temp_directory_path() / ("report-" + std::to_string(getpid()) + ".tgz"))
          .string();
};

TEST_F(Report, HoldsWhatABugReportNeedsAndNoSecret) {
  const auto nodes = cluster().add_gpu_nodes(1, {});
  cluster().wait_agents_running();
  kube().apply(R"(
apiVersion: v1
kind: Secret
metadata: {name: hidden, namespace: berth-system}
stringData: {password: tell-nobody}
)");
  apply({});
  start_berth();
  wait_ready();
  stop_berth();
  kube().cordon(nodes[0]);
  const std::string told = report(plane().write_kubeconfig("berth"));
  EXPECT_THAT(told, HasSubstr("gap: logs: namespace berth-system has no pod"));
  EXPECT_THAT(file("agents/0.json"), HasSubstr("nvidia-mig-manager"));
  EXPECT_THAT(file("snapshot.json"), HasSubstr(nodes[0]));
  EXPECT_THAT(file("history.txt"), HasSubstr("berth: cordon"));
  EXPECT_THAT(file("versions.txt"), HasSubstr("gitVersion"));
  EXPECT_THAT(file("why.txt"), Not(HasSubstr("error")));
  EXPECT_THAT(file("events/00.json"), HasSubstr("RolloutStarted"));
  EXPECT_THAT(file("validatingwebhookconfigurations.json"), HasSubstr("items"));
  EXPECT_THAT(run("tar -xzOf " + archive_), Not(HasSubstr("tell-nobody")));

  report(plane().write_kubeconfig("berth"), "--anonymize");
  const std::string all = run("tar -xzOf " + archive_);
  EXPECT_THAT(all, AllOf(Not(HasSubstr("\"" + nodes[0] + "\"")), HasSubstr("node-1"),
                         HasSubstr("miglayout-1")));
  EXPECT_THAT(all, Not(HasSubstr("inference-a100")));
}

TEST_F(Report, GoesOnWhereRightsLackAndListsTheGaps) {
  const std::string told =
      report(plane().write_kubeconfig("nobody", plane().credentials("nobody", {"visitors"})));
  EXPECT_THAT(told, HasSubstr("gap: history.txt: "));
  EXPECT_THAT(file("gaps.txt"), AllOf(HasSubstr("events.json: "), HasSubstr("forbidden"),
                                      HasSubstr("resourcequotas.json: ")));
  EXPECT_THAT(file("snapshot.json"), HasSubstr("kind"));
}

}  // namespace
}  // namespace berth::test
