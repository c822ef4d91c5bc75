// SPDX-License-Identifier: Apache-2.0
// `berth why` for its users: with the rights of a tenant on a live API server, whose scheduler
// leaves the pods of examples/mistakes pending.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/apiserver/rollout_fixture.h"
#include "tests/support/places.h"

namespace berth::test {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kNamespace[] = "team-b";

std::string read(const std::string& path) {
  std::ifstream file(source_dir() + "/" + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

// The chart's role as helm renders it: "ClusterRole" and "berth-why".
std::string role_of_chart(const std::string& kind, const std::string& name,
                          const std::string& namespace_ = "") {
  const std::string text = read("tests/chart/golden/default/render.yaml");
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find("\n---\n", begin), text.size());
    const std::string document = text.substr(begin, end - begin);
    if (document.find("kind: " + kind + "\n") != document.npos &&
        document.find("\n  name: " + name + "\n") != document.npos &&
        (namespace_.empty() || document.find("namespace: " + namespace_) != document.npos))
      return document;
    begin = end + 5;
  }
  throw std::runtime_error("the chart has no " + kind + " " + name);
}

class LiveWhy : public RolloutTest {
 protected:
  struct Ran {
    int exit_code = -1;
    std::string text;
  };

  void SetUp() override {
    RolloutTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    viewer_ = make_account("viewer");
    bind_view("viewer");
  }

  // A ServiceAccount of the namespace, and a kubeconfig whose context is in that namespace.
  std::string make_account(const std::string& name) {
    kube().apply("{apiVersion: v1, kind: ServiceAccount, metadata: {name: " + name +
                 ", namespace: " + kNamespace + "}}");
    const Reply made =
        kube().send("POST", path_of({"serviceaccounts", name, kNamespace}) + "/token",
                    R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}})");
    if (!made.ok()) throw std::runtime_error(made.body.dump());
    const Credentials credentials{kube().credentials().server, kube().credentials().authority_pem,
                                  "", "", made.body.text("/status/token")};
    const std::string path = plane().scratch() + "/" + name + ".kubeconfig";
    std::ofstream(path) << replaced(kubeconfig_text(credentials), "user: user}",
                                    std::string("user: user, namespace: ") + kNamespace + "}");
    return path;
  }

  void bind_view(const std::string& account) {
    kube().apply(
        "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: view, "
        "namespace: " +
        std::string(kNamespace) +
        "}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}, "
        "subjects: [{kind: ServiceAccount, name: " +
        account + ", namespace: " + kNamespace + "}]}");
    wait_until("view to be aggregated", seconds(30), [&]() -> std::string {
      const Ran ran = berth({"why", "--kubeconfig", viewer_});
      return ran.exit_code == 0 && ran.text.find("pods in namespace") == std::string::npos
                 ? ""
                 : ran.text;
    });
  }

  void bind_everywhere(const std::string& role, const std::string& account) {
    kube().apply(
        "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: "
        "{name: " +
        role + "}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: " +
        role + "}, subjects: [{kind: ServiceAccount, name: " + account +
        ", namespace: " + kNamespace + "}]}");
  }

  // Two nodes of pool training, tainted, and one of the lab.
  void add_pools() {
    for (const char* name : {"t1", "t2", "l1"}) {
      const bool lab = name[0] == 'l';
      cluster().add_gpu_node(
          {.name = name, .labels = {{"gpu.berth.dev/pool", lab ? "lab" : "training"}}});
    }
    cluster().wait_agents_running();
    for (const char* name : {"t1", "t2", "l1"})
      kube().patch({"nodes", name}, PatchType::kMerge,
                   std::string(R"({"spec":{"taints":[{"key":"nvidia.com/gpu","value":")") +
                       (name[0] == 'l' ? "lab" : "present") + R"(","effect":"NoSchedule"}]}})");
  }

  // The scheduler's own cache may not have them yet.
  void wait_until_the_scheduler_knows_the_taints() {
    wait_until("the scheduler to know the taints", seconds(60), [&]() -> std::string {
      kube().apply("{apiVersion: v1, kind: Pod, metadata: {name: probe, namespace: " +
                   std::string(kNamespace) +
                   "}, spec: {containers: [{name: main, image: registry.example.com/probe, "
                   "resources: {limits: {nvidia.com/gpu: 1}}}]}}");
      const Ref probe{"pods", "probe", kNamespace};
      wait_until("the scheduler to have looked", seconds(60), [&]() -> std::string {
        return kube().get(probe).condition("PodScheduled").empty() ? "it has not" : "";
      });
      const bool bound = kube().get(probe).condition("PodScheduled") == "True";
      kube().remove(probe);
      wait_until("the probe to be gone", seconds(60),
                 [&]() -> std::string { return kube().find(probe) ? "it is there" : ""; });
      return bound ? "it has bound a pod without a toleration" : "";
    });
  }

  void add_mistakes() {
    wait_until_the_scheduler_knows_the_taints();
    kube().apply(replaced(read("examples/mistakes/pods.yaml"), "namespace: research",
                          std::string("namespace: ") + kNamespace));
    wait_until("the scheduler to have looked", seconds(60), [&]() -> std::string {
      std::string missing;
      for (const Object& pod : kube().list("pods", kNamespace))
        if (pod.condition("PodScheduled").empty()) missing += pod.name() + " ";
      return missing;
    });
  }

  Ran berth(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), berth_program());
    static int runs = 0;
    const std::string log = plane().scratch() + "/why-" + std::to_string(++runs) + ".log";
    Child child(std::move(arguments), log);
    const int exit_code = child.wait(seconds(120)).value_or(-1);
    return {exit_code, child.log_text()};
  }
  Ran why(std::vector<std::string> words) {
    words.insert(words.begin(), "why");
    words.insert(words.end(), {"--kubeconfig", viewer_});
    return berth(std::move(words));
  }

  std::string viewer_;
};

// The pod's name, and the text that must be in the answer.
const std::pair<const char*, const char*> kFields[] = {
    {"no-toleration", "spec.tolerations: has none"},
    {"other-value", "spec.tolerations: has nvidia.com/gpu=true:NoSchedule"},
    {"other-effect", "spec.tolerations: has nvidia.com/gpu=present:NoExecute"},
    {"tolerates-all", "holds nvidia.com/gpu: 1"},
    {"wrong-pool", "spec.nodeSelector[gpu.berth.dev/pool]: lab"},
    {"misspelt-pool", "spec.nodeSelector[gpu.berth.dev/pool]: traning"},
    {"closed-pool", "spec.nodeSelector[gpu.berth.dev/pool]: production"},
    {"two-shares", "spec.containers[0].resources.limits[nvidia.com/gpu.shared]"},
    {"old-name", "spec.containers[0].resources.limits[alpha.kubernetes.io/nvidia-gpu]"},
    {"past-the-plugin", "spec.containers[0].env[0]: NVIDIA_VISIBLE_DEVICES"},
};

TEST_F(LiveWhy, NamesTheFieldToWhoMayViewOneNamespaceAlone) {
  add_pools();
  add_mistakes();
  for (const auto& [name, field] : kFields) {
    const Ran ran = why({name});
    EXPECT_EQ(ran.exit_code, 0) << name << ": " << ran.text;
    EXPECT_THAT(ran.text, StartsWith(std::string("Pod/") + kNamespace + "/" + name));
    EXPECT_THAT(ran.text, HasSubstr(field)) << name;
    EXPECT_THAT(ran.text,
                HasSubstr("kubectl create clusterrolebinding berth-why --clusterrole=berth-why "
                          "--serviceaccount=team-b:viewer"));
    EXPECT_EQ(ran.text.find("Not read"), ran.text.rfind("Not read")) << "one line";
  }
  const Ran list = why({});
  EXPECT_THAT(list.text, HasSubstr("Pod/misspelt-pool")) << "in the context's namespace";
  EXPECT_THAT(list.text, Not(HasSubstr("Pod/tolerates-all"))) << "it runs";

  // One message names all missing rights.
  const Ran snapshot = berth({"snapshot", "-o", "-", "--kubeconfig", viewer_});
  EXPECT_EQ(snapshot.exit_code, 1);
  for (const char* told : {"nodes, pods, ", "daemonsets.apps in namespace gpu-operator",
                           "--clusterrole=berth-snapshot --serviceaccount=team-b:viewer",
                           "rolebinding berth-snapshot -n berth-system --role=berth-snapshot"})
    EXPECT_THAT(snapshot.text, HasSubstr(told));
}

TEST_F(LiveWhy, TellsTheRestToWhoHasTheChartsRole) {
  add_pools();
  add_mistakes();
  kube().apply(role_of_chart("ClusterRole", "berth-why"));
  bind_everywhere("berth-why", "viewer");
  wait_until("the role to count", seconds(30), [&]() -> std::string {
    const Ran ran = why({"misspelt-pool"});
    return ran.text.find("Not read, since this account may not: pods outside namespace team-b;") !=
                   std::string::npos
               ? ""
               : ran.text;
  });
  const Ran misspelt = why({"misspelt-pool"});
  EXPECT_THAT(misspelt.text, HasSubstr("did you mean training?"));
  EXPECT_THAT(misspelt.text, HasSubstr("0 of 3 nodes would take it"));
  EXPECT_THAT(why({"old-name"}).text, HasSubstr("tolerations: [{key: nvidia.com/gpu"));

  // The complete answer, with the role for administrators.
  kube().apply(role_of_chart("ClusterRole", "berth-snapshot"));
  for (const char* where : {"berth-system", "gpu-operator"}) {
    kube().apply(role_of_chart("Role", "berth-snapshot", where));
    kube().apply(
        "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: "
        "berth-snapshot, namespace: " +
        std::string(where) +
        "}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: berth-snapshot}, "
        "subjects: [{kind: ServiceAccount, name: viewer, namespace: team-b}]}");
  }
  bind_everywhere("berth-snapshot", "viewer");
  wait_until("the roles to count", seconds(30), [&]() -> std::string {
    const Ran ran = berth({"snapshot", "-o", "-", "--kubeconfig", viewer_});
    return ran.exit_code == 0 ? "" : ran.text;
  });
  EXPECT_THAT(why({"node", "t1"}).text, Not(HasSubstr("Not read")));
  for (const char* role : {"berth-why", "berth-snapshot"}) {
    kube().remove({"clusterrolebindings", role});
    kube().remove({"clusterroles", role});
  }
}

TEST_F(LiveWhy, AWorkloadWhosePodsAreRefusedIsAskedForByItsOwnName) {
  add_pools();
  const std::string quotas = std::string("/api/v1/namespaces/") + kNamespace + "/resourcequotas";
  ASSERT_TRUE(kube()
                  .send("POST", quotas,
                        R"({"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"none"},)"
                        R"("spec":{"hard":{"requests.nvidia.com/gpu":"0"}}})")
                  .ok());
  wait_until("the quota to count", seconds(60), [&]() -> std::string {
    return kube().send("GET", quotas + "/none").body.has("/status/hard") ? "" : "not yet";
  });
  cluster().add_deployment({.name = "nb", .ns = kNamespace});
  wait_until("the refusal to be told", seconds(60), [&]() -> std::string {
    const Ran ran = why({"deploy/nb"});
    return ran.text.find("FailedCreate") != std::string::npos ? "" : ran.text;
  });
  const Ran refused = why({"deployment", "nb"});
  EXPECT_EQ(refused.exit_code, 0);
  EXPECT_THAT(refused.text, StartsWith("Deployment/team-b/nb: Refused, FailedCreate\n"));
  EXPECT_THAT(refused.text, HasSubstr("exceeded quota: none"));
  EXPECT_THAT(why({}).text, HasSubstr("Deployment/nb"));
  const Ran bare = why({"nb"});
  EXPECT_EQ(bare.exit_code, 1);
  EXPECT_THAT(bare.text, HasSubstr("berth why -n team-b deployment/nb"));
  EXPECT_TRUE(kube().send("DELETE", quotas + "/none").ok());
}

}  // namespace
}  // namespace berth::test
