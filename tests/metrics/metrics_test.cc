// SPDX-License-Identifier: Apache-2.0
// What /metrics says of the cluster, and that Prometheus likes how all of it is said.
#include "controller/runtime/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/disruption/rollout_annotation.h"
#include "controller/mig/rollout_figures.h"
#include "controller/mig/rollout_measures.h"
#include "tests/metrics/filled_metrics.h"
#include "tests/support/builders.h"
#include "tests/support/exposition.h"
#include "tests/support/promtool.h"

namespace berth::test {
namespace {

using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;

Exposition told(const Figures& figures) {
  Metrics metrics("test");
  metrics.show(figures);
  return Exposition(metrics.text());
}

TEST(LayoutFigures, CountNodesByState) {
  const Exposition text = told(sample_figures());
  const auto nodes = [&](const std::string& layout, const std::string& state) {
    return text.value("berth_miglayout_nodes{layout=\"" + layout + "\",state=\"" + state + "\"}");
  };
  EXPECT_THAT(nodes("inference", "updated"), Optional(1));
  EXPECT_THAT(nodes("inference", "in_progress"), Optional(1));
  EXPECT_THAT(nodes("inference", "failed"), Optional(1));
  EXPECT_THAT(nodes("inference", "pending"), Optional(0));
  EXPECT_THAT(nodes("inference", "blocked"), Optional(0));
  EXPECT_THAT(nodes("whole", "failed"), Optional(0));
}

TEST(LayoutFigures, TellEachConditionWithItsReason) {
  const Exposition text = told(sample_figures());
  const auto holds = [&](const std::string& layout, const std::string& type,
                         const std::string& status) {
    return text.value("berth_miglayout_condition{layout=\"" + layout + "\",type=\"" + type +
                      "\",status=\"" + status + "\"}");
  };
  EXPECT_THAT(holds("inference", "Stalled", "true"), Optional(1));
  EXPECT_THAT(holds("inference", "Stalled", "false"), Optional(0));
  EXPECT_THAT(holds("inference", "Ready", "false"), Optional(1));
  // Not there: it does not hold.
  EXPECT_THAT(holds("inference", "Reconciling", "false"), Optional(1));
  // Nobody has said anything yet.
  EXPECT_THAT(holds("whole", "Ready", "unknown"), Optional(1));
  EXPECT_THAT(
      text.value(
          R"(berth_miglayout_condition_reason{layout="inference",type="Stalled",reason="NodeFailed"})"),
      Optional(1));
  // Of a policy that was changed since nothing is known.
  EXPECT_THAT(text.value(R"(berth_gpuclusterpolicy_condition{policy="cluster",type="Ready",)"
                         R"(status="unknown"})"),
              Optional(1));
}

TEST(NodeFigures, TellWhomBerthHasTakenOutAndSinceWhen) {
  const Exposition text = told(sample_figures());
  const double taken = unix_seconds(*parse_time("2026-11-21T10:00:00Z"));
  const std::string name = "berth_node_unavailable_since_timestamp_seconds";
  EXPECT_THAT(text.value(name + R"({node="n2",layout="inference"})"), Optional(taken));
  EXPECT_THAT(text.value(name + R"({node="n3",layout="inference"})"), Optional(taken));
  // Neither those that others have taken out, nor those that are in service.
  EXPECT_EQ(text.count(name), 2u);
}

TEST(NodeFigures, ANodeThatAPersonCordonedFirstIsNotBerths) {
  ClusterState cluster = sample_cluster();
  Node theirs = *cluster.nodes().find("n2");
  NodeRollout record = *read_rollout(theirs).rollout;
  record.berth_cordoned = false;
  theirs.meta.annotations.set(names::kRolloutAnnotation, encode_rollout(record));
  cluster.upsert(std::move(theirs), Time{});
  const Exposition text = told(rollout_figures(cluster, Settings()));
  EXPECT_EQ(text.count("berth_node_unavailable_since_timestamp_seconds{node=\"n2\""), 0u);
  EXPECT_EQ(text.count("berth_node_unavailable_since_timestamp_seconds{node=\"n3\""), 1u);
}

TEST(NodeFigures, TellCapacityByResource) {
  const Exposition text = told(sample_figures());
  const std::string gpu = R"(resource="nvidia.com/gpu")";
  EXPECT_THAT(text.value("berth_gpu_allocatable{" + gpu + ",state=\"in_service\"}"), Optional(4));
  EXPECT_THAT(text.value("berth_gpu_allocatable{" + gpu + ",state=\"unavailable\"}"), Optional(24));
  // A pod that waits requests nothing of any node yet.
  EXPECT_THAT(text.value("berth_gpu_requested{" + gpu + "}"), Optional(3));
}

TEST(PoolFigures, TellNodesByStateAndGpus) {
  const Exposition text = told(sample_figures());
  EXPECT_THAT(text.value(R"(berth_pool_nodes{pool="mig",state="in_service"})"), Optional(1));
  EXPECT_THAT(text.value(R"(berth_pool_nodes{pool="mig",state="cordoned"})"), Optional(2));
  EXPECT_THAT(text.value(R"(berth_pool_nodes{pool="lab",state="not_ready"})"), Optional(1));
  EXPECT_THAT(text.value(R"(berth_pool_gpus{pool="lab"})"), Optional(16));
}

TEST(Metrics, WhatIsGoneFromTheClusterIsGoneFromTheText) {
  Metrics metrics("test");
  ClusterState cluster = sample_cluster();
  metrics.show(rollout_figures(cluster, Settings()));
  EXPECT_THAT(metrics.text(), HasSubstr("layout=\"inference\""));
  cluster.erase<MIGLayout>("", "inference");
  metrics.show(rollout_figures(cluster, Settings()));
  EXPECT_THAT(metrics.text(), Not(HasSubstr("berth_miglayout_nodes{layout=\"inference\"")));
  EXPECT_THAT(metrics.text(), HasSubstr("layout=\"whole\""));
  metrics.show({});
  EXPECT_THAT(metrics.text(), Not(HasSubstr("layout=\"whole\"")));
}

TEST(Metrics, AFirstFailureIsARiseFromZero) {
  Metrics metrics("test");
  metrics.begin_term({&kNodeRollouts});
  EXPECT_THAT(metrics.text(), HasSubstr("berth_node_rollouts_total{result=\"failed\"} 0"));
  metrics.observe(kNodeRollouts, {{"result", "failed"}}, 1);
  EXPECT_THAT(metrics.text(), HasSubstr("berth_node_rollouts_total{result=\"failed\"} 1"));
  EXPECT_THAT(metrics.text(), HasSubstr("berth_evictions_total{result=\"budget\"} 0"));
}

TEST(Metrics, WhoHasNoQueueTellsOfNone) {
  Metrics metrics("test");
  metrics.on_process({});
  EXPECT_THAT(metrics.text(), Not(HasSubstr("workqueue")));
}

TEST(Metrics, WhatThePageRefusesOnlyRises) {
  Metrics metrics("test");
  EXPECT_THAT(metrics.text(), Not(HasSubstr("berth_page"))) << "it is off";
  metrics.on_page({.followers = 3, .unknown_total = 2, .busy_total = 1});
  metrics.on_page({.followers = 1, .unknown_total = 5, .busy_total = 1});
  EXPECT_THAT(metrics.text(), HasSubstr("berth_page_followers 1\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("berth_page_refusals_total{reason=\"unknown_token\"} 5"));
  EXPECT_THAT(metrics.text(), HasSubstr("berth_page_refusals_total{reason=\"busy\"} 1"));
}

TEST(Metrics, TellWhatWasBuilt) {
  EXPECT_THAT(Metrics("1.2.3", "abc1234").text(),
              HasSubstr(R"(berth_build_info{commit="abc1234",version="1.2.3"} 1)"));
  EXPECT_THAT(Metrics("1.2.3").text(), HasSubstr(R"(berth_build_info{version="1.2.3"} 1)"));
}

TEST(Metrics, PromtoolFindsNothingToSay) {
  if (!has_promtool()) GTEST_SKIP() << "NOT TESTED: no promtool; scripts/install-packages";
  Metrics metrics("test", "abc1234");
  fill(metrics);
  EXPECT_EQ(lint_metrics(metrics.text()), "");
  EXPECT_THAT(lint_metrics("# TYPE process_cpu_seconds_total gauge\nprocess_cpu_seconds_total 1\n"),
              HasSubstr("_total"));  // it does look
}

}  // namespace
}  // namespace berth::test
