// SPDX-License-Identifier: Apache-2.0
// The random tenant on the real API server, with the chart's roles, policies and webhook: with
// `edit` in one namespace it never holds more than its queue's quota and borrowing limit, and never
// keeps another team below its quota. BERTH_TENANT_MINUTES is the duration (default 1).
#include "tests/support/random_tenant.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "tests/apiserver/webhook_fixture.h"

namespace berth::test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr std::int64_t kMostOfAlice = 8;  // nominal quota 4, borrowing limit 4
constexpr std::int64_t kNominalOfBob = 4;
constexpr seconds kMayEnd{60};  // for a terminating pod, with the default grace period
constexpr char kBob[] = "bob";

class KubeHands final : public TenantHands {
 public:
  KubeHands(Credentials who, std::string team) : kube_(std::move(who)), team_(std::move(team)) {}

  std::vector<Object> list(const std::string& plural) override {
    std::vector<Object> objects;
    for (const test::Object& object : kube_.list(plural, team_))
      objects.push_back({object.name(), object.uid()});
    return objects;
  }
  int create(const std::string& plural, nlohmann::json object) override {
    return kube_.send("POST", collection_path(plural, team_), object.dump()).status;
  }
  int patch(const std::string& plural, const std::string& name,
            const nlohmann::json& merge_patch) override {
    return kube_
        .send("PATCH", path_of({plural, name, team_}), merge_patch.dump(),
              "application/merge-patch+json")
        .status;
  }
  int remove(const std::string& plural, const std::string& name,
             const nlohmann::json& delete_options) override {
    return kube_.send("DELETE", path_of({plural, name, team_}), delete_options.dump()).status;
  }

 private:
  Kube kube_;
  const std::string team_;
};

std::string queue_of(const std::string& name, const std::string& team, const std::string& quota) {
  return fmt::format(R"(
apiVersion: gpu.berth.dev/v1alpha1
kind: GPUQueue
metadata: {{name: {0}}}
spec:
  cohortName: research
  default: true
  namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: {1}}}}}
  quotas: [{{resource: nvidia.com/gpu, pool: training, nominalQuota: 4{2}}}]
  preemption: {{reclaimWithinCohort: Any, withinQueue: LowerPriority, reclaimMinRuntime: 5s, reclaimTimeout: 10s}}
)",
                     name, team, quota);
}

class RandomTenantTest : public WebhookTest {
 protected:
  void SetUp() override {
    WebhookTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    kube().apply(
        "{apiVersion: v1, kind: Namespace,"
        " metadata: {name: bob, labels: {gpu.berth.dev/managed: 'true'}}}");
    cluster().add_gpu_node({.name = "n2", .gpus = 8});
    start_with_a_pool("nvidia.com/gpu.present: 'true'");
    kube().apply(queue_of("alice", "gpu-team", ", borrowingLimit: 4"));
    kube().apply(queue_of("bob", kBob, ", borrowingLimit: 0"));
    wait_until("the webhook to know the queues", seconds(60), [&]() -> std::string {
      const Reply reply =
          kube().send("POST", "/apis/batch/v1/namespaces/bob/jobs?dryRun=All", job("probe"));
      return reply.ok() && reply.body.text("/spec/suspend") == "true" ? "" : reply.body.dump();
    });
  }
  void TearDown() override {
    if (!IsSkipped()) {
      for (const char* team : {"gpu-team", kBob}) {
        for (const char* resource : {"replicasets", "daemonsets"})
          kube().send("DELETE", fmt::format("/apis/apps/v1/namespaces/{}/{}", team, resource));
        kube().send("DELETE", fmt::format("/apis/batch/v1/namespaces/{}/jobs", team));
        for (const char* resource : {"pods", "jobs", "replicasets", "daemonsets"})
          for (const Object& object : kube().list(resource, team))
            kube().send("PATCH", path_of({resource, object.name(), team}),
                        R"({"metadata": {"finalizers": null}})", "application/merge-patch+json");
      }
      for (const char* queue : {"alice", "bob"}) kube().remove({"gpuqueues", queue});
      kube().remove({"namespaces", kBob});
    }
    WebhookTest::TearDown();
  }

  static std::string job(const std::string& name) {
    return fmt::format(
        R"({{"apiVersion": "batch/v1", "kind": "Job", "metadata": {{"name": "{}"}}, "spec":)"
        R"( {{"template": {{"spec": {{"restartPolicy": "Never", "containers": [{{"name": "main",)"
        R"( "image": "x", "resources": {{"limits": {{"nvidia.com/gpu": 1}}}}}}]}}}}}}}})",
        name);
  }
  static std::int64_t held_by(const std::string& team) {
    std::int64_t gpus = 0;
    for (const Object& pod : kube().list("pods", team)) {
      const std::string phase = pod.text("/status/phase");
      if (pod.text("/spec/nodeName").empty() || phase == "Succeeded" || phase == "Failed") continue;
      for (const auto& container : pod.items("/spec/containers"))
        gpus += container.number("/resources/limits/nvidia.com~1gpu");
    }
    return gpus;
  }
  // alice holds no more than allowed, or for no longer than a pod may take to end.
  void judge_alice() {
    const std::int64_t held = held_by("gpu-team");
    if (held <= kMostOfAlice)
      over_since_.reset();
    else if (!over_since_)
      over_since_ = steady_clock::now();
    ASSERT_FALSE(over_since_ && steady_clock::now() - *over_since_ > kMayEnd)
        << "she holds " << held << " GPUs, at most " << kMostOfAlice << " are hers";
  }
  void take_bobs_turn(int round) {
    for (int i = 0; i < kNominalOfBob; ++i)
      kube().create("jobs", kBob, job(fmt::format("b-{}-{}", round, i)));
    wait_until("bob's quota", seconds(90), [&]() -> std::string {
      const std::int64_t held = held_by(kBob);
      return held == kNominalOfBob ? "" : fmt::format("he has {} GPUs", held);
    });
    kube().send("DELETE", "/apis/batch/v1/namespaces/bob/jobs?propagationPolicy=Background");
  }

  std::optional<steady_clock::time_point> over_since_;
};

TEST_F(RandomTenantTest, HoldsNoMoreThanHisQuotaAndLetsOthersHaveTheirs) {
  const char* const set = std::getenv("BERTH_TENANT_MINUTES");
  const auto until = steady_clock::now() + minutes(set == nullptr ? 1 : std::atoi(set));
  KubeHands hands(person("alice", "edit", "gpu-team"), "gpu-team");
  RandomTenant alice(hands, sim::Random(1));
  auto bobs_turn = steady_clock::now() + seconds(30);
  for (int round = 0; steady_clock::now() < until;) {
    const std::string told = alice.act();
    SCOPED_TRACE(told);
    judge_alice();
    if (HasFatalFailure()) return;
    if (steady_clock::now() < bobs_turn) continue;
    take_bobs_turn(++round);
    bobs_turn = steady_clock::now() + seconds(60);
  }
}

}  // namespace
}  // namespace berth::test
