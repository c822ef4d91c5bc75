// SPDX-License-Identifier: Apache-2.0
#include "controller/core/empty_selection.h"

#include <gtest/gtest.h>

#include <string>

namespace berth {
namespace {

ClusterState nodes(int count, const std::string& key, const std::string& value) {
  ClusterState cluster;
  for (int i = 0; i < count; ++i) {
    Node node;
    node.meta.name = "n" + std::to_string(i);
    node.meta.labels.set(key, value);
    cluster.upsert(std::move(node), {});
  }
  return cluster;
}

LabelSelector requiring(SelectorOperator op, std::vector<Text> values) {
  return {.match_labels = {}, .match_expressions = {{.key = "tier", .op = op, .values = values}}};
}

TEST(EmptySelection, NamesWhatWasMostLikelyMeant) {
  const ClusterState five = nodes(5, "tier", "inference");
  struct Case {
    LabelSelector selector;
    const char* says;
  };
  for (const Case& c : {
           Case{{.match_labels = {{"tier", "inferense"}}, .match_expressions = {}},
                "no node has tier=inferense; 5 have =inference"},
           Case{{.match_labels = {{"teir", "inference"}}, .match_expressions = {}},
                "no node has label teir; did you mean tier?"},
           Case{{.match_labels = {{"zone", "inference"}}, .match_expressions = {}},
                "no node has label zone"},
           Case{requiring(SelectorOperator::kIn, {"lab", "web"}),
                "no node has tier in (lab,web); 5 have =inference"},
           Case{requiring(SelectorOperator::kNotIn, {"inference"}),
                "no node has tier notin (inference)"},
           Case{requiring(SelectorOperator::kDoesNotExist, {}), "no node has !tier"},
       })
    EXPECT_EQ(why_none_matches(c.selector, five), c.says);
  EXPECT_EQ(why_none_matches({}, ClusterState()), "there are no nodes");
}

TEST(EmptySelection, WhereEachRequirementIsMetByAnotherNodeAllTogetherIsTold) {
  ClusterState cluster = nodes(1, "tier", "mig");
  Node other;
  other.meta.name = "other";
  other.meta.labels.set("zone", "a");
  cluster.upsert(std::move(other), {});
  EXPECT_EQ(
      why_none_matches({.match_labels = {{"tier", "mig"}, {"zone", "a"}}, .match_expressions = {}},
                       cluster),
      "no node has all of tier=mig,zone=a");
}

TEST(EmptySelection, WhereNothingIsNearTheMostFrequentValuesAreTold) {
  EXPECT_EQ(values_instead("x", {{"alpha", 1}, {"beta", 4}, {"gamma", 2}, {"delta", 3}}),
            "4 have =beta, 3 have =delta, 2 have =gamma");
  EXPECT_EQ(values_instead("x", {{"alpha", 1}}), "1 has =alpha");
  EXPECT_EQ(values_instead("x", {}), "");
}

TEST(EmptySelection, OfSixtyFourValuesAndNoMoreIsSaidHowManyHaveThem) {
  ClusterState cluster;
  for (int i = 0; i < 66; ++i) {
    Node made;
    made.meta.name = "n" + std::to_string(100 + i);
    made.meta.labels.set("rack", i < 65 ? "r" + std::to_string(100 + i) : "r100");
    cluster.upsert(std::move(made), {});
  }
  const auto said = [&](const char* rack) {
    return why_none_matches({.match_labels = {{"rack", rack}}, .match_expressions = {}}, cluster);
  };
  EXPECT_EQ(said("r10O"), "no node has rack=r10O; 2 have =r100") << "a value that is known counts";
  EXPECT_EQ(said("r164x"), "no node has rack=r164x; 1 has =r104") << "r164 is the sixty-fifth";
}

TEST(EmptySelection, KeysAreLookedForOnTheFirstNodesOnly) {
  ClusterState cluster = nodes(200, "zone", "a");
  Node last;
  last.meta.name = "z";  // the last in order
  last.meta.labels.set("tier", "mig");
  cluster.upsert(std::move(last), {});
  const LabelSelector teir{.match_labels = {{"teir", "mig"}}, .match_expressions = {}};
  EXPECT_EQ(why_none_matches(teir, cluster), "no node has label teir");
  cluster.erase<Node>("", "n0");
  EXPECT_EQ(why_none_matches(teir, cluster), "no node has label teir; did you mean tier?");
}

}  // namespace
}  // namespace berth
