// SPDX-License-Identifier: Apache-2.0
// Which layout selects a node, and which of several owns it.
#include "controller/mig/overlap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/builders.h"

namespace berth::test {
namespace {

using std::chrono::hours;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kA100[] = "NVIDIA-A100-SXM4-80GB";

struct Overlap : ::testing::Test {
  static MIGLayout selecting(std::optional<LabelSelector> nodes,
                             std::vector<std::string> products) {
    MIGLayout made = layout("small");
    made.spec.node_selector = std::move(nodes);
    made.spec.product_selector = std::move(products);
    return made;
  }
  std::string owner() {
    const MIGLayout* found =
        LayoutOwners(cluster).owner_of(node("n1").a100_80(4).label("tier", "mig"));
    return found == nullptr ? "" : found->meta.name;
  }
  ClusterState cluster;
};

TEST_F(Overlap, ALayoutSelectsByLabelsAndByProduct) {
  const Node gpus = node("n1").a100_80(4).label("tier", "mig"),
             bare = node("n2").label("tier", "mig");
  const LabelSelector tier{{{"tier", "mig"}}, {}}, other{{{"tier", "other"}}, {}}, all;
  struct Case {
    const char* sentence;
    MIGLayout layout;
    bool with_gpus, without;
  };
  for (const Case& c : {
           Case{"by labels", selecting(tier, {}), true, true},
           Case{"by other labels", selecting(other, {}), false, false},
           Case{"all: those with GPUs", selecting(all, {}), true, false},
           Case{"by nothing", selecting(std::nullopt, {}), false, false},
           Case{"by product", selecting(std::nullopt, {"x", kA100}), true, false},
           Case{"by another product", selecting(std::nullopt, {"x"}), false, false},
           Case{"by both", selecting(tier, {kA100}), true, false},
           Case{"by both, of which one is another", selecting(other, {kA100}), false, false},
       }) {
    SCOPED_TRACE(c.sentence);
    EXPECT_EQ(selects(c.layout, gpus), c.with_gpus);
    EXPECT_EQ(selects(c.layout, bare), c.without);
  }
}

TEST_F(Overlap, TheHigherPriorityOwnsTheNodeThenTheOlderThenTheFirstUid) {
  EXPECT_EQ(owner(), "");
  const auto add = [&](LayoutBuilder made, const char* uid) {
    MIGLayout layout = made;
    layout.meta.uid = uid;
    cluster.upsert(layout, {});
  };
  add(layout("d").created(Time(hours(2))), "4");
  EXPECT_EQ(owner(), "d");
  add(layout("c").created(Time(hours(2))), "3");
  EXPECT_EQ(owner(), "c") << "the first uid";
  add(layout("b").created(Time(hours(1))), "9");
  EXPECT_EQ(owner(), "b") << "the older one";
  add(layout("a").created(Time(hours(3))).priority(1), "8");
  EXPECT_EQ(owner(), "a") << "the more important one";
  add(layout("z").created(Time(hours(0))).priority(-1), "0");
  EXPECT_EQ(owner(), "a");
}

TEST_F(Overlap, OneThatIsBeingDeletedOwnsNothingUnlessItSwitchesMigOffAndNobodyElseWantsIt) {
  MIGLayout going = layout("going").priority(9);
  going.meta.deletion_timestamp = Time{};
  cluster.upsert(going, {});
  EXPECT_EQ(owner(), "");
  going.spec.deletion_policy = DeletionPolicy::kDisableMIG;
  cluster.upsert(going, {});
  EXPECT_EQ(owner(), "going");
  cluster.upsert<MIGLayout>(layout("next"), {});
  EXPECT_EQ(owner(), "next");
}

TEST_F(Overlap, ALayoutIsFoundByItsUid) {
  cluster.upsert<MIGLayout>(layout("a"), {});
  cluster.upsert<MIGLayout>(layout("b"), {});
  ASSERT_NE(find_layout_by_uid(cluster, "uid-b"), nullptr);
  EXPECT_EQ(find_layout_by_uid(cluster, "uid-b")->meta.name, "b");
  EXPECT_EQ(find_layout_by_uid(cluster, "uid-c"), nullptr);
}

TEST_F(Overlap, WhereNothingIsSelectedItSaysWhatThereIsInstead) {
  const LabelSelector tier{{{"tier", "mig"}}, {}}, all;
  const auto why = [&](const MIGLayout& of) { return why_none_selected(of, cluster); };
  cluster.upsert<Node>(node("bare").label("tier", "cpu"), {});
  EXPECT_THAT(why(selecting(tier, {})), HasSubstr("tier"));
  EXPECT_EQ(why(selecting(all, {})),
            "no node has GPUs of a known product (label nvidia.com/gpu.product)");
  cluster.upsert<Node>(node("bare").label("tier", "mig"), {});
  EXPECT_THAT(why(selecting(tier, {"H100"})), StartsWith("no selected node has GPUs of a known"));
  cluster.upsert<Node>(node("n1").a100_80(4).label("tier", "mig"), {});
  EXPECT_THAT(why(selecting(tier, {"H100", "B200"})),
              StartsWith("no selected node has product H100 or B200; "));
  EXPECT_THAT(why(selecting(std::nullopt, {"H100"})),
              testing::AllOf(StartsWith("no node has product H100; "), HasSubstr(kA100)));
}

}  // namespace
}  // namespace berth::test
