// SPDX-License-Identifier: Apache-2.0
// The gang of each framework's pods, with the labels and annotations that these pods really carry.
#include "controller/queue/record/gang_adapters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "tests/queue/framework_pods.h"

namespace berth::queue::test {
namespace {

Gang gang_of(const berth::Pod& pod) { return queue::gang_of(pod.meta); }

TEST(Gang, OfALeaderWorkerSetIsOneOfItsGroupsAndSaysItsSize) {
  const Gang leader = gang_of(leader_worker_pod("llm", 1, 0, 4));
  EXPECT_EQ(leader.name, "LeaderWorkerSet:llm:1");
  EXPECT_EQ(leader.maker, "LeaderWorkerSet llm");
  EXPECT_EQ(leader.size, 4);
  EXPECT_EQ(leader.role, "leader");
  EXPECT_EQ(leader.role_size, 1);
  const Gang worker = gang_of(leader_worker_pod("llm", 1, 3, 4));
  EXPECT_EQ(worker.name, leader.name);
  EXPECT_EQ(worker.role, "worker");
  EXPECT_EQ(worker.role_size, 3);
  EXPECT_NE(gang_of(leader_worker_pod("llm", 0, 0, 4)).name, leader.name);
}

// The StatefulSets of a LeaderWorkerSet are not gangs of their own.
TEST(Gang, OfALeaderWorkerSetIsNotItsStatefulSets) {
  berth::Pod pod = leader_worker_pod("llm", 0, 0, 4);
  ASSERT_EQ(pod.meta.controller()->kind, "StatefulSet");
  pod.meta.annotations.set(names::kPodGroupSizeAnnotation, "3");
  EXPECT_EQ(gang_of(pod).name, "LeaderWorkerSet:llm:0");
  EXPECT_EQ(gang_of(pod).size, 3) << "berth's own size wins, as of workers without their leader";
  EXPECT_EQ(gang_of(pod).role_size, 0) << "of which the set's own size tells no roles";
}

TEST(Gang, OfFrameworksWithoutASizeHasTheOneThatTheTemplateGives) {
  struct Case {
    berth::Pod pod;
    std::string name, maker, role;
  };
  for (Case each :
       {Case{job_set_pod("train", "workers", 0), "JobSet:train", "JobSet train", "workers"},
        Case{kubeflow_pod("train", "pytorchjob-controller", "master"),
             "Kubeflow:train:pytorchjob-controller", "Kubeflow train", "master"},
        Case{mpi_pod("train", "launcher"), "Kubeflow:train:mpi-operator", "Kubeflow train",
             "launcher"},
        Case{ray_pod("tune", "headgroup"), "RayCluster:tune", "RayCluster tune", "headgroup"},
        Case{stateful_pod("ring", 0), "StatefulSet:ring", "StatefulSet ring", ""}}) {
    SCOPED_TRACE(each.name);
    Gang gang = gang_of(each.pod);
    EXPECT_EQ(gang.name, each.name);
    EXPECT_EQ(gang.maker, each.maker);
    EXPECT_EQ(gang.role, each.role);
    EXPECT_EQ(gang.size, 0) << "what its pods carry counts no pods";
    EXPECT_EQ(gang.role_size, 0);
    EXPECT_FALSE(gang.fast);
    each.pod.meta.annotations.set(names::kPodGroupSizeAnnotation, "5");
    each.pod.meta.annotations.set(names::kPodRoleSizeAnnotation, "2");
    each.pod.meta.annotations.set(names::kFastAdmissionAnnotation, "true");
    gang = gang_of(each.pod);
    EXPECT_EQ(gang.name, each.name) << "with a size as without";
    EXPECT_EQ(gang.size, 5);
    EXPECT_EQ(gang.role_size, 2);
    EXPECT_TRUE(gang.fast);
  }
}

// A PyTorchJob and an MPIJob with the same name are two gangs.
TEST(Gang, OfKubeflowIsTheOperatorsToo) {
  EXPECT_NE(gang_of(kubeflow_pod("train", "pytorchjob-controller", "worker")).name,
            gang_of(mpi_pod("train", "worker")).name);
}

TEST(Gang, OfBerthsOwnLabelAndSizeGoesBeforeAnyFrameworks) {
  for (berth::Pod pod : {leader_worker_pod("llm", 0, 1, 4), job_set_pod("train", "workers", 0),
                         stateful_pod("ring", 1)}) {
    pod.meta.labels.set(names::kPodGroupLabel, "mine");
    const Gang without = gang_of(pod);
    EXPECT_NE(without.size > 0 ? without.name : "", "mine") << "it has no size yet";
    pod.meta.annotations.set(names::kPodGroupSizeAnnotation, "7");
    const Gang gang = gang_of(pod);
    EXPECT_EQ(gang.name, "mine");
    EXPECT_EQ(gang.maker, "group mine");
    EXPECT_EQ(gang.size, 7);
    EXPECT_FALSE(gang.of_framework);
  }
}

TEST(Gang, WithASizeThatIsNoneHasNone) {
  berth::Pod pod = stateful_pod("ring", 0);
  for (const char* size : {"", "0", "-4", "four", "4 ", "4.5", "99999999999999999999"}) {
    pod.meta.annotations.set(names::kPodGroupSizeAnnotation, size);
    EXPECT_EQ(gang_of(pod).size, 0) << size;
  }
  pod.meta.annotations.set(names::kPodGroupSizeAnnotation, "9999999999");
  EXPECT_EQ(gang_of(pod).size, 1'000'000) << "so that sums stay whole numbers";
}

TEST(Gang, OfAPodThatNobodyPutIntoOneIsNone) {
  berth::Pod pod;
  pod.meta.name = "alone";
  EXPECT_EQ(gang_of(pod).name, "");
  pod.meta.annotations.set(names::kPodGroupSizeAnnotation, "4");
  EXPECT_EQ(gang_of(pod).name, "") << "a size is of a group";
  EXPECT_EQ(gang_of(pod).size, 0);
  pod.meta.owner_references = {{.api_version = "apps.kruise.io/v1beta1",
                                .kind = "StatefulSet",
                                .name = "ring",
                                .controller = true}};
  EXPECT_EQ(gang_of(pod).name, "") << "another project's StatefulSet";
  pod.meta.owner_references[0].api_version = "apps/v1";
  pod.meta.owner_references[0].controller = false;
  EXPECT_EQ(gang_of(pod).name, "") << "an owner that does not control it";
}

}  // namespace
}  // namespace berth::queue::test
