// SPDX-License-Identifier: Apache-2.0
// A tenant asks `berth why` about gated workloads, with the chart's roles, policies and webhook:
// with `edit` in one namespace, and with the ClusterRole berth-why too.
#include <fmt/format.h>

#include "tests/apiserver/webhook_fixture.h"

namespace berth::test {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kTeam[] = "gpu-team";
constexpr char kReason[] = "/metadata/annotations/gpu.berth.dev~1pending-reason";

// A pod's spec with a GPU request.
std::string asking(int gpus, const std::string& more = "") {
  return fmt::format(
      R"({{{}"containers": [{{"name": "main", "image": "x", "resources": {{"limits":)"
      R"( {{"nvidia.com/gpu": {}}}}}}}]}})",
      more, gpus);
}

std::string job(const std::string& name, int gpus, const std::string& spec = "",
                const std::string& metadata = "") {
  return fmt::format(
      R"({{"apiVersion": "batch/v1", "kind": "Job", "metadata": {{"name": "{}"{}}}, "spec": {{{})"
      R"("template": {{"spec": {}}}}}}})",
      name, metadata, spec, asking(gpus, R"("restartPolicy": "Never", )"));
}

std::string owner_of_pods(const std::string& kind, const std::string& name,
                          const std::string& spec = "") {
  return fmt::format(
      R"({{"apiVersion": "apps/v1", "kind": "{0}", "metadata": {{"name": "{1}"}}, "spec":)"
      R"( {{{2}"selector": {{"matchLabels": {{"app": "{1}"}}}}, "template":)"
      R"( {{"metadata": {{"labels": {{"app": "{1}"}}}}, "spec": {3}}}}}}})",
      kind, name, spec, asking(1));
}

class TenantTest : public WebhookTest {
 protected:
  void SetUp() override {
    WebhookTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    ann_ = person("ann", "edit", kTeam);
    bob_ = person("bob", "edit", kTeam);
    person("bob", "berth-why");
    start_with_a_pool("nvidia.com/gpu.present: 'true'");
    kube().apply(R"(
apiVersion: gpu.berth.dev/v1alpha1
kind: GPUQueue
metadata: {name: vision}
spec:
  default: true
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: gpu-team}}
  quotas: [{resource: nvidia.com/gpu, pool: training, nominalQuota: 2}]
)");
    tenant_ = std::make_unique<Kube>(ann_);
    wait_until("the webhook to know the queue", seconds(60), [&]() -> std::string {
      const Reply reply = tenant_->send("POST", jobs() + "?dryRun=All", job("probe", 1));
      return reply.ok() && reply.body.text("/spec/suspend") == "true" ? "" : reply.body.dump();
    });
  }
  void TearDown() override {
    if (!IsSkipped()) {
      for (const char* resource : {"statefulsets", "replicasets"})
        kube().send("DELETE", fmt::format("/apis/apps/v1/namespaces/{}/{}", kTeam, resource));
      kube().send("DELETE", fmt::format("/apis/batch/v1/namespaces/{}/cronjobs", kTeam));
      kube().remove({"gpuqueues", "vision"});
    }
    WebhookTest::TearDown();
  }

  static std::string jobs() { return fmt::format("/apis/batch/v1/namespaces/{}/jobs", kTeam); }
  static std::string apps(const std::string& resource) {
    return fmt::format("/apis/apps/v1/namespaces/{}/{}", kTeam, resource);
  }
  Object submit(const std::string& path, const std::string& body) {
    const Reply reply = tenant_->send("POST", path, body);
    if (!reply.ok()) throw std::runtime_error(path + ": " + reply.body.dump());
    return reply.body;
  }

  void submit_all() {
    submit(jobs(), job("runs", 1, R"("parallelism": 2, "completions": 2, )"));
    wait_until("its pods to run", seconds(60), [&]() -> std::string {
      const Object runs = kube().get({"jobs", "runs", kTeam});
      return runs.number("/status/active") == 2 ? "" : runs.at("/status").dump();
    });
    submit(jobs(), job("misspelt", 1, "", R"(, "labels": {"gpu.berth.dev/queue": "visoin"})"));
    submit(jobs(), job("too-big", 1, R"("parallelism": 3, "completions": 3, )"));
    submit(jobs(), job("behind", 1));
    submit(jobs(), job("deadlines", 1, R"("activeDeadlineSeconds": 3600, )"));
    submit(jobs(), job("parallel", 1, R"("parallelism": 2, )"));
    submit(jobs(), job("indexed", 1,
                       R"("completionMode": "Indexed", "parallelism": 2, "completions": 2, )"));
    const Object nightly = submit(
        fmt::format("/apis/batch/v1/namespaces/{}/cronjobs", kTeam),
        fmt::format(R"({{"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {{"name":)"
                    R"( "nightly"}}, "spec": {{"schedule": "0 3 * * *", "jobTemplate": {{"spec":)"
                    R"( {{"template": {{"spec": {}}}}}}}}}}})",
                    asking(1, R"("restartPolicy": "Never", )")));
    submit(jobs(), job("nightly-1", 1, "",
                       fmt::format(R"(, "ownerReferences": [{{"apiVersion": "batch/v1", "kind":)"
                                   R"( "CronJob", "name": "nightly", "uid": "{}", "controller":)"
                                   R"( true}}])",
                                   nightly.uid())));
    submit(apps("statefulsets"), owner_of_pods("StatefulSet", "db", R"("serviceName": "db", )"));
    submit(fmt::format("/api/v1/namespaces/{}/pods", kTeam),
           fmt::format(R"({{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "bare"}},)"
                       R"( "spec": {}}})",
                       asking(1)));
    submit(apps("deployments"), owner_of_pods("Deployment", "web"));
  }

  std::string why(const Credentials& who, std::vector<std::string> words) {
    words.insert(words.begin(), {berth_program(), "why"});
    words.insert(words.end(),
                 {"-n", kTeam, "--kubeconfig", plane().write_kubeconfig("tenant.kubeconfig", who)});
    return run(words).text;
  }

  Said ui(const Credentials& who) {
    return run({berth_program(), "ui", "--kubeconfig",
                plane().write_kubeconfig("tenant.kubeconfig", who)});
  }

  Credentials ann_, bob_;  // with `edit`; and with berth-why too
  std::unique_ptr<Kube> tenant_;
};

struct Asked {
  const char* subject;
  const char* listed;
  const char* reason;
};
const Asked kAsked[] = {
    {"job/misspelt", "Job/misspelt", "QueueNotFound"},
    {"job/too-big", "Job/too-big", "ExceedsMaximum"},
    {"job/behind", "Job/behind", "WaitingForQuota"},
    {"job/deadlines", "Job/deadlines", "WaitingForQuota"},
    {"job/parallel", "Job/parallel", "WaitingForQuota"},
    {"job/indexed", "Job/indexed", "WaitingForQuota"},
    {"cronjob/nightly", "Job/nightly-1", "WaitingForQuota"},
    {"sts/db", "Pod/db-0", "WaitingForQuota"},
    {"pod/bare", "Pod/bare", "WaitingForQuota"},
    {"deploy/web", "Pod/web-", "WaitingForQuota"},
};

TEST_F(TenantTest, IsToldInOneSentenceThatThePageNeedsMoreRights) {
  const Said edit = ui(ann_);
  EXPECT_EQ(edit.code, 1);
  EXPECT_THAT(edit.text, HasSubstr("this account may not list nodes and pods of all namespaces"));
  EXPECT_EQ(std::count(edit.text.begin(), edit.text.end(), '\n'), 1) << edit.text;
  const Said with_role = ui(bob_);
  EXPECT_EQ(with_role.code, 1);
  EXPECT_THAT(with_role.text, HasSubstr("this account may not list pods of all namespaces"));
}

TEST_F(TenantTest, LearnsOfAllTheirWorkThatItWaitsAndWhy) {
  submit_all();
  // At once, before reasons are recorded.
  const std::string at_once = why(ann_, {});
  EXPECT_THAT(at_once, HasSubstr("Job/behind"));
  EXPECT_THAT(at_once, Not(HasSubstr("No pod waits")));

  wait_until("the queue's status to list them", seconds(60), [&]() -> std::string {
    const Object queue = kube().get({"gpuqueues", "vision"});
    return queue.items("/status/pending").size() == 9 ? "" : queue.at("/status").dump();
  });
  const std::string with_role = why(bob_, {});
  EXPECT_THAT(with_role, Not(HasSubstr("No pod waits")));
  for (const Asked& asked : kAsked) {
    SCOPED_TRACE(asked.subject);
    EXPECT_THAT(with_role, HasSubstr(asked.listed));
    const std::string answer = why(bob_, {asked.subject});
    EXPECT_THAT(answer, HasSubstr(asked.reason));
    EXPECT_THAT(answer, HasSubstr("and waits in queue "));
    if (std::string(asked.reason) == "QueueNotFound") continue;
    EXPECT_THAT(answer, HasSubstr(" of 9"));
  }
  EXPECT_THAT(why(bob_, {"job/misspelt"}), HasSubstr("did you mean vision?"));

  wait_until("the reasons to be recorded on the work", seconds(150), [&]() -> std::string {
    std::string without;
    for (const char* name :
         {"misspelt", "too-big", "behind", "deadlines", "parallel", "indexed", "nightly-1"})
      if (kube().get({"jobs", name, kTeam}).text(kReason).empty())
        without += std::string(name) + " ";
    for (const Object& pod : kube().list("pods", kTeam))
      if (!pod.items("/spec/schedulingGates").empty() && pod.text(kReason).empty())
        without += pod.name() + " ";
    return without;
  });
  const std::string with_edit = why(ann_, {});
  EXPECT_THAT(with_edit, Not(HasSubstr("No pod waits")));
  EXPECT_THAT(with_edit, HasSubstr("gpuqueues.gpu.berth.dev"));
  for (const Asked& asked : kAsked) {
    SCOPED_TRACE(asked.subject);
    EXPECT_THAT(with_edit, HasSubstr(asked.listed));
    EXPECT_THAT(why(ann_, {asked.subject}), HasSubstr(asked.reason));
  }
}

}  // namespace
}  // namespace berth::test
