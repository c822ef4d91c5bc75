// SPDX-License-Identifier: Apache-2.0
// The webhook warns of containers that no node's driver can run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/admission/review_case.h"

namespace berth::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kRuntime[] = "nvidia.com/cuda.runtime-version.full";

// Pool training's only node has this CUDA.
ClusterState cluster_with(const std::string& cuda) {
  ClusterState cluster = make_cluster();
  Node node = *cluster.nodes().find("t1");
  node.meta.labels.set(kRuntime, cuda);
  cluster.upsert(std::move(node), {});
  return cluster;
}

std::string needing(const std::string& requirement) {
  return R"({"containers":[{"name":"c","env":[{"name":"NVIDIA_REQUIRE_CUDA","value":")" +
         requirement + R"("}],"resources":{"limits":{"nvidia.com/gpu":"1"}}}]})";
}

std::vector<std::string> warnings(const Request& request, const ClusterState& cluster) {
  const Answer answer = ask(ReviewPath::kValidate, request, cluster);
  EXPECT_TRUE(answer.allowed) << answer.message;
  return answer.warnings;
}

TEST(CudaReview, ADriverThatIsTooOldIsToldOf) {
  const ClusterState cluster = cluster_with("12.2");
  EXPECT_THAT(warnings(pod(needing("cuda>=12.4")), cluster),
              ElementsAre(AllOf(HasSubstr("spec.containers[0].env: needs cuda>=12.4"),
                                HasSubstr("no node for it has more than CUDA 12.2"))));
  EXPECT_THAT(warnings(job(needing("cuda>=12.4")), cluster),
              ElementsAre(HasSubstr("spec.template.spec.containers[0].env: needs cuda>=12.4")));
  EXPECT_THAT(warnings(pod(needing("cuda>=12.0")), cluster), IsEmpty());
  EXPECT_THAT(warnings(pod(needing("cuda>=12.4")), make_cluster()), IsEmpty())
      << "the labels say nothing";
}

TEST(CudaReview, OneNodeThatCanIsEnough) {
  ClusterState cluster = cluster_with("12.2");
  add_node(cluster, "t2",
           {{kRuntime, "12.6"}, {"tier", "training"}, {"gpu.berth.dev/pool", "training"}},
           "nvidia.com/gpu", 8);
  EXPECT_THAT(warnings(pod(needing("cuda>=12.4")), cluster), IsEmpty());
}

TEST(CudaReview, AnAnnotationSaysItToo) {
  const auto annotated = [](const std::string& version) {
    Request request = pod(asks("nvidia.com/gpu", 1));
    const std::string metadata = R"("metadata":{)";
    request.object.insert(request.object.find(metadata) + metadata.size(),
                          R"("annotations":{"gpu.berth.dev/required-cuda":")" + version + R"("},)");
    return request;
  };
  EXPECT_THAT(warnings(annotated("12.4"), cluster_with("12.2")),
              ElementsAre(HasSubstr("metadata.annotations[gpu.berth.dev/required-cuda]: needs "
                                    "cuda>=12.4")));
  EXPECT_THAT(warnings(annotated("12.1"), cluster_with("12.2")), IsEmpty());
  EXPECT_THAT(warnings(annotated("new"), cluster_with("12.2")),
              ElementsAre(HasSubstr("\"new\" is no version; write one as 12.4")));
}

}  // namespace
}  // namespace berth::test
