// SPDX-License-Identifier: Apache-2.0
// Elastic pools without nodes: what the webhook adds and admits, so that an autoscaler sees the
// pods and adds the first node.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/admission/gpu_offers.h"
#include "tests/admission/review_case.h"

namespace berth::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kWholeGpu[] = "nvidia.com/gpu";

PoolSpec elastic() {
  PoolSpec made;
  made.name = "elastic";
  made.node_selector.match_labels = {{"tier", "elastic"}};
  made.elastic = ElasticSpec{.max_nodes = 4};
  made.taints = {{"gpu.example.com/elastic", "", "NoSchedule"}};
  return made;
}

GPUQueue queue_of(const std::string& resource) {
  GPUQueue queue;
  queue.meta.name = "batch";
  queue.meta.uid = "uid-batch";
  queue.spec.quotas = {{.resource = resource, .pool = "elastic", .nominal_quota = 32}};
  return queue;
}

std::string asks_on(const char* resource, std::string_view more) {
  return fmt::format(
      R"({{{},"containers":[{{"name":"c","resources":{{"limits":{{"{}":"1"}}}}}}]}})", more,
      resource);
}

class NodesToCome : public ::testing::Test {
 protected:
  NodesToCome() { set(elastic()); }
  void set(const PoolSpec& last) {
    cluster_ = make_cluster([&](GPUClusterPolicySpec& spec) { spec.pools.push_back(last); });
  }
  void add_elastic_node(const char* resource, int count) {
    add_node(cluster_, "e1", {{"tier", "elastic"}}, resource, count);
  }
  // The pools to which the webhook restricts the pod; "absent": it adds none.
  std::string held_to(const Request& request) {
    const Answer answer = ask(ReviewPath::kMutate, request, cluster_);
    return at(answer.object,
              "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/"
              "nodeSelectorTerms/0/matchExpressions/0/values");
  }
  std::string held_to(const char* resource) { return held_to(pod(asks(resource, 1))); }
  std::string refusal(const Request& request) {
    return ask(ReviewPath::kValidate, request, cluster_).message;
  }

  ClusterState cluster_;
};

TEST_F(NodesToCome, AnElasticPoolWithoutNodesMayServeThePod) {
  EXPECT_EQ(held_to(kWholeGpu), R"(["training","elastic"])");
  const Answer answer = ask(ReviewPath::kMutate, pod(asks(kWholeGpu, 1)), cluster_);
  EXPECT_THAT(at(answer.object, "/spec/tolerations"), HasSubstr("gpu.example.com/elastic"));
  const Answer of_job = ask(ReviewPath::kMutate, job(asks(kWholeGpu, 1)), cluster_);
  EXPECT_THAT(of_job.object, HasSubstr(R"("values":["training","elastic"])"));
}

TEST_F(NodesToCome, WithoutBoundThePoolHasOnlyTheNodesThatAreThere) {
  PoolSpec fixed = elastic();
  fixed.elastic.reset();
  set(fixed);
  EXPECT_EQ(held_to(kWholeGpu), R"(["training"])");
}

// The nodes of a pool may be gone for a while, while the pod's affinity is permanent.
TEST_F(NodesToCome, APoolWithAQuotaIsNotTakenFromThePodWhileItsNodesAreGone) {
  PoolSpec fixed = elastic();
  fixed.elastic.reset();
  set(fixed);
  cluster_.upsert(queue_of(kWholeGpu), Time());
  EXPECT_EQ(held_to(kWholeGpu), R"(["training","elastic"])");
  cluster_.upsert(queue_of("nvidia.com/mig-9g.99gb"), Time());
  EXPECT_EQ(held_to(kWholeGpu), R"(["training"])");
  const std::string refused = refusal(pod(asks("nvidia.com/mig-9g.99gb", 1)));
  EXPECT_THAT(refused, HasSubstr("no node or MIGLayout offers nvidia.com/mig-9g.99gb"));
  EXPECT_THAT(refused, Not(HasSubstr("did you mean nvidia.com/mig-9g.99gb")));
}

TEST_F(NodesToCome, TheLabelsOfThePoolDecideWhatItsNodesMayHave) {
  EXPECT_EQ(held_to(pod(asks_on(kWholeGpu, R"("nodeSelector":{"tier":"training"})"))),
            R"(["training"])");
  EXPECT_EQ(held_to(pod(asks_on(kWholeGpu, R"("nodeSelector":{"instance":"p5"})"))),
            R"(["elastic"])")
      << "a label that no node has yet";
}

TEST_F(NodesToCome, NodesThatShowNoGpusYetLeaveItSo) {
  add_elastic_node("cpu", 8);
  EXPECT_EQ(held_to(kWholeGpu), R"(["training","elastic"])");
}

TEST_F(NodesToCome, OfAPoolWhoseNodesOfferGpusTheOthersAreAlike) {
  add_elastic_node("nvidia.com/mig-1g.10gb", 7);
  EXPECT_EQ(held_to(kWholeGpu), R"(["training"])");
  EXPECT_EQ(held_to("nvidia.com/mig-1g.10gb"), R"(["inference","elastic"])");
}

TEST_F(NodesToCome, AQuotaInThePoolNamesWhatItsNodesMayOffer) {
  constexpr char kSlice[] = "nvidia.com/mig-1g.10gb";
  EXPECT_EQ(held_to(kSlice), R"(["inference"])");
  cluster_.upsert(queue_of(kSlice), Time());
  EXPECT_EQ(held_to(kSlice), R"(["inference","elastic"])");
  cluster_.upsert(queue_of("cpu"), Time());
  EXPECT_EQ(held_to(kSlice), R"(["inference"])");
  cluster_.upsert(queue_of("gpu"), Time());
  EXPECT_EQ(held_to(kSlice), R"(["inference","elastic"])") << "gpu is each of NVIDIA's resources";
  cluster_.erase<GPUQueue>("", "batch");
  EXPECT_EQ(held_to(kSlice), R"(["inference"])");
}

TEST_F(NodesToCome, AMigLayoutForThePoolNamesWhatItsNodesMayOffer) {
  constexpr char kSlice[] = "nvidia.com/mig-2g.20gb";
  EXPECT_THAT(refusal(pod(asks(kSlice, 1))), HasSubstr("no node or MIGLayout offers"));
  MIGLayout layout;
  layout.meta.name = "halves";
  layout.spec.node_selector = LabelSelector{.match_labels = {{"tier", "elastic"}}};
  layout.spec.devices = {{.profiles = {{"2g.20gb", 3}}}};
  cluster_.upsert(layout, Time());
  EXPECT_EQ(held_to(kSlice), R"(["elastic"])");
  layout.spec.node_selector = LabelSelector{.match_labels = {{"tier", "other"}}};
  cluster_.upsert(layout, Time());
  EXPECT_EQ(held_to(kSlice), "absent");
}

TEST_F(NodesToCome, ThePoolsSharingNamesWhatItsNodesMayOffer) {
  PoolSpec shared = elastic();
  shared.sharing = {
      .strategy = SharingStrategy::kTimeSlicing, .replicas = 4, .rename_by_default = true};
  set(shared);
  EXPECT_EQ(held_to("nvidia.com/gpu.shared"), R"(["elastic"])");
}

TEST_F(NodesToCome, AlonePassesWhatNoNodeOffersYet) {
  ClusterState empty = make_cluster([](GPUClusterPolicySpec& spec) { spec.pools = {elastic()}; });
  for (const char* name : {"t1", "i1", "d1"}) empty.erase<Node>("", name);
  EXPECT_TRUE(ask(ReviewPath::kValidate, pod(asks(kWholeGpu, 8)), empty).allowed);
  EXPECT_TRUE(ask(ReviewPath::kValidate, job(asks(kWholeGpu, 8)), empty).allowed);
  EXPECT_THAT(ask(ReviewPath::kValidate, pod(asks("nvidia.com/gpus", 1)), empty).message,
              HasSubstr("did you mean nvidia.com/gpu?"));
  EXPECT_THAT(ask(ReviewPath::kValidate, pod(asks("nvidia.com/mig-1g.5gb", 1)), empty).message,
              HasSubstr("no node or MIGLayout offers nvidia.com/mig-1g.5gb"));
}

TEST_F(NodesToCome, AClosedPoolStaysClosedBeforeItsFirstNode) {
  PoolSpec closed = elastic();
  closed.eligible_namespaces = LabelSelector{.match_labels = {{"team-risk", "trusted"}}};
  set(closed);
  EXPECT_EQ(held_to(kWholeGpu), R"(["training"])");
  EXPECT_THAT(refusal(pod(asks_on(kWholeGpu, R"("nodeSelector":{"tier":"elastic"})"))),
              HasSubstr("pool elastic, which is only for namespaces with"));
}

TEST_F(NodesToCome, NodesThatAreThereSayNothingOfTheirMemoryAndDriver) {
  const auto label_training = [&] {
    Node node = *cluster_.nodes().find("t1");
    node.meta.labels.set("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB");
    node.meta.labels.set("nvidia.com/gpu.count", "8");
    node.meta.labels.set("nvidia.com/cuda.runtime-version.full", "12.2");
    cluster_.upsert(std::move(node), Time());
  };
  const auto warnings = [&](const char* annotations) {
    Request request = pod(asks(kWholeGpu, 1));
    const std::string plain = R"("generateName":"train-")";
    request.object.replace(request.object.find(plain), plain.size(),
                           fmt::format(R"({},"annotations":{{{}}})", plain, annotations));
    return ask(ReviewPath::kValidate, request, cluster_).warnings;
  };
  constexpr char kMemory[] = R"("gpu.berth.dev/required-gpu-memory":"4000Gi")",
                 kCuda[] = R"("gpu.berth.dev/required-cuda":"99.0")";
  label_training();
  EXPECT_THAT(warnings(kMemory), IsEmpty());
  EXPECT_THAT(warnings(kCuda), IsEmpty());
  PoolSpec fixed = elastic();
  fixed.elastic.reset();
  set(fixed);
  label_training();
  EXPECT_THAT(warnings(kMemory), ElementsAre(HasSubstr("has at most 72.0GiB")));
  EXPECT_THAT(warnings(kCuda), ElementsAre(HasSubstr("no node for it has more than CUDA 12.2")));
}

TEST_F(NodesToCome, ThePolicyIsNotWarnedOfAnElasticPoolWithoutNodes) {
  const auto warnings = [](const char* more) {
    const Request request{
        .object = fmt::format(
            R"({{"apiVersion":"gpu.berth.dev/v1alpha1","kind":"GPUClusterPolicy","metadata":)"
            R"({{"name":"cluster"}},"spec":{{"pools":[{{"name":"elastic","nodeSelector":)"
            R"({{"matchLabels":{{"tier":"elastic"}}}}{}}}],"resourceCatalog":[{{"name":"whole",)"
            R"("resource":"nvidia.com/gpu"}}]}}}})",
            more),
        .group = "gpu.berth.dev",
        .kind = "GPUClusterPolicy",
        .ns = ""};
    return ask(ReviewPath::kValidate, request, ClusterState()).warnings;
  };
  EXPECT_THAT(warnings(R"(,"elastic":{"maxNodes":4})"), IsEmpty());
  EXPECT_THAT(warnings(""), ElementsAre(HasSubstr("pool elastic selects no node"),
                                        HasSubstr("no node or MIGLayout offers nvidia.com/gpu")));
}

}  // namespace
}  // namespace berth::test
