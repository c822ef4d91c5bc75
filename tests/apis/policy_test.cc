// SPDX-License-Identifier: Apache-2.0
// GPUClusterPolicy from and to the API server: list, watch, status. And the cron schedules of its
// windows, which the server checks only roughly.
#include <gtest/gtest.h>

#include <filesystem>

#include "apis/base/cron.h"
#include "apis/codec/decode.h"
#include "apis/codec/manifest.h"
#include "apis/kinds/gpu_cluster_policy.h"
#include "tests/support/manifest_cases.h"
#include "tests/support/places.h"

namespace berth {
namespace {

constexpr char kPolicy[] =
    R"({"metadata":{"name":"cluster","resourceVersion":"7","generation":3},"spec":{"pools":[)"
    R"({"name":"lab","nodeSelector":{"matchLabels":{"tier":"lab"}},"migStrategy":"single",)"
    R"("sharing":{"strategy":"MPS","replicas":8,"resources":["nvidia.com/gpu"]},)"
    R"("labels":{"a":"b"},"taints":[{"key":"k","effect":"PreferNoSchedule"}]}],)"
    R"("prices":[{"instanceType":"p4d.24xlarge","capacityType":"Spot","perNodeHour":"9.85"}],)"
    R"("idle":{"policy":"OnPressure","excludeSelector":{}},"unknown":1},)"
    R"("status":{"observedGeneration":2,"totals":{"pools":1,"nodes":4,"gpus":16,"allocated":12,)"
    R"("idleGPUs":2,"reclaimed":3,"unhealthyNodes":1,"cordonedNodes":2,)"
    R"("conflicts":1,"monthlyWaste":"37 USD"},)"
    R"("pools":[{"name":"lab",)"
    R"("nodes":4,"gpus":16,"allocated":12,"sharedBy":8,"utilization":91,"idleGPUs":2,)"
    R"("monthlyWaste":"37"}],"conflicts":[{"node":"n7","pools":["lab","b"]}],"disruption":)"
    R"({"open":false,"nextOpening":"2026-11-21T22:00:00Z"},"conditions":[{"type":"Ready",)"
    R"("status":"False","observedGeneration":2,"lastTransitionTime":"2026-11-21T14:22:49Z",)"
    R"("reason":"Progressing","message":"m"}]}})";

GPUClusterPolicy decode(std::string body) {
  Result<GPUClusterPolicy> policy = decode_object<GPUClusterPolicy>(body);
  EXPECT_TRUE(policy.has_value()) << describe(policy.error());
  return policy ? *policy : GPUClusterPolicy();
}

TEST(DecodePolicy, ReadsListsAndWatches) {
  std::string event = std::string(R"({"type":"MODIFIED","object":)") + kPolicy + "}";
  Result<WatchEvent<GPUClusterPolicy>> watched = decode_watch_event<GPUClusterPolicy>(event);
  ASSERT_TRUE(watched.has_value()) << describe(watched.error());
  const PoolSpec& pool = watched->object.spec.pools.at(0);
  EXPECT_EQ(pool.sharing.strategy, SharingStrategy::kMPS);
  EXPECT_EQ(pool.sharing.replicas, 8);
  EXPECT_FALSE(pool.sharing.fail_requests_greater_than_one.has_value());
  EXPECT_EQ(pool.mig_strategy, PluginMigStrategy::kSingle);
  EXPECT_EQ(pool.labels, (StringMap{{"a", "b"}}));
  EXPECT_FALSE(pool.eligible_namespaces.has_value());
  EXPECT_TRUE(watched->object.spec.idle.exclude_selector.has_value());
  EXPECT_EQ(watched->object.spec.health, HealthSpec());
  EXPECT_EQ(watched->object.spec.prices,
            (std::vector<PriceRow>{{.instance_type = "p4d.24xlarge",
                                    .capacity_type = CapacityType::kSpot,
                                    .per_node_hour = "9.85"}}));
  EXPECT_EQ(watched->object.status.pools.at(0).utilization, 91);

  std::string list =
      std::string(R"({"metadata":{"resourceVersion":"9"},"items":[)") + kPolicy + "]}";
  Result<ListPage<GPUClusterPolicy>> page = decode_list<GPUClusterPolicy>(list);
  ASSERT_TRUE(page.has_value()) << describe(page.error());
  EXPECT_EQ(page->items.at(0), watched->object);
}

TEST(DecodePolicy, ReadsWhatIsOtherThanTheDefault) {
  const GPUClusterPolicySpec spec = decode(R"({"spec":{
      "health":{"maxTemperature":70,"xid":"Ignore","doubleBitECC":false,"action":"Drain",
                "recoverAfter":"1h","maxUnhealthyFraction":"30%"},
      "idle":{"utilizationThreshold":7,"policy":"Always"}}})")
                                        .spec;
  EXPECT_EQ(spec.health, (HealthSpec{.max_temperature = 70,
                                     .xid = XidPolicy::kIgnore,
                                     .double_bit_ecc = false,
                                     .action = HealthAction::kDrain,
                                     .recover_after = std::chrono::hours(1),
                                     .max_unhealthy_fraction = {30, true}}));
  EXPECT_EQ(spec.idle.utilization_threshold, 7);
  EXPECT_EQ(spec.idle.policy, IdlePolicy::kAlways);
}

TEST(DecodePolicy, NamesThePathOfAWrongType) {
  const struct {
    const char* spec;
    const char* where;
    const char* says;
  } cases[] = {
      {R"({"pools":{}})", "spec.pools", "must be a list"},
      {R"({"pools":[{"name":"a"}]})", "spec.pools[0].nodeSelector", "is required"},
      {R"({"pools":[{"name":"a","nodeSelector":{},"taints":[{"key":"k","effect":7}]}]})",
       "spec.pools[0].taints[0].effect", "must be text"},
      {R"({"disruption":{"maxUnavailable":[]}})", "spec.disruption.maxUnavailable", "percentage"},
      {R"({"health":{"doubleBitECC":1}})", "spec.health.doubleBitECC", "true or false"},
      {R"({"priorityClasses":[{"name":"a","value":1e300}]})", "spec.priorityClasses[0].value",
       "must be from"},
  };
  for (const auto& c : cases) {
    std::string body = std::string(R"({"metadata":{"name":"cluster"},"spec":)") + c.spec + "}";
    Result<GPUClusterPolicy> policy = decode_object<GPUClusterPolicy>(body);
    ASSERT_FALSE(policy.has_value()) << body;
    EXPECT_EQ(policy.error().where, c.where);
    EXPECT_NE(policy.error().message.find(c.says), std::string::npos) << policy.error().message;
  }
  std::string bad_status = R"({"status":{"totals":{"gpus":"many"}}})";
  EXPECT_EQ(decode_object<GPUClusterPolicy>(bad_status).error().where, "status.totals.gpus");
}

TEST(PolicyStatus, IsWrittenAsItIsRead) {
  const GPUClusterPolicy policy = decode(kPolicy);
  const GPUClusterPolicy again = decode(R"({"status":)" + encode_status(policy.status) + "}");
  EXPECT_EQ(again.status, policy.status);
}

TEST(PolicyStatus, ClearsWhatIsGoneAndKeepsToItsBounds) {
  const GPUClusterPolicy policy = decode(kPolicy);
  EXPECT_EQ(
      encode_status_patch(policy, GPUClusterPolicyStatus()),
      R"({"metadata":{"resourceVersion":"7"},"status":{"observedGeneration":0,"totals":)"
      R"({"pools":0,"nodes":0,"gpus":0,"allocated":0,"conflicts":0,"idleGPUs":null,)"
      R"("reclaimed":null,"unhealthyNodes":null,"cordonedNodes":null,"monthlyWaste":null},"pools":[],)"
      R"("conflicts":[],"disruption":)"
      R"({"open":true,"nextOpening":null},"conditions":[]}})");
  GPUClusterPolicyStatus full;
  full.conflicts.assign(150, PoolConflict{.node = "n", .pools = {"a", "b"}});
  EXPECT_EQ(decode(R"({"status":)" + encode_status(full) + "}").status.conflicts.size(),
            limits::kMaxConflicts);
}

// For any damaged manifest there is a finding or a policy, and no crash.
TEST(StrictPolicy, SurvivesTruncationAndChangedBytes) {
  const std::string text =
      test::read_file(std::filesystem::path(test::source_dir()) / "examples/policy/cluster.yaml");
  const auto run = [](const std::string& t) {
    for (const ManifestDocument& document : parse_manifest(t, "f").documents) {
      const StrictPolicy strict = decode_strict_policy(document, "f");
      std::string body = document.json;
      Result<GPUClusterPolicy> policy = decode_object<GPUClusterPolicy>(body);
      if (policy) (void)check_rules(*policy);
    }
  };
  for (std::size_t size = 0; size <= text.size(); size += 53) run(text.substr(0, size));
  for (std::size_t at = 0; at < text.size(); at += 59) {
    for (char c : {'\n', '"', '{', '-', '9', '\xFF'}) {
      std::string changed = text;
      changed[at] = c;
      run(changed);
    }
  }
}

struct CronCase {
  const char* text;
  const char* says;
};

TEST(Cron, RefusesWhatNoClockMeets) {
  const CronCase cases[] = {
      {"", "0 fields"},
      {"0 22 * *", "4 fields"},
      {"0 0 22 * * sat", "6 fields"},
      {"@daily", "1 fields"},
      {"60 * * * *", "\"60\" is not a valid minute: write 0 to 59"},
      {"0 24 * * *", "is not a valid hour"},
      {"0 0 0 * *", "is not a valid day of the month: write 1 to 31"},
      {"0 0 32 * *", "is not a valid day of the month"},
      {"0 0 * 13 *", "is not a valid month: write 1 to 12 or jan to dec"},
      {"0 0 * foo *", "\"foo\" is not a valid month"},
      {"0 0 * * 8", "is not a valid weekday"},
      {"0 0 * * so", "\"so\" is not a valid weekday: write 0 to 7 or sun to sat"},
      {"0 0 * * fri-mon", "runs backwards"},
      {"0 0-x * * *", "\"x\" is not a valid hour"},
      {"*/0 * * * *", "needs a step"},
      {"*/x * * * *", "needs a step"},
      {"1,,2 * * * *", "\"\" is not a valid minute"},
      {"-1 * * * *", "is not a valid minute"},
      {"99999999999 * * * *", "is not a valid minute"},
      {"0 0 31 feb *", "never fires"},
      {"0 0 31 4,6,9,11 *", "never fires"},
      {"0 0 30 2 */2", "never fires"},
  };
  for (const CronCase& c : cases) {
    Result<CronSchedule> schedule = parse_cron(c.text);
    ASSERT_FALSE(schedule.has_value()) << c.text;
    EXPECT_NE(schedule.error().message.find(c.says), std::string::npos)
        << c.text << ": " << schedule.error().message;
  }
}

TEST(Cron, ReadsItsFields) {
  Result<CronSchedule> schedule = parse_cron("*/20 8-10,22 1,31 JAN-mar sat,7");
  ASSERT_TRUE(schedule.has_value()) << describe(schedule.error());
  EXPECT_EQ(schedule->minutes, (1ULL << 0 | 1ULL << 20 | 1ULL << 40));
  EXPECT_EQ(schedule->hours, 1u << 8 | 1u << 9 | 1u << 10 | 1u << 22);
  EXPECT_EQ(schedule->days, 1u << 1 | 1u << 31);
  EXPECT_EQ(schedule->months, 1 << 1 | 1 << 2 | 1 << 3);
  EXPECT_EQ(schedule->weekdays, 1 << 0 | 1 << 6);
  EXPECT_TRUE(schedule->fires_on(1, 5, 6)) << "a Saturday that is no first";
  EXPECT_TRUE(schedule->fires_on(1, 31, 3)) << "a 31st that is no Saturday";
  EXPECT_FALSE(schedule->fires_on(1, 5, 3));
  EXPECT_FALSE(schedule->fires_on(4, 1, 6));

  schedule = parse_cron("0 0 */2 * mon");
  ASSERT_TRUE(schedule.has_value());
  EXPECT_TRUE(schedule->fires_on(5, 1, 1));
  EXPECT_FALSE(schedule->fires_on(5, 2, 1)) << "with a star both must hold";
  EXPECT_EQ(parse_cron("50/5 * * * *")->minutes, 1ULL << 50 | 1ULL << 55);
  EXPECT_TRUE(parse_cron("0 0 29 2 *").has_value()) << "every leap year";
}

TEST(Cron, AWindowThatNeverOpensIsTheSpecsFault) {
  GPUClusterPolicy policy;
  policy.meta.name = "cluster";
  policy.spec.disruption.blackouts = {{"0 8 * * *", std::chrono::hours(1), "UTC"},
                                      {"0 0 31 feb *", std::chrono::hours(1), "UTC"}};
  std::vector<Error> errors = check_rules(policy);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].where, "spec.disruption.blackouts[1].schedule");
  EXPECT_NE(errors[0].message.find("never fires"), std::string::npos);
}

}  // namespace
}  // namespace berth
