// SPDX-License-Identifier: Apache-2.0
#include "controller/preview/patched.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

Node node() {
  Node n;
  n.meta.name = "n1";
  n.meta.uid = "u1";
  n.meta.labels = {{"a/b", "old"}};
  n.unschedulable = false;
  n.ready = true;
  return n;
}

struct Case {
  const char* what;
  const char* patch;
  bool holds;
};

TEST(Patched, TestsAreThePrecondition) {
  const Case cases[] = {
      {"the uid it was decided on", R"([{"op":"test","path":"/metadata/uid","value":"u1"}])", true},
      {"another uid", R"([{"op":"test","path":"/metadata/uid","value":"u2"}])", false},
      {"a label by its escaped key",
       R"([{"op":"test","path":"/metadata/labels/a~1b","value":"old"}])", true},
      {"null tests absence", R"([{"op":"test","path":"/metadata/labels/c","value":null}])", true},
      {"null does not hold for what is there",
       R"([{"op":"test","path":"/metadata/labels/a~1b","value":null}])", false},
      {"absence below what is absent can't be tested",
       R"([{"op":"test","path":"/status/x/y","value":null}])", false},
      {"what is removed must be there", R"([{"op":"remove","path":"/metadata/labels/c"}])", false},
      {"no JSON", "[{", false},
      {"an operation berth never sends", R"([{"op":"move","path":"/a","from":"/b"}])", false},
  };
  for (const Case& c : cases) EXPECT_EQ(patched(node(), c.patch).has_value(), c.holds) << c.what;
}

TEST(Patched, ChangesLabelsAnnotationsAndTheCordonAndNothingElse) {
  Result<Node> next = patched(node(),
                              R"([{"op":"test","path":"/spec/unschedulable","value":false},
          {"op":"add","path":"/spec/unschedulable","value":true},
          {"op":"remove","path":"/metadata/labels/a~1b"},
          {"op":"add","path":"/metadata/labels/c","value":"d"},
          {"op":"add","path":"/metadata/annotations/e","value":"{\"f\":1}"}])");
  ASSERT_TRUE(next.has_value()) << describe(next.error());
  Node expected = node();
  expected.unschedulable = true;
  expected.meta.labels = {{"c", "d"}};
  expected.meta.annotations = {{"e", "{\"f\":1}"}};
  EXPECT_EQ(*next, expected);
}

TEST(Merged, NullRemovesAndTheVersionIsThePrecondition) {
  ConfigMap map;
  map.meta.name = "m";
  map.meta.uid = "u";
  map.meta.resource_version = "7";
  map.data = {{"a", "1"}, {"b", "2"}};
  Result<ConfigMap> next =
      merged(map, R"({"metadata":{"uid":"u","resourceVersion":"7"},"data":{"a":null,"c":"3"}})");
  ASSERT_TRUE(next.has_value()) << describe(next.error());
  EXPECT_EQ(next->data, (std::map<std::string, std::string>{{"b", "2"}, {"c", "3"}}));
  EXPECT_FALSE(merged(map, R"({"metadata":{"resourceVersion":"6"},"data":{}})").has_value());
  EXPECT_FALSE(merged(map, R"({"metadata":{"uid":"other"},"data":{}})").has_value());
}

TEST(Merged, AConfigMapsLabelsAndAnnotationsAreSetToo) {
  ConfigMap map;
  map.meta.labels = {{"a", "1"}, {"b", "2"}};
  map.meta.annotations = {{"c", "3"}};
  const Result<ConfigMap> next =
      merged(map, R"({"metadata":{"labels":{"a":null,"d":"4"},"annotations":{"c":"5"}}})");
  ASSERT_TRUE(next.has_value()) << describe(next.error());
  EXPECT_EQ(next->meta.labels, (StringMap{{"b", "2"}, {"d", "4"}}));
  EXPECT_EQ(next->meta.annotations, (StringMap{{"c", "5"}}));
}

TEST(Merged, OfANodeLabelsTaintsAndTheCordon) {
  const Result<Node> next = merged(node(), R"({"metadata":{"uid":"u1","labels":{"c":"d"}},
      "spec":{"unschedulable":true,"taints":[{"key":"a","value":"1","effect":"NoSchedule"}]}})");
  ASSERT_TRUE(next.has_value()) << describe(next.error());
  EXPECT_EQ(next->meta.labels, (StringMap{{"a/b", "old"}, {"c", "d"}}));
  EXPECT_EQ(next->unschedulable, true);
  EXPECT_EQ(next->taints, (std::vector<Taint>{{"a", "1", "NoSchedule"}}));
  EXPECT_FALSE(merged(node(), R"({"metadata":{"uid":"u2"}})").has_value());
  EXPECT_FALSE(merged(node(), "[{").has_value());
}

TEST(Merged, OfAJobWhetherItIsSuspended) {
  Job job;
  job.suspended = true;
  EXPECT_FALSE(merged(job, R"({"spec":{"suspend":false}})")->suspended);
  EXPECT_FALSE(merged(job, R"({"spec":{"suspend":null}})")->suspended);
  EXPECT_TRUE(merged(job, R"({"metadata":{"labels":{"a":"b"}}})")->suspended);
}

TEST(Merged, SetsFinalizersOfALayout) {
  MIGLayout layout;
  layout.meta.name = "l";
  layout.meta.resource_version = "3";
  Result<MIGLayout> next =
      merged(layout, R"({"metadata":{"resourceVersion":"3","finalizers":["x/y"]}})");
  ASSERT_TRUE(next.has_value()) << describe(next.error());
  ASSERT_EQ(next->meta.finalizers.size(), 1u);
  EXPECT_EQ(next->meta.finalizers[0], "x/y");
}

TEST(Patched, TaintsByTheirPlace) {
  Node n;
  n.meta.name = "n";
  n.taints = {{"a", "", "NoSchedule"}, {"b", "1", "NoExecute"}, {"c", "2", "NoSchedule"}};
  Result<Node> next = patched(n, R"([{"op":"test","path":"/spec/taints/1/key","value":"b"},
    {"op":"test","path":"/spec/taints/0/value","value":null},{"op":"remove","path":"/spec/taints/1"},
    {"op":"replace","path":"/spec/taints/0","value":{"key":"a","value":"9","effect":"NoSchedule"}},
    {"op":"add","path":"/spec/taints/-","value":{"key":"d","effect":"NoSchedule"}}])");
  ASSERT_TRUE(next.has_value()) << describe(next.error());
  EXPECT_EQ(next->taints,
            (std::vector<Taint>{
                {"a", "9", "NoSchedule"}, {"c", "2", "NoSchedule"}, {"d", "", "NoSchedule"}}));
  EXPECT_FALSE(patched(n, R"([{"op":"test","path":"/spec/taints/1/key","value":"c"}])"));
  EXPECT_FALSE(patched(n, R"([{"op":"remove","path":"/spec/taints/3"}])"));
}

}  // namespace
}  // namespace berth
