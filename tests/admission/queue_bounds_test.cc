// SPDX-License-Identifier: Apache-2.0
// Workloads that no queue can hold or count, or that would keep GPUs for long: refused unless the
// policy allows them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/admission/review_case.h"

namespace berth::test {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr char kReplacement[] = "/spec/podReplacementPolicy";

Request with(Request request, const char* path, json value) {
  json object = json::parse(request.object);
  object[json::json_pointer(path)] = std::move(value);
  request.object = object.dump();
  return request;
}

// `vision` is the default queue of team-a, which the policy manages; shop has neither.
class QueueBoundsTest : public ::testing::Test {
 protected:
  QueueBoundsTest() {
    cluster.upsert(queue("vision", "team-a"), Time{});
    cluster.upsert(queue("gone", "nowhere"), Time{});
  }
  static GPUQueue queue(const std::string& name, const std::string& of) {
    GPUQueue queue;
    queue.meta.name = queue.meta.uid = name;
    queue.spec.namespace_selector.emplace().match_labels["kubernetes.io/metadata.name"] = Text(of);
    queue.spec.default_queue = true;
    queue.spec.quotas.push_back({"nvidia.com/gpu", "*", 8, {}, {}});
    return queue;
  }
  void change_policy(const std::function<void(AdmissionSpec&)>& change) {
    GPUClusterPolicy policy = *cluster.gpu_policies().find("cluster");
    change(policy.spec.admission);
    cluster.upsert(policy, Time{});
  }
  void remove_policy() { cluster.erase<GPUClusterPolicy>("", "cluster"); }
  Answer asked(const Request& request) const { return ask(kValidate, request, cluster, settings); }
  static Request gpu_pod() { return pod(asks("nvidia.com/gpu", 1)); }
  static Request gpu_job() { return job(asks("nvidia.com/gpu", 1)); }
  static Request of_daemon_set(Request request) {
    request.user = "system:serviceaccount:kube-system:daemon-set-controller";
    return with(std::move(request), "/metadata/ownerReferences",
                {{{"apiVersion", "apps/v1"},
                  {"kind", "DaemonSet"},
                  {"name", "d"},
                  {"uid", "u"},
                  {"controller", true}}});
  }
  static Request in(const char* ns, Request request) {
    request.ns = ns;
    return request;
  }

  ClusterState cluster = make_cluster();
  Settings settings;
};

TEST_F(QueueBoundsTest, ADaemonSetsPodsAskForNoGpusUnlessThePolicyAllowsIt) {
  const Request request = of_daemon_set(gpu_pod());
  EXPECT_THAT(asked(request).message,
              HasSubstr("metadata.ownerReferences: a DaemonSet's pods pass the queue"));
  EXPECT_THAT(asked(request).message, HasSubstr("spec.admission.daemonSets: Allow"));
  EXPECT_TRUE(asked(of_daemon_set(pod(container("{}")))).allowed) << "agents ask for none";
  EXPECT_TRUE(asked(in("shop", request)).allowed) << "nobody manages it";
  EXPECT_TRUE(asked(in("gpu-operator", request)).allowed);

  change_policy([](AdmissionSpec& spec) { spec.enforcement = Enforcement::kWarn; });
  EXPECT_TRUE(asked(request).allowed);
  EXPECT_THAT(asked(request).warnings, Contains(HasSubstr("a DaemonSet's pods pass the queue")));
  change_policy([](AdmissionSpec& spec) {
    spec.enforcement = Enforcement::kEnforce;
    spec.daemon_sets = Permission::kAllow;
  });
  EXPECT_TRUE(asked(request).allowed);
  EXPECT_EQ(at(ask(kMutate, request, cluster, settings).object, "/spec/schedulingGates"), "absent");

  remove_policy();
  EXPECT_FALSE(asked(request).allowed) << "a queue is for the namespace all the same";
  EXPECT_TRUE(asked(in("lab", request)).allowed) << "no queue is";
}

TEST_F(QueueBoundsTest, ClaimsAreRefusedUnlessThePolicyAllowsThem) {
  const json claims = {{{"name", "gpu"}, {"resourceClaimTemplateName", "one"}}};
  const Request claiming = with(pod(container("{}")), "/spec/resourceClaims", claims);
  const Request of_job = with(job(container("{}")), "/spec/template/spec/resourceClaims", claims);
  const Request by_class = pod(asks("deviceclass.resource.kubernetes.io/gpu.nvidia.com", 1));
  EXPECT_THAT(asked(claiming).message, HasSubstr("spec.resourceClaims: no queue counts"));
  EXPECT_THAT(asked(of_job).message, HasSubstr("spec.template.spec.resourceClaims: no queue"));
  EXPECT_THAT(asked(by_class).message,
              HasSubstr("spec.containers[0].resources: deviceclass.resource.kubernetes.io/"
                        "gpu.nvidia.com allocates by a claim"));
  EXPECT_THAT(asked(by_class).message, HasSubstr("spec.admission.resourceClaims: Allow"));
  EXPECT_TRUE(asked(with(claiming, "/spec/resourceClaims", json::array())).allowed);
  EXPECT_TRUE(asked(in("shop", claiming)).allowed);

  change_policy([](AdmissionSpec& spec) { spec.resource_claims = Permission::kAllow; });
  for (const Request& request : {claiming, of_job, by_class})
    EXPECT_TRUE(asked(request).allowed) << request.object;
  remove_policy();
  EXPECT_FALSE(asked(claiming).allowed);
  EXPECT_TRUE(asked(in("lab", claiming)).allowed) << "of no queue, and no policy";
}

// By then the API server has set TerminatingOrFailed.
TEST_F(QueueBoundsTest, AJobOfAQueueReplacesAPodOnceItHasEnded) {
  const Request early = with(gpu_job(), kReplacement, "TerminatingOrFailed");
  for (const Request& request : {early, gpu_job()}) {
    Request made = request;
    made.object = ask(kMutate, request, cluster, settings).object;
    EXPECT_EQ(at(made.object, kReplacement), R"("Failed")");
    EXPECT_EQ(ask(kMutate, made, cluster, settings).patch, "") << "written once";
    EXPECT_TRUE(asked(made).allowed);
  }
  EXPECT_THAT(asked(early).message, HasSubstr("spec.podReplacementPolicy: TerminatingOrFailed"));
  EXPECT_TRUE(asked(with(job(container("{}")), kReplacement, "TerminatingOrFailed")).allowed)
      << "of no queue";

  const auto update = [&](const char* from, const char* to) {
    Request request = with(gpu_job(), kReplacement, to);
    request.old_object = with(gpu_job(), kReplacement, from).object;
    request.operation = "UPDATE";
    return request;
  };
  EXPECT_FALSE(asked(update("Failed", "TerminatingOrFailed")).allowed);
  EXPECT_TRUE(asked(update("TerminatingOrFailed", "TerminatingOrFailed")).allowed)
      << "it was there before the rule";
  EXPECT_TRUE(asked(update("TerminatingOrFailed", "Failed")).allowed);

  change_policy([](AdmissionSpec& spec) { spec.pod_replacement_policy = PodReplacement::kAny; });
  EXPECT_EQ(at(ask(kMutate, early, cluster, settings).object, kReplacement),
            R"("TerminatingOrFailed")");
  EXPECT_TRUE(asked(early).allowed);
  EXPECT_TRUE(asked(update("Failed", "TerminatingOrFailed")).allowed);
}

TEST_F(QueueBoundsTest, AGracePeriodHasAnEnd) {
  const auto pod_of = [&](std::int64_t seconds) {
    return asked(with(gpu_pod(), "/spec/terminationGracePeriodSeconds", seconds));
  };
  const auto job_of = [&](std::int64_t seconds) {
    return asked(with(gpu_job(), "/spec/template/spec/terminationGracePeriodSeconds", seconds));
  };
  EXPECT_TRUE(pod_of(3600).allowed);
  EXPECT_TRUE(job_of(3600).allowed);
  EXPECT_THAT(
      pod_of(3601).message,
      HasSubstr("spec.terminationGracePeriodSeconds: is 3601, and a pod of a queue may keep "
                "its GPUs for 3600 s"));
  EXPECT_THAT(job_of(31536000).message,
              HasSubstr("spec.template.spec.terminationGracePeriodSeconds: is 31536000"));
  EXPECT_TRUE(
      asked(with(pod(container("{}")), "/spec/terminationGracePeriodSeconds", 3601)).allowed)
      << "of no queue";
  change_policy(
      [](AdmissionSpec& spec) { spec.max_termination_grace_period = std::chrono::minutes(1); });
  EXPECT_FALSE(pod_of(61).allowed);
  EXPECT_TRUE(asked(gpu_pod()).allowed);
}

}  // namespace
}  // namespace berth::test
