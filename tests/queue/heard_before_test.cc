// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/record/heard_before.h"

#include <gtest/gtest.h>

namespace berth::queue {
namespace {

struct HeardBeforeTest : ::testing::Test {
  Snapshot snapshot() const {
    return {.cluster = cluster, .answers = answers, .settings = settings, .epoch = 4};
  }
  bool behind(const std::string& jobs, const std::string& pods, std::int64_t epoch = 3) const {
    return is_behind(snapshot(), {.epoch = epoch, .jobs = jobs, .pods = pods});
  }
  ClusterState cluster;
  Answers answers;
  Settings settings;
};

TEST_F(HeardBeforeTest, EachKindIsToBeHeardUpToTheLastChangeThatSomebodyHadHeard) {
  cluster.hear_all<berth::Job>("99");
  cluster.hear_all<berth::Pod>("100");
  EXPECT_FALSE(behind("99", "100"));
  EXPECT_FALSE(behind("98", ""));
  EXPECT_FALSE(behind("", ""));
  EXPECT_TRUE(behind("100", "")) << "versions are numbers";
  EXPECT_TRUE(behind("99", "101"));
  EXPECT_FALSE(behind("99", "101", 4)) << "its own words";
  cluster.hear<berth::Pod>("101");
  EXPECT_TRUE(behind("99", "101")) << "one that came past the watch says nothing of the others";
}

TEST_F(HeardBeforeTest, WhatIsWrittenIsTheLatestOfWhatAnyLeaderHasHeard) {
  cluster.hear<berth::Job>("no version");
  cluster.hear<berth::Job>("99");
  cluster.hear<berth::Job>("98");
  cluster.hear<berth::Pod>("100");
  const HeardBefore before{.epoch = 3, .jobs = "100", .pods = "99"};
  const HeardBefore now = heard_by_now(snapshot(), before);
  EXPECT_EQ(now, (HeardBefore{.epoch = 4, .jobs = "100", .pods = "100"}));
  EXPECT_EQ(encode_heard(now), R"({"epoch":4,"jobs":"100","pods":"100"})");
  EXPECT_EQ(decode_heard(encode_heard(now), "101"), now);
  EXPECT_EQ(encode_heard({.epoch = 4, .jobs = "", .pods = ""}), "");
}

TEST(HeardBefore, WhatItsWriterCannotHaveHeardIsNotWaitedFor) {
  const auto jobs = [](const char* text) { return decode_heard(text, "1000").jobs; };
  EXPECT_EQ(jobs(R"({"epoch":3,"jobs":"999"})"), "999");
  EXPECT_EQ(jobs(R"({"epoch":3,"jobs":"1000"})"), "");
  EXPECT_EQ(jobs(R"({"epoch":3,"jobs":"99999999999999999999"})"), "");
  EXPECT_EQ(jobs(R"({"epoch":3,"jobs":"soon"})"), "");
  EXPECT_EQ(jobs(R"({"epoch":3,"jobs":999})"), "");
  EXPECT_EQ(jobs("[]"), "");
  EXPECT_EQ(jobs("junk"), "");
  EXPECT_EQ(decode_heard(R"({"epoch":"3","jobs":"9","pods":"8"})", "1000"),
            (HeardBefore{.epoch = 0, .jobs = "9", .pods = "8"}));
}

}  // namespace
}  // namespace berth::queue
