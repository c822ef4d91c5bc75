// SPDX-License-Identifier: Apache-2.0
// The owner of a Deployment's pods: by uids if both objects are known, else by the name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/explain/explain_workload.h"
#include "tests/support/builders.h"

namespace berth::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class WorkloadPods : public ::testing::Test {
 protected:
  WorkloadPods() { cluster_.upsert<Pod>(pod("web-5d9-x2").owner("ReplicaSet", "web-5d9"), Time{}); }
  void know(const char* kind, const char* name, const char* uid, const char* owner_uid = "") {
    clues_.workloads.push_back(
        {.kind = kind, .namespace_ = "team-a", .name = name, .uid = uid, .owner_uid = owner_uid});
  }
  std::vector<std::string> pods_of(const char* deployment) const {
    std::vector<std::string> names;
    for (const Pod* pod : berth::pods_of(cluster_, clues_, {"Deployment", "team-a", deployment}))
      names.push_back(pod->meta.name);
    return names;
  }

  ClusterState cluster_;
  Clues clues_;
};

TEST_F(WorkloadPods, WithoutTheObjectsTheNameTells) {
  EXPECT_THAT(pods_of("web"), ElementsAre("web-5d9-x2"));
  EXPECT_THAT(pods_of("we"), IsEmpty());
}

TEST_F(WorkloadPods, WithOneOfTheTwoObjectsItTellsToo) {
  know("Deployment", "web", "uid-web");
  EXPECT_THAT(pods_of("web"), ElementsAre("web-5d9-x2")) << "its ReplicaSets may not be read";
  clues_.workloads.clear();
  know("ReplicaSet", "web-5d9", "uid-set", "uid-of-another");
  EXPECT_THAT(pods_of("web"), ElementsAre("web-5d9-x2")) << "Deployments may not be read";
}

TEST_F(WorkloadPods, WithBothObjectsTheUidsDecide) {
  know("ReplicaSet", "web-5d9", "uid-set", "uid-web");
  know("Deployment", "web", "uid-web-made-anew");
  EXPECT_THAT(pods_of("web"), IsEmpty()) << "the pods of the one before it, which go";
  clues_.workloads.back().uid = "uid-web";
  EXPECT_THAT(pods_of("web"), ElementsAre("web-5d9-x2"));
  know("Deployment", "odd", "uid-odd");
  clues_.workloads.front().owner_uid = "uid-odd";
  EXPECT_THAT(pods_of("odd"), ElementsAre("web-5d9-x2")) << "whatever it is called";
}

}  // namespace
}  // namespace berth::test
