// SPDX-License-Identifier: Apache-2.0
// helm/berth from install to uninstall, while berth changes nodes.
#include "tests/apiserver/chart_fixture.h"

namespace berth::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kLayouts[] = "miglayouts.gpu.berth.dev";

class Chart : public ChartTest {
 protected:
  long long ready_replicas() {
    return kube().get({"deployments", "berth", "berth-system"}).number("/status/readyReplicas");
  }
  Object agent_file() {
    return kube().get({"configmaps", "berth-mig-parted-config", "gpu-operator"});
  }
  Layout on(const std::string& node) {
    return {.name = "on-" + node,
            .node_selector = "{matchLabels: {kubernetes.io/hostname: " + node + "}}"};
  }
  // Objects with the release's label, "kind/name", except those that must stay.
  std::vector<std::string> left_of_release() {
    std::vector<std::string> left;
    for (const std::string collection :
         {"/apis/rbac.authorization.k8s.io/v1/clusterroles",
          "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
          "/apis/rbac.authorization.k8s.io/v1/roles",
          "/apis/rbac.authorization.k8s.io/v1/rolebindings",
          "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
          "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
          "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
          "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
          "/apis/apps/v1/deployments", "/apis/policy/v1/poddisruptionbudgets",
          "/apis/networking.k8s.io/v1/networkpolicies", "/api/v1/services",
          "/api/v1/serviceaccounts", "/api/v1/configmaps"}) {
      const Reply reply =
          kube().send("GET", collection + "?labelSelector=app.kubernetes.io/instance%3Dberth");
      EXPECT_TRUE(reply.ok()) << collection;
      for (const Object& object : reply.body.items())
        if (object.name() != "berth-mig-parted-config" &&
            object.name() != "berth-device-plugin-config")
          left.push_back(collection.substr(collection.rfind('/') + 1) + "/" + object.name());
    }
    return left;
  }
};

TEST_F(Chart, InstalledUpgradedRolledBackAndUninstalledWhileNodesKeepWhatTheyHave) {
  cluster().add_gpu_nodes(2, {});
  cluster().wait_agents_running();

  // 1. Install: pods are ready under the restricted profile; mig-manager's file exists and is
  // empty.
  const Said installed = install();
  ASSERT_EQ(installed.code, 0) << installed.text;
  EXPECT_THAT(installed.text, HasSubstr("kubectl patch clusterpolicy cluster-policy"));
  EXPECT_EQ(ready_replicas(), 2);
  EXPECT_FALSE(agent_file().has("/data"));
  start_berth_as_account();
  apply(on("n1"));
  wait_ready("on-n1");
  EXPECT_EQ(cluster().gpu_allocatable("n1"), kMixedA100);
  const std::string file = agent_file().text("/data/config.yaml");
  EXPECT_THAT(file, HasSubstr("berth-on-n1-"));

  // 2. Upgrade: the new values apply, mig-manager's file stays berth's, and berth continues.
  const Said upgraded =
      upgrade({"replicas=3", "nodeKeys={example.com/pool}", "webhook.enabled=true"});
  ASSERT_EQ(upgraded.code, 0) << upgraded.text;
  EXPECT_EQ(ready_replicas(), 3);
  EXPECT_EQ(agent_file().text("/data/config.yaml"), file);
  apply(on("n2"));
  wait_ready("on-n2");
  const std::string both = agent_file().text("/data/config.yaml");

  // 3. Rollback to the first revision: the release changes back, but nothing that nodes rely on.
  const Said back = helm({"rollback", "berth", "1", "--wait", "--timeout", "90s"});
  ASSERT_EQ(back.code, 0) << back.text;
  wait_for("two replicas again", 60, [&]() -> std::string {
    return ready_replicas() == 2 ? "" : std::to_string(ready_replicas());
  });
  EXPECT_EQ(agent_file().text("/data/config.yaml"), both);
  EXPECT_EQ(layout("on-n1").condition("Ready"), "True");

  // 4. Uninstall: the CRDs, the layouts and mig-manager's file stay, everything else is removed.
  EXPECT_THAT(refused_to_berth(), IsEmpty());
  stop_berth();
  const Said gone = helm({"uninstall", "berth", "--wait"});
  ASSERT_EQ(gone.code, 0) << gone.text;
  EXPECT_THAT(left_of_release(), IsEmpty());
  EXPECT_TRUE(kube().find({"customresourcedefinitions", kLayouts}).has_value());
  EXPECT_EQ(layout("on-n2").condition("Ready"), "True");
  EXPECT_EQ(agent_file().text("/data/config.yaml"), both);
  EXPECT_EQ(cluster().gpu_allocatable("n2"), kMixedA100);

  // 5. Install again: the release adopts what stayed, and the nodes need no change.
  const Said again = install();
  ASSERT_EQ(again.code, 0) << again.text;
  const std::size_t cordons = cordon_order().size();
  start_berth_as_account();
  kube().remove({"miglayouts", "on-n1"});
  wait_for("on-n1 to go", 30, [&]() -> std::string {
    return kube().find({"miglayouts", "on-n1"}) ? "not yet" : "";
  });
  EXPECT_EQ(cordon_order().size(), cordons);
  EXPECT_THAT(refused_to_berth(), IsEmpty());
}

TEST_F(Chart, AMissingNamespaceOfTheAgentsIsToldBeforeAnythingIsMade) {
  const Said refused = install({"nvidia.namespace=gpu-operators"});
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.text, HasSubstr("there is no namespace gpu-operators in this cluster"));
  EXPECT_THAT(left_of_release(), IsEmpty());
  const Said status = helm({"status", "berth"});
  EXPECT_THAT(status.text, HasSubstr("not found")) << "the name is free for the next try";
}

TEST_F(Chart, AnUninstallIsRefusedWhileANodeIsOut) {
  cluster().add_gpu_nodes(1, {});
  cluster().wait_agents_running();
  cluster().add_deployment({.name = "slow", .annotations = {{"test.berth.dev/linger", "true"}}});
  cluster().wait_pods_running("team-a", "slow", 1);
  const Said installed = install();
  ASSERT_EQ(installed.code, 0) << installed.text;
  start_berth_as_account();
  apply({});
  // At this moment the layout's first status has just been written, without n1.
  wait_for("n1 to be cordoned", 40,
           [&]() -> std::string { return cordoned("n1") ? "" : layout().dump(); });

  const Said refused = helm({"uninstall", "berth"});
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.text, HasSubstr("nodes are cordoned for MIGLayout inference-a100 (1)"));
  EXPECT_EQ(ready_replicas(), 2);
  EXPECT_THAT(left_of_release(), Contains("clusterrolebindings/berth"));

  // As the refusal advises.
  kube().patch({"miglayouts", "inference-a100"}, PatchType::kMerge,
               R"({"spec": {"rollout": {"paused": true}}})");
  wait_for("n1 to be back", 40, [&]() -> std::string {
    return !cordoned("n1") && layout().number("/status/nodes/inProgress") == 0
               ? ""
               : layout().at("/status").dump();
  });
  wait_for("the uninstall to be let through", 20, [&]() -> std::string {
    const Said gone = helm({"uninstall", "berth", "--wait"});
    return gone.code == 0 ? "" : gone.text;
  });
  EXPECT_THAT(left_of_release(), IsEmpty());
  cluster().remove_deployment("team-a", "slow");
}

// No layout selects it any more, so that only the layout that claimed it can report it.
TEST_F(Chart, AnUninstallIsRefusedWhileANodeIsOutThatHasLeftItsLayout) {
  cluster().add_gpu_nodes(1, {.annotations = {{"test.berth.dev/fault", "slow:15000"}}});
  cluster().wait_agents_running();
  const Said installed = install();
  ASSERT_EQ(installed.code, 0) << installed.text;
  start_berth_as_account();
  apply({});
  wait_phase("n1", "Applying");
  kube().patch({"miglayouts", "inference-a100"}, PatchType::kMerge,
               R"({"spec": {"nodeSelector": {"matchLabels": {"tier": "none"}}}})");
  wait_for("its status to say so", 30, [&]() -> std::string {
    return layout().number("/status/nodes/selected") == 0 ? "" : layout().dump();
  });
  ASSERT_TRUE(cordoned("n1"));
  const Said refused = helm({"uninstall", "berth"});
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.text, HasSubstr("nodes are cordoned for MIGLayout inference-a100 (1)"));
  EXPECT_THAT(left_of_release(), Contains("clusterrolebindings/berth"));
  wait_for("n1 to be back", 60, [&]() -> std::string {
    return !cordoned("n1") && layout().number("/status/nodes/inProgress") == 0
               ? ""
               : layout().at("/status").dump();
  });
}

// It selects no node any more, so that none of its counts shows the unavailable one.
TEST_F(Chart, AnUninstallIsRefusedWhileALayoutThatGoesWaitsForItsNodes) {
  cluster().add_gpu_nodes(1, {.annotations = {{"test.berth.dev/fault", "slow:15000"}}});
  cluster().wait_agents_running();
  const Said installed = install();
  ASSERT_EQ(installed.code, 0) << installed.text;
  start_berth_as_account();
  apply({});
  wait_phase("n1", "Applying");
  kube().remove({"miglayouts", "inference-a100"});
  wait_for("its status to say so", 30, [&]() -> std::string {
    return layout().condition("Ready", "reason") == "Deleting" &&
                   layout().number("/status/nodes/inProgress") == 0
               ? ""
               : layout().dump();
  });
  const Said refused = helm({"uninstall", "berth"});
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.text, HasSubstr("MIGLayout inference-a100 is being deleted"));
  EXPECT_THAT(left_of_release(), Contains("clusterrolebindings/berth"));
  wait_for("the layout to be gone", 60, [&]() -> std::string {
    return kube().find({"miglayouts", "inference-a100"}) ? "it is there" : "";
  });
  EXPECT_FALSE(cordoned("n1"));
}

TEST_F(Chart, PodsThatMayBeForcedAreForcedUnderThePolicy) {
  invariants_.force_allowed = true;
  cluster().add_gpu_nodes(1, {});
  cluster().wait_agents_running();
  // Once one has left, the other may not: the first is not running again yet.
  cluster().add_deployment({.name = "kept", .replicas = 2});
  cluster().wait_pods_running("team-a", "kept", 2);
  cluster().add_budget("team-a", "kept", "kept", "maxUnavailable: 1");
  const Said installed = install();
  ASSERT_EQ(installed.code, 0) << installed.text;
  start_berth_as_account();
  apply({.drain = {"onTimeout: Force", "timeout: 1s"}});
  wait_ready();
  const auto all = writes();
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const AuditEvent& event) {
    return event.verb == "delete" && event.resource == "pods";
  }));
  EXPECT_THAT(refused_to_berth(), IsEmpty());
}

TEST_F(Chart, EveryStepIsToldByAnEvent) {
  cluster().add_gpu_nodes(1, {});
  cluster().wait_agents_running();
  ASSERT_EQ(install().code, 0);
  start_berth_as_account();
  apply({});
  wait_ready();
  std::vector<std::string> reasons;
  for (const Object& event : kube().list("events", "default"))
    if (event.text("/involvedObject/name") == "n1") reasons.push_back(event.text("/reason"));
  EXPECT_THAT(reasons, Not(IsEmpty()));
  EXPECT_THAT(berth().process().log_text(), Not(HasSubstr("event not recorded")));
}

}  // namespace
}  // namespace berth::test
