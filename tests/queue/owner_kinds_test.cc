// SPDX-License-Identifier: Apache-2.0
// How a controller handles an eviction, by its kind and its object in the API server.
#include "controller/queue/index/owner_kinds.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "controller/queue/index/remakers.h"
#include "tests/queue/framework_pods.h"
#include "tests/support/places.h"

namespace berth::queue::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// "": it re-creates the pod.
std::string why_kept(const berth::Pod& pod, const Result<std::string>& object) {
  const OwnedPod owned = owned_pod(pod);
  const OwnerKind* kind = find_owner_kind(owned.owner);
  return kind == nullptr ? "unknown kind" : why_owner_fails(*kind, owned, object).value_or("");
}

std::string owner_json(const berth::Pod& pod, const std::string& fields) {
  return fmt::format(R"({{"metadata":{{"name":"x","uid":"{}"}},{}}})",
                     pod.meta.controller()->uid.view(), fields);
}

std::string with_roles(const berth::Pod& pod, const std::string& specs, const std::string& roles) {
  return owner_json(pod, fmt::format(R"("spec":{{"{}":{{{}}}}})", specs, roles));
}

berth::Pod of_kind(const std::string& kind, const std::string& role) {
  berth::Pod pod = kubeflow_pod("train", "controller", role);
  pod.meta.owner_references[0].kind = kind;
  return pod;
}

TEST(OwnerKinds, TheRestartPolicyOfThePodsRoleDecidesAboutAKubeflowJob) {
  const struct {
    const char* kind;
    const char* specs;
    const char* absent;  // the meaning of an absent policy
  } kinds[] = {
      {"TFJob", "tfReplicaSpecs", "Never"},
      {"PyTorchJob", "pytorchReplicaSpecs", "OnFailure"},
      {"MPIJob", "mpiReplicaSpecs", "Never"},
      {"XGBoostJob", "xgbReplicaSpecs", "Never"},
      {"PaddleJob", "paddleReplicaSpecs", "OnFailure"},
      {"JAXJob", "jaxReplicaSpecs", "Never"},
  };
  for (const auto& k : kinds) {
    SCOPED_TRACE(k.kind);
    const berth::Pod pod = of_kind(k.kind, "worker");
    const auto says = [&](const std::string& worker) {
      return why_kept(pod, with_roles(pod, k.specs,
                                      R"("Master":{"restartPolicy":"Never"},"Worker":)" + worker));
    };
    for (const char* again : {"OnFailure", "Always", "ExitCode"})
      EXPECT_EQ(says(fmt::format(R"({{"restartPolicy":"{}"}})", again)), "") << again;
    EXPECT_THAT(says(R"({"restartPolicy":"Never"})"),
                AllOf(HasSubstr(fmt::format("{} ns/train would fail", k.kind)),
                      HasSubstr(fmt::format("spec.{}.Worker", k.specs))));
    const bool again_by_default = std::string(k.absent) == "OnFailure";
    EXPECT_EQ(says(R"({"replicas":2})").empty(), again_by_default);
    EXPECT_NE(says(R"({"restartPolicy":"Sometimes"})"), "") << "a policy that is not known";
  }
}

TEST(OwnerKinds, ARoleThatIsNotThereOrNotStatedIsJudgedByAll) {
  const berth::Pod odd = of_kind("TFJob", "evaluator");
  EXPECT_THAT(
      why_kept(odd, with_roles(odd, "tfReplicaSpecs", R"("Worker":{"restartPolicy":"OnFailure"})")),
      HasSubstr("no role evaluator"));
  berth::Pod none = of_kind("TFJob", "worker");
  none.meta.labels.erase("training.kubeflow.org/replica-type");
  EXPECT_EQ(why_kept(none, with_roles(none, "tfReplicaSpecs",
                                      R"("Worker":{"restartPolicy":"OnFailure"})")),
            "");
  EXPECT_NE(why_kept(none, with_roles(none, "tfReplicaSpecs",
                                      R"("PS":{"restartPolicy":"OnFailure"},"Worker":{})")),
            "");
  EXPECT_THAT(why_kept(none, owner_json(none, R"("spec":{})")),
              HasSubstr("has no spec.tfReplicaSpecs"));
}

TEST(OwnerKinds, WhatCannotBeReadIsNotReliedOn) {
  const berth::Pod pod = of_kind("TFJob", "worker");
  EXPECT_THAT(why_kept(pod, Error{.kind = ErrorKind::kForbidden}),
              AllOf(HasSubstr("berth may not read TFJob ns/train"),
                    HasSubstr("grant get on tfjobs.kubeflow.org")));
  EXPECT_THAT(why_kept(pod, Error{.kind = ErrorKind::kNotFound}), HasSubstr("is not there"));
  EXPECT_THAT(why_kept(pod, std::string(R"({"metadata":{"uid":"another"},"spec":{}})")),
              HasSubstr("is not there"));
  for (const char* junk : {"", "[]", "{", "7", R"({"metadata":[]})"})
    EXPECT_THAT(why_kept(pod, std::string(junk)), HasSubstr("is not there")) << junk;
}

TEST(OwnerKinds, ARayClusterCreatesItsPodsAgainUnlessARayJobSubmitsToIt) {
  const berth::Pod pod = ray_pod("ray", "workers");
  const auto owned_by = [&](const std::string& owners) {
    return why_kept(pod, fmt::format(R"({{"metadata":{{"uid":"{}","ownerReferences":{}}}}})",
                                     pod.meta.controller()->uid.view(), owners));
  };
  EXPECT_EQ(owned_by("null"), "");
  EXPECT_EQ(owned_by("[]"), "");
  EXPECT_EQ(owned_by(R"([{"kind":"RayService","name":"s","controller":true}])"), "");
  EXPECT_EQ(owned_by(R"([{"kind":"RayJob","name":"j","controller":false}])"), "");
  EXPECT_THAT(owned_by(R"([{"kind":"RayJob","name":"j","controller":true}])"),
              AllOf(HasSubstr("RayJob ns/j would fail"), HasSubstr("delete the RayJob")));
}

TEST(OwnerKinds, AnMpiJobWaitsWithItsLauncherOrFailsWithoutItsWorkers) {
  const berth::Pod pod = mpi_pod("mpi", "worker");
  const auto launched_by = [&](const std::string& launcher) {
    return why_kept(pod,
                    with_roles(pod, "mpiReplicaSpecs", R"("Worker":{},"Launcher":)" + launcher));
  };
  EXPECT_THAT(launched_by(R"({"template":{"spec":{"containers":[{}]}}})"),
              AllOf(HasSubstr("MPIJob ns/mpi would fail"), HasSubstr("gpu.berth.dev/queue")));
  constexpr char kLabelled[] =
      R"({"template":{"metadata":{"labels":{"gpu.berth.dev/queue":"vision"}},"spec":{}}})";
  constexpr char kWorks[] =
      R"({"template":{"spec":{"containers":[{"resources":{"limits":{"nvidia.com/gpu":1}}}]}}})";
  EXPECT_EQ(launched_by(kLabelled), "");
  EXPECT_EQ(launched_by(kWorks), "") << "it asks for GPUs, and so it is in the queue";
  EXPECT_EQ(launched_by("null"), "") << "there is none to fail";
}

TEST(OwnerKinds, KindsAreToldApartByGroupAndVersion) {
  const auto kind = [](const std::string& version, const std::string& name) {
    OwnerReference owner{.api_version = Text(version), .kind = Text(name)};
    const OwnerKind* found = find_owner_kind(owner);
    return found == nullptr ? "" : api_version(found->info);
  };
  EXPECT_EQ(kind("apps/v1", "ReplicaSet"), "apps/v1");
  EXPECT_EQ(kind("v1", "ReplicationController"), "v1");
  EXPECT_EQ(kind("kubeflow.org/v1", "MPIJob"), "kubeflow.org/v1");
  EXPECT_EQ(kind("kubeflow.org/v2beta1", "MPIJob"), "kubeflow.org/v2beta1");
  EXPECT_EQ(kind("ray.io/v1alpha1", "RayCluster"), "ray.io/v1") << "the server converts";
  EXPECT_EQ(kind("example.com/v1", "ReplicaSet"), "") << "somebody else's";
  EXPECT_EQ(kind("batch.volcano.sh/v1alpha1", "Job"), "");
}

TEST(OwnerKinds, APodThatDoesNotRestartStaysUnderAKindThatIsNotKnown) {
  ClusterState cluster;
  berth::Pod pod = framework_pod(
      "step", {.api_version = "argoproj.io/v1alpha1", .kind = "Workflow", .name = "w"});
  EXPECT_EQ(Remakers(cluster).why_not(pod), "") << "its containers restart, so its owner goes on";
  pod.never_restarts = true;
  EXPECT_THAT(Remakers(cluster).why_not(pod),
              AllOf(HasSubstr("pod step has restartPolicy Never"),
                    HasSubstr("Workflow ns/w (argoproj.io/v1alpha1)")));
  pod.meta.owner_references[0] = {.api_version = "batch.volcano.sh/v1alpha1",
                                  .kind = "Job",
                                  .name = "w",
                                  .uid = "w",
                                  .controller = true};
  EXPECT_THAT(Remakers(cluster).why_not(pod), HasSubstr("Job ns/w (batch.volcano.sh/v1alpha1)"));
  pod.meta.owner_references[0].api_version = "apps/v1";
  pod.meta.owner_references[0].kind = "StatefulSet";
  EXPECT_EQ(Remakers(cluster).why_not(pod), "");
}

// The chart's ClusterRole lists the resources one by one.
TEST(OwnerKinds, TheChartGrantsTheReadOfEachKindThatIsRead) {
  std::ifstream file(berth::test::source_dir() + "/helm/berth/templates/rbac-cluster.yaml");
  const std::string role{std::istreambuf_iterator<char>(file), {}};
  for (const OwnerKind& kind : owner_kinds()) {
    if (kind.then == AfterEviction::kRecreates) continue;
    const std::size_t group = role.find(fmt::format("apiGroups: [{}]", kind.info.group));
    ASSERT_NE(group, role.npos) << kind.info.group;
    const std::string rule = role.substr(group, role.find("\n- ", group) - group);
    EXPECT_THAT(rule, AllOf(HasSubstr(std::string(kind.info.plural)), HasSubstr("verbs: [get]")));
  }
}

// Each read is a request: berth only reads what matters for a decision.
TEST(OwnerKinds, OnlyAPodThatHasBegunAndMayEndItsJobIsReadAbout) {
  ClusterState cluster;
  const auto is_read = [&](const berth::Pod& pod) {
    return Remakers(cluster).judge(pod).read_first != nullptr;
  };
  berth::Pod pod = of_kind("TFJob", "worker");
  pod.node_name = "n1";
  EXPECT_FALSE(is_read(pod)) << "OnFailure and Always show on the pod";
  pod.never_restarts = true;
  EXPECT_TRUE(is_read(pod)) << "Never and ExitCode look alike";
  pod.node_name = "";
  EXPECT_FALSE(is_read(pod)) << "it has not begun";
  berth::Pod ray = ray_pod("ray", "workers");
  ray.node_name = "n1";
  EXPECT_TRUE(is_read(ray));
  EXPECT_FALSE(is_read(stateful_pod("set", 0)));
}

}  // namespace
}  // namespace berth::queue::test
