// SPDX-License-Identifier: Apache-2.0
// `berth page` as a program: a page of a saved cluster, and its error messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cmd/program.h"

namespace berth::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

TEST(PageOfASnapshot, HoldsItsNodesAndWhatWaits) {
  const Ran ran = run_berth({"page", "--snapshot", golden("../why/pods/cluster.json")});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.err, IsEmpty());
  EXPECT_THAT(ran.out, StartsWith("<!doctype html>\n"));
  EXPECT_THAT(ran.out, HasSubstr(R"("t1":{"pool":"training")"));
  EXPECT_THAT(ran.out, HasSubstr(R"("Pod/vision/full-0":{"reason")"));
}

TEST(PageOfASnapshot, OfNoSnapshotIsNoPage) {
  const Ran ran = run_berth({"page", "--snapshot", scratch_file("none.json", "{")});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_THAT(ran.err, StartsWith("berth page: "));
}

TEST(PageOfAStory, PlaysWhatThePlanDoes) {
  const Ran ran = run_berth({"plan", "--snapshot", golden("rollout/cluster.json"), "-f",
                             golden("rollout/layout.yaml"), "-o", "html"});
  EXPECT_EQ(ran.exit_code, 2) << ran.err;
  EXPECT_THAT(ran.out, StartsWith("<!doctype html>\n"));
  EXPECT_THAT(ran.out, HasSubstr(R"("story":{"title":"The plan, carried out)"));
  EXPECT_THAT(ran.out, HasSubstr("cordoned by berth"));
}

TEST(PageOfAStory, IsTheSameEachTime) {
  const std::string story =
      scratch_file("page.yaml", "nodes: [{count: 2}]\nworkloads: [{name: a, replicas: 2}]\n");
  const Ran ran = run_berth({"simulate", "-f", story, "-o", "html"});
  EXPECT_THAT(ran.out, HasSubstr(R"("story":{"title":)")) << ran.err;
  EXPECT_EQ(run_berth({"simulate", "-f", story, "-o", "html"}).out, ran.out);
}

TEST(PageOfAStory, IsShownOrWrittenAndNeedsSomethingToPlay) {
  const std::string story = scratch_file("page.yaml", "nodes: [{count: 1}]\n");
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"simulate", "-f", story, "--ui", "-o", "json"},
        {"simulate", "-f", story, "--ui", "--port", "65536"},
        {"plan", "--snapshot", golden("queues-new/cluster.json"), "-f",
         golden("queues-new/layout.yaml"), "-o", "html"},
        {"ui", "--snapshot", scratch_file("none.json", "{")}}) {
    const Ran ran = run_berth(arguments);
    EXPECT_EQ(ran.exit_code, 1) << ran.out;
    EXPECT_THAT(ran.out, IsEmpty());
    EXPECT_THAT(ran.err, StartsWith("berth " + arguments.front() + ": "));
  }
}

}  // namespace
}  // namespace berth::test
