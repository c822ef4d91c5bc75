// SPDX-License-Identifier: Apache-2.0
// A pod's constraints are compared with ten thousand nodes: by class, and with bounded work per
// pod. The test counts work instead of time.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/admission/gpu_offers.h"
#include "tests/admission/review_case.h"

namespace berth::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kNodes = 10'000;

// Half of the nodes are in pool training, half in pool gold, which is closed to team-a.
const ClusterState& fleet() {
  static const ClusterState cluster = [] {
    ClusterState made = make_cluster([](GPUClusterPolicySpec& spec) {
      PoolSpec gold;
      gold.name = "gold";
      gold.node_selector.match_labels = {{"tier", "gold"}};
      gold.eligible_namespaces = LabelSelector{.match_labels = {{"tier", "gold"}}};
      spec.pools.push_back(gold);
    });
    for (int i = 0; i < kNodes; ++i) {
      const std::string name = fmt::format("node-{:05}", i);
      add_node(made, name,
               {{"kubernetes.io/hostname", Text(name)},
                {"nvidia.com/gfd.timestamp", Text(std::to_string(1'790'000'000 + i))},
                {"zone", i % 3 == 0 ? "a" : "b"},
                {"tier", i % 2 == 0 ? "training" : "gold"}},
               "nvidia.com/gpu", 8);
    }
    return made;
  }();
  return cluster;
}

// A pod for one GPU with the terms term(0), term(1), …, each a list of expressions.
Request pod_with_terms(int count, const std::function<std::string(int)>& term) {
  std::string terms;
  for (int i = 0; i < count; ++i)
    terms += fmt::format(R"({}{{"matchExpressions":[{}]}})", i == 0 ? "" : ",", term(i));
  return pod(R"({"containers":[{"resources":{"limits":{"nvidia.com/gpu":"1"}}}],"affinity":)"
             R"({"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
             R"({"nodeSelectorTerms":[)" +
             terms + "]}}}}");
}

std::string in(const std::string& key, const std::string& value) {
  return fmt::format(R"({{"key":"{}","operator":"In","values":["{}"]}})", key, value);
}

const auto kNotJudged = Contains(HasSubstr("berth compared it with the pools only"));

TEST(LargeFleet, NodesAreAHandfulOfClasses) {
  const GpuOffers& offers = offers_of(fleet());
  const GpuOffer* gpu = offers.find("nvidia.com/gpu");
  ASSERT_NE(gpu, nullptr);
  std::size_t nodes = 0;
  for (const NodeClass* of : gpu->classes) nodes += of->nodes.size();
  EXPECT_EQ(nodes, kNodes + 1u);
  EXPECT_EQ(gpu->classes.size(), 4u) << "two tiers in two zones";
  EXPECT_TRUE(offers.is_particular("kubernetes.io/hostname"));
  EXPECT_TRUE(offers.is_particular("nvidia.com/gfd.timestamp"));
  EXPECT_FALSE(offers.is_particular("zone"));
  EXPECT_EQ(&offers_of(fleet()), &offers) << "kept until the fleet changes";
  ClusterState copy = fleet();
  EXPECT_EQ(&offers_of(copy), &offers);
  copy.erase<Node>("", "node-00000");
  EXPECT_NE(&offers_of(copy), &offers);
  EXPECT_EQ(&offers_of(fleet()), &offers) << "the original is as it was";
}

TEST(LargeFleet, HundredsOfTermsAreJudgedByClass) {
  // Only the last term matches a node, which is in gold.
  const Request request = pod_with_terms(200, [](int i) {
    return in("zone", i == 199 ? "a" : fmt::format("z{}", i)) + "," + in("tier", "gold");
  });
  const Answer answer = ask(kValidate, request, fleet());
  EXPECT_THAT(answer.message, HasSubstr("may land in pool gold, which is only for"));
  EXPECT_THAT(answer.warnings, Not(kNotJudged));
}

TEST(LargeFleet, OneNodeByNameIsFoundAmongThem) {
  for (const char* key : {"kubernetes.io/hostname", "nvidia.com/gfd.timestamp"}) {
    const bool by_name = key[0] == 'k';
    const auto of = [&](const char* name, const char* time) {
      return ask(kValidate, pod_with_terms(1, [&](int) { return in(key, by_name ? name : time); }),
                 fleet());
    };
    EXPECT_TRUE(of("node-04998", "1790004998").allowed) << "of training";
    EXPECT_THAT(of("node-04999", "1790004999").message, HasSubstr("pool gold"));
  }
  const Answer by_field =
      ask(kValidate,
          pod(R"({"containers":[{"resources":{"limits":{"nvidia.com/gpu":"1"}}}],"affinity":)"
              R"({"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
              R"({"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In",)"
              R"("values":["node-04999"]}]}]}}}})"),
          fleet());
  EXPECT_THAT(by_field.message, HasSubstr("pool gold"));
}

// A pod with too much work does not get into closed pools: it is restricted to the open ones.
TEST(LargeFleet, WhatIsTooMuchWorkIsHeldToTheOpenPools) {
  Request request = pod_with_terms(200, [](int i) {
    return in("kubernetes.io/hostname", fmt::format("node-{:05}", 2 * i + 1));
  });
  const Answer bare = ask(kValidate, request, fleet());
  EXPECT_FALSE(bare.allowed);
  EXPECT_THAT(bare.message, HasSubstr("pool gold"));
  EXPECT_THAT(bare.warnings, kNotJudged);
  const Answer mutated = ask(kMutate, request, fleet());
  EXPECT_EQ(at(mutated.object, "/metadata/annotations/gpu.berth.dev~1mutations"),
            R"("tolerations nvidia.com/gpu; poolAffinity training")");
  request.object = mutated.object;
  const Answer held = ask(kValidate, request, fleet());
  EXPECT_TRUE(held.allowed) << held.message;
  EXPECT_THAT(held.warnings, kNotJudged);
  EXPECT_EQ(ask(kMutate, request, fleet()).patch, "") << "twice is once";
}

TEST(LargeFleet, SoAreThePoolsOfAPolicy) {
  std::string pools;
  for (int i = 0; i < 64; ++i) {
    std::string expressions;
    for (int k = 0; k < 32; ++k)
      expressions += fmt::format(R"({}{{"key":"k{}","operator":"NotIn","values":["a"]}})",
                                 k == 0 ? "" : ",", k);
    pools += fmt::format(R"({}{{"name":"p{}","nodeSelector":{{"matchExpressions":[{}]}}}})",
                         i == 0 ? "" : ",", i, expressions);
  }
  const Answer answer =
      ask(kValidate,
          {.object = R"({"metadata":{"name":"cluster"},"spec":{"pools":[)" + pools + "]}}",
           .group = "gpu.berth.dev",
           .kind = "GPUClusterPolicy",
           .ns = ""},
          fleet());
  EXPECT_TRUE(answer.allowed) << answer.message;
  EXPECT_THAT(answer.warnings, Contains(HasSubstr("berth did not check")));
}

}  // namespace
}  // namespace berth::test
