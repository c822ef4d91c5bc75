// SPDX-License-Identifier: Apache-2.0
// The webhook warns of pods whose GPUs have less memory than the pods need.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/admission/review_case.h"

namespace berth::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

StringMap a100(StringMap labels) {
  labels.set("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB");
  labels.set("nvidia.com/gpu.count", "8");
  return labels;
}

// All three nodes have A100s of 80 GB: t1 whole ones, i1 partitioned ones, d1 shared ones for
// namespace lab.
ClusterState labelled_cluster() {
  ClusterState cluster = make_cluster();
  for (const char* name : {"t1", "i1", "d1"}) {
    Node node = *cluster.nodes().find(name);
    node.meta.labels = a100(node.meta.labels);
    cluster.upsert(std::move(node), {});
  }
  return cluster;
}

Request loading(const std::string& size, Request request) {
  const std::string metadata = R"("metadata":{)";
  request.object.insert(
      request.object.find(metadata) + metadata.size(),
      R"("annotations":{"gpu.berth.dev/required-gpu-memory":")" + size + R"("},)");
  return request;
}

std::vector<std::string> told(const Request& request,
                              const ClusterState& cluster = labelled_cluster()) {
  const Answer answer = ask(ReviewPath::kValidate, request, cluster);
  EXPECT_TRUE(answer.allowed) << answer.message;
  std::vector<std::string> of_memory;
  for (const std::string& warning : answer.warnings)
    if (warning.find("required-gpu-memory") != warning.npos) of_memory.push_back(warning);
  return of_memory;
}

TEST(MemoryReview, SaysWhatHoldsIt) {
  EXPECT_THAT(told(loading("133Gi", pod(asks("nvidia.com/gpu", 1)))),
              ElementsAre("metadata.annotations[gpu.berth.dev/required-gpu-memory]: needs 133Gi, "
                          "and 1 nvidia.com/gpu has at most 72.0GiB for it here; ask for 2 "
                          "nvidia.com/gpu"));
  EXPECT_THAT(told(loading("133Gi", pod(asks("nvidia.com/gpu", 2)))), IsEmpty());
  EXPECT_THAT(told(loading("72Gi", pod(asks("nvidia.com/gpu", 1)))), IsEmpty())
      << "nine tenths of 80";
  EXPECT_THAT(told(loading("600Gi", pod(asks("nvidia.com/gpu", 8)))),
              ElementsAre(EndsWith("no node that its namespace may use has so much")));
}

TEST(MemoryReview, InstancesDontAddUp) {
  EXPECT_THAT(told(loading("9Gi", pod(asks("nvidia.com/mig-1g.10gb", 1)))), IsEmpty());
  EXPECT_THAT(told(loading("16Gi", pod(asks("nvidia.com/mig-1g.10gb", 2)))),
              ElementsAre(AllOf(HasSubstr("2 nvidia.com/mig-1g.10gb has at most 9.0GiB"),
                                EndsWith("ask for 1 nvidia.com/gpu"))))
      << "the catalog has mig-3g.40gb for tier gold alone, and no node offers mig-1g.20gb";
  ClusterState cluster = labelled_cluster();
  Namespace gold = *cluster.namespaces().find("team-a");
  gold.meta.labels.set("tier", "gold");
  cluster.upsert(std::move(gold), {});
  EXPECT_THAT(told(loading("16Gi", pod(asks("nvidia.com/mig-1g.10gb", 1))), cluster),
              ElementsAre(EndsWith("ask for 1 nvidia.com/mig-3g.40gb")));
}

TEST(MemoryReview, APartOfASharedGpuSeesTheWholeUnlessMpsAllotsIt) {
  Request request = loading("40Gi", pod(asks("nvidia.com/gpu.shared", 1)));
  request.ns = "lab";
  EXPECT_THAT(told(request), IsEmpty());

  ClusterState cluster = labelled_cluster();
  Node node = *cluster.nodes().find("d1");
  node.meta.labels.set("nvidia.com/gpu.sharing-strategy", "mps");
  node.meta.labels.set("nvidia.com/gpu.replicas", "4");
  cluster.upsert(std::move(node), {});
  EXPECT_THAT(told(request, cluster),
              ElementsAre(AllOf(HasSubstr("1 nvidia.com/gpu.shared has at most 18.0GiB"),
                                EndsWith("ask for 1 nvidia.com/gpu"))))
      << "neither a larger share nor two of them";
}

TEST(MemoryReview, NothingIsSaidOfWhatIsNotKnown) {
  EXPECT_THAT(told(loading("133Gi", pod(asks("nvidia.com/gpu", 1))), make_cluster()), IsEmpty());
  ClusterState cluster = labelled_cluster();
  add_node(cluster, "t2", {{"tier", "training"}}, "nvidia.com/gpu", 8);
  EXPECT_THAT(told(loading("133Gi", pod(asks("nvidia.com/gpu", 1))), cluster), IsEmpty())
      << "it may land on t2, whose GPUs nobody has named";
  EXPECT_THAT(told(loading("133Gi", pod(R"({"containers":[{"name":"c"}]})"))), IsEmpty());
}

TEST(MemoryReview, ALabelTellsWhereTheTableLacksTheProduct) {
  ClusterState cluster = make_cluster();
  Node node = *cluster.nodes().find("t1");
  node.meta.labels.set("nvidia.com/gpu.product", "NVIDIA-L4");
  node.meta.labels.set("nvidia.com/gpu.count", "8");
  node.meta.labels.set("nvidia.com/gpu.memory", "23040");
  cluster.upsert(std::move(node), {});
  EXPECT_THAT(told(loading("60Gi", pod(asks("nvidia.com/gpu", 2))), cluster),
              ElementsAre(AllOf(HasSubstr("2 nvidia.com/gpu has at most 40.5GiB"),
                                EndsWith("ask for 4 nvidia.com/gpu"))));
}

TEST(MemoryReview, AJobsTemplateSaysItForItsPods) {
  Request request = job(asks("nvidia.com/gpu", 1));
  const std::string of_template = R"("template":{)";
  request.object.insert(
      request.object.find(of_template) + of_template.size(),
      R"("metadata":{"annotations":{"gpu.berth.dev/required-gpu-memory":"133Gi"}},)");
  EXPECT_THAT(told(request),
              ElementsAre(HasSubstr("spec.template.metadata.annotations[gpu.berth.dev/required-")));
}

TEST(MemoryReview, WhatIsNoSizeIsToldOf) {
  for (const char* size : {"70B", "0", "-1Gi", "much"})
    EXPECT_THAT(told(loading(size, pod(asks("nvidia.com/gpu", 1)))),
                ElementsAre(AllOf(HasSubstr("is no size above 0; write one as 40Gi"),
                                  Not(HasSubstr("needs")))))
        << size;
  EXPECT_THAT(told(loading("9E", pod(asks("nvidia.com/gpu", 8)))),
              ElementsAre(EndsWith("has so much")));
}

}  // namespace
}  // namespace berth::test
