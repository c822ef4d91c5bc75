// SPDX-License-Identifier: Apache-2.0
// `berth top --by`: the GPU hours of each owner since a start time.
#include "controller/explain/top_usage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "tests/queue/queue_objects.h"

namespace berth {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Time at(const std::string& text) { return parse_time(text).value(); }

class TopUsage : public ::testing::Test {
 protected:
  TopUsage() {
    ConfigMap usage;
    usage.meta.namespace_ = settings.berth_namespace;
    usage.meta.name = names::kUsageConfigMap;
    usage.data = {{"checkpoint", R"({"at":"2026-11-25T12:00:00Z","budgets":{}})"},
                  {"day-2026-11-18", R"({"nlp":{"b":14400000000}})"},
                  {"day-2026-11-25", R"({"nlp":{"b":3600000000},"vision":{"a":25200000000}})"},
                  {"pools-day-2026-11-25", R"({"training":25200000000,"*":3600000000})"},
                  {"month-2026-07", R"({"nlp":{"b":36000000000}})"},
                  {"month-2026-11", R"({"nlp":{"b":18000000000},"vision":{"a":25200000000}})"}};
    cluster.upsert(std::move(usage), now);
    cluster.upsert(queue::policy_with("training"), now);
    cluster.upsert(queue::node_of("n1", 8), now);
    cluster.upsert(queue::queue_of("vision", 8), now);
  }
  Snapshot snapshot() const { return {cluster, answers, settings, now}; }
  std::string told(UsageBy by, const std::string& since) const {
    return print_text(top_usage(snapshot(), by, parse_since(since, now).value()));
  }

  ClusterState cluster;
  Answers answers;
  Settings settings;
  Time now = at("2026-11-25T14:00:00Z");
};

TEST_F(TopUsage, TellsWhoHasUsedHowMuchSinceADay) {
  EXPECT_EQ(told(UsageBy::kQueue, "24h"),
            "QUEUE   GPUHOURS  SHARE  SINCE\n"
            "vision  7.0       87.5%  2026-11-25\n"
            "nlp     1.0       12.5%  2026-11-25\n");
  EXPECT_EQ(told(UsageBy::kNamespace, "7d"),
            "NAMESPACE  GPUHOURS  SHARE  SINCE\n"
            "a          7.0       58.3%  2026-11-18\n"
            "b          5.0       41.7%  2026-11-18\n");
}

TEST_F(TopUsage, GoesFurtherBackThanDaysAreKeptByMonths) {
  EXPECT_EQ(told(UsageBy::kQueue, "2026-07-20"),
            "QUEUE   GPUHOURS  SHARE  SINCE\n"
            "nlp     15.0      68.2%  2026-07\n"
            "vision  7.0       31.8%  2026-07\n");
}

TEST_F(TopUsage, TellsInWhichPoolItWas) {
  EXPECT_EQ(told(UsageBy::kPool, "24h"),
            "POOL      GPUHOURS  SHARE  SINCE\n"
            "training  7.0       87.5%  2026-11-25\n"
            "*         1.0       12.5%  2026-11-25\n");
}

TEST_F(TopUsage, CountsWhatHasRunSinceTheCheckpoint) {
  Job job = queue::job_of("a", "train", 4);
  job.suspended = false;
  queue::note_admission(job.meta, "vision", {{"nvidia.com/gpu", 4}});
  cluster.upsert(std::move(job), now);
  EXPECT_THAT(told(UsageBy::kQueue, "2026-11-25"), HasSubstr("vision  15.0"));
  EXPECT_THAT(told(UsageBy::kPool, "2026-11-25"), HasSubstr("training  15.0"));
}

TEST_F(TopUsage, TellsNothingWhereNothingWasCounted) {
  cluster.erase<ConfigMap>(settings.berth_namespace, names::kUsageConfigMap);
  EXPECT_THAT(top_usage(snapshot(), UsageBy::kQueue, now).rows, IsEmpty());
}

TEST(Since, IsADurationOrADate) {
  const Time now = at("2026-11-25T14:00:00Z");
  EXPECT_EQ(parse_since("7d", now).value(), at("2026-11-18T14:00:00Z"));
  EXPECT_EQ(parse_since("1h30m", now).value(), at("2026-11-25T12:30:00Z"));
  EXPECT_EQ(parse_since("2026-11-01", now).value(), at("2026-11-01T00:00:00Z"));
  EXPECT_EQ(parse_since("2026-11-01T08:00:00Z", now).value(), at("2026-11-01T08:00:00Z"));
  for (const char* bad : {"", "d", "-1d", "7", "7 d", "yesterday", "99999d", "2026-13-01"})
    EXPECT_THAT(describe(parse_since(bad, now).error()), HasSubstr("7d, 24h or 2026-11-01")) << bad;
  EXPECT_THAT(describe(parse_since("2026-12-01", now).error()), HasSubstr("yet to come"));
}

}  // namespace
}  // namespace berth
