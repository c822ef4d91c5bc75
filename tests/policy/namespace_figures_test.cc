// SPDX-License-Identifier: Apache-2.0
// The metrics of GPU holders, and of nodes with a fault.
#include "controller/policy/namespace_figures.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/disruption/health_record.h"
#include "controller/policy/pool_figures.h"
#include "tests/support/builders.h"

namespace berth::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> told(const Figures& figures, const std::string& name) {
  std::vector<std::string> lines;
  for (const Figure& figure : figures)
    for (const Figure::Sample& sample : figure.samples) {
      if (figure.name != name) continue;
      std::string line;
      for (const auto& [label, value] : sample.labels) line += value + " ";
      lines.push_back(fmt::format("{}{}", line, sample.value));
    }
  return lines;
}

TEST(NamespaceFigures, SumUpWhatBoundPodsHold) {
  ClusterState cluster;
  EXPECT_THAT(namespace_figures(cluster), IsEmpty());
  cluster.upsert(Node(node("n1").a100_80(8)), {});
  for (const Pod& pod :
       {Pod(pod("a").in("vision").gpu(3).on("n1")), Pod(pod("b").in("vision").gpu(2).on("n1")),
        Pod(pod("c").in("nlp").requests("nvidia.com/mig-1g.10gb", 1).on("n1")),
        Pod(pod("over").in("nlp").gpu(1).on("n1").phase(PodPhase::kSucceeded)),
        Pod(pod("waits").in("nlp").gpu(1))})
    cluster.upsert(pod, {});
  EXPECT_THAT(told(namespace_figures(cluster), "berth_namespace_allocated_gpus"),
              ElementsAre("nlp nvidia.com/mig-1g.10gb 1", "vision nvidia.com/gpu 5"));
}

TEST(NamespaceFigures, AreBoundedAndLoseNothing) {
  ClusterState cluster;
  cluster.upsert(Node(node("n1").a100_80(8)), {});
  const std::size_t namespaces = kMostNamespaceSeries + 20;
  for (std::size_t i = 0; i < namespaces; ++i)
    cluster.upsert(
        Pod(pod(fmt::format("p{}", i)).in(fmt::format("ns{:04}", i)).gpu(i < 5 ? 7 : 1).on("n1")),
        {});
  const Figures figures = namespace_figures(cluster);
  ASSERT_EQ(figures.size(), 1u);
  EXPECT_EQ(figures[0].samples.size(), kMostNamespaceSeries + 1);
  double sum = 0;
  for (const Figure::Sample& sample : figures[0].samples) {
    sum += sample.value;
    const std::string& who = sample.labels[0].second;
    EXPECT_EQ(sample.value, who == kOtherNamespaces ? 20 : who <= "ns0004" ? 7 : 1) << who;
  }
  EXPECT_EQ(sum, static_cast<double>(namespaces + 5 * 6));
}

TEST(PoolFigures, CountNodesByWhatBecameOfThemForTheirHealth) {
  ClusterState cluster;
  GPUClusterPolicy policy;
  policy.meta.name = "cluster";
  policy.spec.pools.emplace_back().name = "all";
  cluster.upsert(policy, {});
  int i = 0;
  for (const HealthPhase phase : {HealthPhase::kReported, HealthPhase::kCordoned,
                                  HealthPhase::kCordoned, HealthPhase::kRecovered}) {
    Node node = test::node(fmt::format("n{}", i++)).a100_80(4);
    node.meta.annotations.set(names::kHealthAnnotation,
                              encode_health({.phase = phase, .node_uid = node.meta.uid}));
    cluster.upsert(std::move(node), {});
  }
  EXPECT_THAT(told(pool_figures(cluster), "berth_unhealthy_nodes"),
              ElementsAre("all reported 1", "all out_of_service 2", "all overruled 0"));
}

}  // namespace
}  // namespace berth::test
