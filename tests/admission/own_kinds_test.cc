// SPDX-License-Identifier: Apache-2.0
// Rules for berth's own kinds that their schemas can't express.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/admission/review_case.h"

namespace berth::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Request own(const char* kind, std::string_view name, std::string_view spec) {
  return {.object = fmt::format(R"({{"apiVersion":"gpu.berth.dev/v1alpha1","kind":"{}","metadata":)"
                                R"({{"name":"{}"}},"spec":{}}})",
                                kind, name, spec),
          .group = "gpu.berth.dev",
          .kind = kind,
          .ns = ""};
}
Request layout(std::string_view spec) { return own("MIGLayout", "small", spec); }
Request policy(std::string_view spec) { return own("GPUClusterPolicy", "cluster", spec); }

// Two A100 nodes of four GPUs.
ClusterState a100s() {
  ClusterState cluster = make_cluster();
  for (const char* name : {"a1", "a2"})
    add_node(cluster, name,
             {{"tier", "mig"},
              {"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB"},
              {"nvidia.com/gpu.count", "4"},
              {"nvidia.com/gpu.present", "true"},
              {"nvidia.com/mig.strategy", "mixed"}},
             "nvidia.com/gpu", 4);
  return cluster;
}

MIGLayout standing(const std::string& name, int priority) {
  MIGLayout other;
  other.meta.name = name;
  other.meta.uid = "uid-" + name;
  other.spec.priority = priority;
  other.spec.node_selector = LabelSelector{.match_labels = {{"tier", "mig"}}};
  other.spec.devices = {{.profiles = {{"1g.10gb", 7}}}};
  return other;
}

TEST(OwnKinds, ALayoutThatHoldsPasses) {
  for (const char* spec :
       {R"({"nodeSelector":{"matchLabels":{"tier":"mig"}},"devices":[{"profiles":{"1g.10gb":7}}]})",
        R"({"productSelector":["NVIDIA-A100-SXM4-80GB"],"devices":[{"gpus":[0,1],"profiles":)"
        R"({"3g.40gb":2}},{"profiles":{}}]})"}) {
    const Answer answer = ask(kValidate, layout(spec), a100s());
    EXPECT_TRUE(answer.allowed) << answer.message;
    EXPECT_THAT(answer.warnings, IsEmpty());
  }
}

TEST(OwnKinds, ALayoutThatCantBeIsRefused) {
  const struct {
    const char* spec;
    const char* says;
  } cases[] = {
      {R"({"devices":[{"profiles":{"1g.10gb":7}}]})",
       "spec.nodeSelector: nodeSelector or productSelector is required"},
      {R"({"productSelector":["NVIDIA-A100-SXM4-80GB"],"devices":[{"profiles":{"1g.5gb":7}}]})",
       "spec.devices[0].profiles: on NVIDIA-A100-SXM4-80GB: A100-80GB has no profile \"1g.5gb\" "
       "(did you mean 1g.20gb?)"},
      {R"({"nodeSelector":{"matchLabels":{"tier":"mig"}},"devices":[{"profiles":)"
       R"({"4g.40gb":2}}]})",
       "spec.devices"},
      {R"({"nodeSelector":{},"devices":[{"profiles":{"9g.999gb":1}}]})",
       "no product that berth knows can hold this layout"},
      {R"({"nodeSelector":{"matchLabels":{"tier":"mig"}},"devices":[{"gpus":[0],"profiles":{}},)"
       R"({"gpus":[1],"profiles":{"1g.10gb":7}}]})",
       "node a1: spec.devices: GPUs 2, 3 of the node's 4 are in no entry"},
  };
  for (const auto& c : cases) {
    const Answer answer = ask(kValidate, layout(c.spec), a100s());
    EXPECT_FALSE(answer.allowed) << c.spec;
    EXPECT_EQ(answer.code, 422);
    EXPECT_THAT(answer.message, HasSubstr(c.says));
  }
}

TEST(OwnKinds, HardwareThatIsNotKnownIsOnlyWarnedOf) {
  const Answer answer =
      ask(kValidate,
          layout(R"({"productSelector":["NVIDIA-X900"],"devices":[{"profiles":{"1g.10gb":7}}]})"),
          a100s());
  EXPECT_TRUE(answer.allowed);
  EXPECT_THAT(answer.warnings,
              ElementsAre(HasSubstr("spec.productSelector[0]: "),
                          "spec.productSelector: no node has product NVIDIA-X900; 2 have "
                          "=NVIDIA-A100-SXM4-80GB"));
}

TEST(OwnKinds, ALayoutThatSelectsNothingSaysWhatWasMeant) {
  const struct {
    const char* selector;
    const char* says;
  } cases[] = {
      {R"({"matchLabels":{"tier":"mog"}})", "no node has tier=mog; 2 have =mig"},
      {R"({"matchLabels":{"tier":"chess"}})",
       "no node has tier=chess; 2 have =mig, 1 has =development, 1 has =inference"},
      {R"({"matchLabels":{"teir":"mig"}})", "no node has label teir; did you mean tier?"},
      {R"({"matchExpressions":[{"key":"tier","operator":"In","values":["trainig"]}]})",
       "no node has tier=trainig; 1 has =training"},
      {R"({"matchLabels":{"tier":"mig","zone":"a"}})", "no node has all of tier=mig,zone=a"},
  };
  for (const auto& c : cases) {
    const Answer answer =
        ask(kValidate,
            layout(fmt::format(
                R"({{"nodeSelector":{},"devices":[{{"profiles":{{"1g.10gb":7}}}}]}})", c.selector)),
            a100s());
    EXPECT_TRUE(answer.allowed) << answer.message;
    EXPECT_THAT(answer.warnings, ElementsAre(std::string("spec.nodeSelector: ") + c.says));
  }
}

TEST(OwnKinds, AnOverlapSaysWhoHasTheNodes) {
  ClusterState cluster = a100s();
  cluster.upsert(standing("older", 0), Time());
  const auto warning = [&](int priority) {
    const Answer answer = ask(
        kValidate,
        layout(fmt::format(R"({{"priority":{},"nodeSelector":{{"matchLabels":{{"tier":"mig"}}}},)"
                           R"("devices":[{{"profiles":{{"1g.10gb":7}}}}]}})",
                           priority)),
        cluster);
    EXPECT_TRUE(answer.allowed);
    EXPECT_EQ(answer.warnings.size(), 1U);
    return answer.warnings.empty() ? "" : answer.warnings.front();
  };
  EXPECT_EQ(warning(0),
            "spec.nodeSelector: MIGLayout older selects 2 of the same nodes (a1, a2), and keeps "
            "them: the higher spec.priority wins, then the older layout");
  EXPECT_THAT(warning(5), HasSubstr("and loses them"));
}

TEST(OwnKinds, APolicyIsHeldAgainstTheCluster) {
  const Answer answer =
      ask(kValidate,
          policy(R"({"pools":[{"name":"a","nodeSelector":{"matchLabels":{"tier":"training"}}},)"
                 R"({"name":"b","nodeSelector":{"matchLabels":{"zone":"a"}},"sharing":{"strategy":)"
                 R"("TimeSlicing","replicas":4,"renameByDefault":true}},)"
                 R"({"name":"c","nodeSelector":{"matchLabels":{"tier":"none"}}}],)"
                 R"("resourceCatalog":[{"name":"x","resource":"nvidia.com/mig-1g.5gb"},)"
                 R"({"name":"y","resource":"nvidia.com/mig-1g.10gb"},)"
                 R"({"name":"z","resource":"nvidia.com/gpu.shared"}]})"),
          make_cluster());
  EXPECT_TRUE(answer.allowed) << answer.message;
  EXPECT_THAT(answer.warnings,
              ElementsAre("spec.pools: pools a and b select the same nodes (t1); a owns them, "
                          "being the first in the list",
                          "spec.pools[2].nodeSelector: pool c selects no node of this cluster: no "
                          "node has tier=none; 1 has =development, 1 has =inference, 1 has "
                          "=training",
                          "spec.resourceCatalog[0].resource: no node or MIGLayout offers "
                          "nvidia.com/mig-1g.5gb yet"));
}

TEST(OwnKinds, APolicySaysWhichKeysTheChartKeepsBerthFrom) {
  const Request tiers =
      policy(R"({"pools":[{"name":"a","nodeSelector":{"matchLabels":{"tier":"training"}},)"
             R"("labels":{"gpu.example.com/tier":"x"},"taints":[{"key":"nvidia.com/gpu",)"
             R"("effect":"NoSchedule"},{"key":"example.com/mine","effect":"NoSchedule"}]}]})");
  EXPECT_THAT(ask(kValidate, tiers, make_cluster()).warnings, IsEmpty()) << "nobody said so";
  Settings settings;
  settings.node_keys = {.labels = read_key_list("none"), .taints = read_key_list("nvidia.com/gpu")};
  EXPECT_THAT(
      ask(kValidate, tiers, make_cluster(), settings).warnings,
      ElementsAre("spec.pools[0].labels[gpu.example.com/tier]: the chart does not allow berth to "
                  "write this label on nodes",
                  "spec.pools[0].taints[1]: the chart does not allow berth to write this taint "
                  "on nodes",
                  "run helm upgrade berth … --reset-then-reuse-values --set "
                  "'nodeKeys={gpu.example.com/tier}' --set "
                  "'policy.taintKeys={nvidia.com/gpu,example.com/mine}'"));
}

TEST(OwnKinds, NoFieldOfAPolicyIsKeptAndNotActedOn) {
  const auto warnings = [](const char* spec) {
    return ask(kValidate, policy(spec), make_cluster()).warnings;
  };
  EXPECT_THAT(warnings(R"({"idle":{"gracePeriod":"20m","policy":"Notify"}})"), IsEmpty());
  EXPECT_THAT(warnings(R"({"idle":{"policy":"Always","warnAfter":"20m"}})"), IsEmpty());
  EXPECT_THAT(
      warnings(R"({"health":{"action":"Report"},"metrics":{"interval":"1m"},"topologyLevels":)"
               R"(["zone"],"pools":[{"name":"a","nodeSelector":{"matchLabels":{"tier":)"
               R"("training"}},"price":{"perGPUHour":"3.06"},"elastic":{"maxNodes":9}}]})"),
      IsEmpty());
  // The server itself writes these defaults.
  EXPECT_THAT(warnings(R"({"idle":{"gracePeriod":"30m","policy":"Observe"},"health":{}})"),
              IsEmpty());
}

TEST(OwnKinds, APolicyThatBreaksItsRulesIsRefused) {
  const Answer answer =
      ask(kValidate,
          policy(R"({"disruption":{"windows":[{"schedule":"0 0 30 2 *","duration":"1h"}]}})"),
          make_cluster());
  EXPECT_FALSE(answer.allowed);
  EXPECT_THAT(answer.causes, HasSubstr(R"("field":"spec.disruption.windows[0].schedule")"));
  EXPECT_THAT(ask(kValidate, policy(R"({"pools":7})"), make_cluster()).message,
              HasSubstr("spec.pools"));
}

TEST(OwnKinds, WhatIsUnchangedOrOnItsWayOutPasses) {
  const ClusterState cluster = a100s();
  const std::string bad = R"({"devices":[{"profiles":{"1g.10gb":7}}]})";
  Request request = layout(bad);
  request.operation = "UPDATE";
  EXPECT_FALSE(ask(kValidate, request, cluster).allowed);
  request.old_object = request.object;
  EXPECT_TRUE(ask(kValidate, request, cluster).allowed) << "its finalizer may go";
  request.old_object = layout("{}").object;
  EXPECT_FALSE(ask(kValidate, request, cluster).allowed);
  request.object =
      apply_patch(request.object, R"([{"op":"add","path":"/metadata/deletionTimestamp","value":)"
                                  R"("2026-11-22T08:00:00Z"}])");
  EXPECT_TRUE(ask(kValidate, request, cluster).allowed);
  request.object = layout(bad).object;
  request.sub_resource = "status";
  EXPECT_TRUE(ask(kValidate, request, cluster).allowed);
  EXPECT_TRUE(ask(kMutate, layout(bad), cluster).allowed);
}

TEST(OwnKinds, TheyAreJudgedWithoutAPolicyToo) {
  ClusterState cluster = a100s();
  cluster.erase<GPUClusterPolicy>("", "cluster");
  EXPECT_FALSE(
      ask(kValidate, layout(R"({"devices":[{"profiles":{"1g.10gb":7}}]})"), cluster).allowed);
}

}  // namespace
}  // namespace berth::test
