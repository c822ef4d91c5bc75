// SPDX-License-Identifier: Apache-2.0
// A foreign admission policy refuses one write of berth to one node: the other nodes continue where
// they can, berth reports the server's message in all places, and everything ends with the policy.
#include "tests/apiserver/rollout_fixture.h"

namespace berth::test {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr char kPolicies[] = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
constexpr char kBindings[] =
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";
constexpr char kWords[] = "platform policy: ask team-sre";

class Refused : public RolloutTest {
 protected:
  void SetUp() override {
    RolloutTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    cluster().add_gpu_nodes(3, {});
    cluster().wait_agents_running();
  }
  void TearDown() override {
    if (!IsSkipped()) lift();
    RolloutTest::TearDown();
  }

  // `forbidden`: a CEL expression over object and oldObject. It is in force once a request as berth
  // is refused; `probe` is a merge patch of n3 that it forbids.
  void refuse(const std::string& forbidden, const std::string& probe) {
    const std::string expression =
        "!(request.userInfo.username == 'berth' && "
        "object.metadata.name == 'n3' && (" +
        forbidden + "))";
    post(kPolicies, R"({"apiVersion": "admissionregistration.k8s.io/v1",
      "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "ask-sre"},
      "spec": {"matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"],
                 "operations": ["UPDATE"], "resources": ["nodes"]}]},
               "validations": [{"message": ")" +
                        std::string(kWords) + R"(", "expression": ")" + expression + "\"}]}}");
    post(kBindings, R"({"apiVersion": "admissionregistration.k8s.io/v1",
      "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "ask-sre"},
      "spec": {"policyName": "ask-sre", "validationActions": ["Deny"]}})");
    Kube berth(plane().credentials("berth"));
    wait_for("the policy to be in force", 60, [&]() -> std::string {
      const Reply reply =
          berth.send("PATCH", "/api/v1/nodes/n3?dryRun=All", probe, "application/merge-patch+json");
      return reply.status == 422 ? "" : "a try as berth has the answer " + reply.body.dump();
    });
  }
  void lift() {
    kube().send("DELETE", std::string(kBindings) + "/ask-sre");
    kube().send("DELETE", std::string(kPolicies) + "/ask-sre");
  }
  void post(const std::string& path, const std::string& body) {
    const Reply reply = kube().send("POST", path, body);
    ASSERT_TRUE(reply.ok()) << reply.body.dump();
  }

  void wait_stalled() {
    wait_for("the layout to be Stalled for the refusal", 90, [&]() -> std::string {
      const Object now = layout();
      return now.condition("Stalled") == "True" && reason("n3") == "WriteRefused"
                 ? ""
                 : now.at("/status").dump();
    });
    EXPECT_THAT(layout().at("/status/conditions").dump(), HasSubstr(kWords));
    EXPECT_THAT(detail("n3"), HasSubstr(kWords));
  }
  void expect_event() {
    wait_for("an event on n3 with the server's words", 30, [&]() -> std::string {
      for (const Object& event : kube().list("events", "default"))
        if (event.text("/reason") == "WriteRefused" &&
            event.dump().find("\"n3\"") != std::string::npos &&
            event.dump().find(kWords) != std::string::npos)
          return "";
      return "there is none";
    });
  }
  std::string why(const std::string& node) {
    const std::string log = plane().scratch() + "/why-" + node + ".log";
    Child child(
        {berth_program(), "why", "node/" + node, "--kubeconfig", plane().write_kubeconfig("asker")},
        log);
    child.wait(seconds(60));
    return child.log_text();
  }
  void wait_cut(const std::string& node) {
    wait_for(node + " to be cut and back", 120, [&]() -> std::string {
      if (cluster().gpu_allocatable(node) != kMixedA100) return "not cut: " + detail(node);
      return cordoned(node) ? "cordoned" : "";
    });
  }
  void expect_done() {
    lift();
    wait_ready("inference-a100", 120);
    for (const char* node : {"n1", "n2", "n3"}) wait_cut(node);
  }
};

constexpr char kCordoned[] = "has(object.spec.unschedulable) && object.spec.unschedulable";
constexpr char kWasCordoned[] = "has(oldObject.spec.unschedulable) && oldObject.spec.unschedulable";

TEST_F(Refused, TheCordonOfANodeAndItsSlotIsGivenBackSoThatTheOthersGo) {
  refuse(std::string(kCordoned) + " && !(" + kWasCordoned + ")",
         R"({"spec": {"unschedulable": true}})");
  apply({.rollout = {"maxUnavailable: 1", "order: Name"}});
  start_berth();
  wait_cut("n1");
  wait_cut("n2");
  wait_stalled();
  expect_event();
  EXPECT_FALSE(cordoned("n3"));
  EXPECT_THAT(why("n3"), HasSubstr(kWords));
  expect_done();
}

TEST_F(Refused, ItsLabelAndItIsPutBackAtTheDrainsTimeout) {
  refuse(
      "object.metadata.labels['nvidia.com/mig.config'] != "
      "oldObject.metadata.labels['nvidia.com/mig.config']",
      R"({"metadata": {"labels": {"nvidia.com/mig.config": "another"}}})");
  // n3 first, and then the others, one at a time.
  kube().set_annotation({"nodes", "n1"}, "gpu.berth.dev/hold", "later");
  kube().set_annotation({"nodes", "n2"}, "gpu.berth.dev/hold", "later");
  apply({.rollout = {"maxUnavailable: 1"}, .drain = {"timeout: 15s"}});
  start_berth();
  wait_phase("n3", "Cordoned", 60);
  wait_stalled();
  expect_event();
  kube().set_annotation({"nodes", "n1"}, "gpu.berth.dev/hold", "");
  kube().set_annotation({"nodes", "n2"}, "gpu.berth.dev/hold", "");
  wait_cut("n1");
  wait_cut("n2");
  EXPECT_THAT(why("n3"), HasSubstr(kWords));
  expect_done();
}

TEST_F(Refused, ItsUncordonAndThatIsToldUntilItIsLetThrough) {
  kube().cordon("n3");
  refuse(std::string(kWasCordoned) + " && !(" + kCordoned + ")",
         R"({"spec": {"unschedulable": null}})");
  kube().cordon("n3", false);
  apply({.node_selector = "{matchLabels: {kubernetes.io/hostname: n3}}"});
  start_berth();
  wait_stalled();
  expect_event();
  EXPECT_TRUE(cordoned("n3"));
  EXPECT_EQ(cluster().gpu_allocatable("n3"), kMixedA100);
  EXPECT_THAT(why("n3"), HasSubstr(kWords));
  lift();
  wait_ready("inference-a100", 120);
  wait_cut("n3");
}

}  // namespace
}  // namespace berth::test
