// SPDX-License-Identifier: Apache-2.0
// Rules for GPUQueues that their schema can't express.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/admission/review_case.h"

namespace berth::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Request queue(std::string_view spec, std::string_view name = "vision") {
  return {.object = fmt::format(R"({{"apiVersion":"gpu.berth.dev/v1alpha1","kind":"GPUQueue",)"
                                R"("metadata":{{"name":"{}"}},"spec":{}}})",
                                name, spec),
          .group = "gpu.berth.dev",
          .kind = "GPUQueue",
          .ns = ""};
}

Namespace home(const char* name, const char* team, bool managed = true) {
  Namespace made;
  made.meta.name = name;
  made.meta.labels.set("team", team);
  if (managed) made.meta.labels.set("gpu.berth.dev/managed", "true");
  return made;
}

GPUQueue standing(const std::string& name, const char* resource) {
  GPUQueue queue;
  queue.meta.name = queue.meta.uid = name;
  queue.meta.creation_timestamp = *parse_time("2026-11-01T00:00:00Z");
  queue.spec.cohort_name = "research";
  queue.spec.namespace_selector.emplace().match_labels["team"] = "vision";
  queue.spec.default_queue = true;
  queue.spec.quotas.push_back({resource, "training", 8, {}, {}});
  return queue;
}

// A pool of two nodes, and one namespace for each of two teams.
ClusterState teams() {
  ClusterState cluster = make_cluster();
  for (const char* name : {"a1", "a2"})
    add_node(cluster, name, {{"tier", "training"}, {"nvidia.com/gpu.present", "true"}},
             "nvidia.com/gpu", 8);
  GPUClusterPolicy policy = *cluster.gpu_policies().find("cluster");
  policy.spec.pools.assign(1, {});
  policy.spec.pools.front().name = "training";
  policy.spec.pools.front().node_selector.match_labels["tier"] = "training";
  cluster.upsert(policy, Time{});
  cluster.upsert(home("vision", "vision"), Time{});
  cluster.upsert(home("nlp", "nlp"), Time{});
  return cluster;
}

constexpr char kPlain[] = R"({"cohortName":"research","default":true,"namespaceSelector":)"
                          R"({"matchLabels":{"team":"vision"}},"quotas":[{"resource":)"
                          R"("nvidia.com/gpu","pool":"training","nominalQuota":8}]})";

std::vector<std::string> warnings(std::string_view spec, const ClusterState& cluster = teams()) {
  const Answer answer = ask(kValidate, queue(spec), cluster);
  EXPECT_TRUE(answer.allowed) << answer.message;
  return answer.warnings;
}

TEST(OwnQueues, OneThatHoldsPassesWithoutAWord) { EXPECT_THAT(warnings(kPlain), IsEmpty()); }

TEST(OwnQueues, ABrokenRuleIsRefused) {
  const Answer answer = ask(kValidate,
                            queue(R"({"quotas":[{"resource":"nvidia.com/gpu","pool":"*",)"
                                  R"("nominalQuota":4,"lendingLimit":5}]})"),
                            teams());
  EXPECT_FALSE(answer.allowed);
  EXPECT_THAT(answer.message, HasSubstr("spec.quotas[0].lendingLimit"));
}

TEST(OwnQueues, PoolsAndResourcesThatAreNotThereAreNamedOnce) {
  EXPECT_THAT(
      warnings(R"({"quotas":[{"resource":"nvidia.com/gpu","pool":"trainng","nominalQuota":4},)"
               R"({"resource":"nvidia.com/mig-7g.80gb","pool":"trainng","nominalQuota":4},)"
               R"({"resource":"gpu","pool":"*","nominalQuota":4}]})"),
      ElementsAre(
          "spec.quotas[0].pool: the GPUClusterPolicy has no pool trainng; it has training",
          "spec.quotas[1].resource: no node or MIGLayout offers nvidia.com/mig-7g.80gb yet"));
}

TEST(OwnQueues, AClassThatIsNotThereIsNamed) {
  ClusterState cluster = teams();
  GPUClusterPolicy policy = *cluster.gpu_policies().find("cluster");
  policy.spec.priority_classes = {{.name = "made-soon", .value = 5}};
  cluster.upsert(policy, Time{});
  constexpr char kLists[] = R"({"namespaceSelector":{"matchLabels":{"team":"vision"}},"quotas":[)"
                            R"({"resource":"nvidia.com/gpu","pool":"training","nominalQuota":8}],)"
                            R"("priorityClasses":["training-batch","made-soon","urgnet"]})";
  EXPECT_THAT(
      warnings(kLists, cluster),
      ElementsAre(HasSubstr("spec.priorityClasses[2]: there is no PriorityClass urgnet yet")));
}

TEST(OwnQueues, NamespacesThatAreNotTakenAreTold) {
  static constexpr char kOf[] =
      R"({{"namespaceSelector":{{"matchLabels":{{"team":"{}"}}}},"quotas":)"
      R"([{{"resource":"gpu","pool":"*","nominalQuota":1}}]}})";
  EXPECT_THAT(warnings(fmt::format(kOf, "speech")),
              ElementsAre("spec.namespaceSelector: it selects no namespace now"));
  ClusterState cluster = teams();
  cluster.upsert(home("vision", "vision", false), Time{});
  EXPECT_THAT(warnings(fmt::format(kOf, "vision"), cluster),
              ElementsAre("spec.namespaceSelector: it selects 1 namespace that berth leaves alone "
                          "(vision); label it gpu.berth.dev/managed=true"));
  EXPECT_THAT(warnings(R"({"namespaceSelector":{},"quotas":[{"resource":"gpu","pool":"*",)"
                       R"("nominalQuota":1}]})",
                       cluster),
              IsEmpty())
      << "all there are: those are meant that opted in";
}

TEST(OwnQueues, AnOlderDefaultStaysTheDefault) {
  ClusterState cluster = teams();
  cluster.upsert(standing("elder", "nvidia.com/gpu"), Time{});
  EXPECT_THAT(warnings(kPlain, cluster), ElementsAre("spec.default: GPUQueue elder is the default "
                                                     "of vision and older: it stays so"));
  GPUQueue elsewhere = standing("elder", "nvidia.com/gpu");
  elsewhere.spec.namespace_selector->match_labels["team"] = "nlp";
  cluster.upsert(elsewhere, Time{});
  EXPECT_THAT(warnings(kPlain, cluster), IsEmpty());
}

TEST(OwnQueues, UnitsThatTheCohortDoesNotShareAreTold) {
  ClusterState cluster = teams();
  GPUQueue elder = standing("elder", "gpu");
  elder.spec.default_queue = false;
  cluster.upsert(elder, Time{});
  const std::vector<std::string> told = warnings(kPlain, cluster);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_THAT(told.front(), HasSubstr("spec.quotas: in pool training GPUQueue elder of the same"));
}

TEST(OwnQueues, ASpecThatDoesNotChangeIsNotJudgedAgain) {
  Request again = queue(R"({"quotas":[{"resource":"nvidia.com/gpu","pool":"*","nominalQuota":4,)"
                        R"("lendingLimit":5}]})");
  again.old_object = again.object;
  again.operation = "UPDATE";
  EXPECT_TRUE(ask(kValidate, again, teams()).allowed);
}

}  // namespace
}  // namespace berth::test
