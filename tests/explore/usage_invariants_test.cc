// SPDX-License-Identifier: Apache-2.0
// The use of queues: each invariant of use and of reservations is violated once.
#include "tests/explore/usage_invariants.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "controller/queue/budget/usage_ledger.h"
#include "controller/queue/record/admission_ledger.h"
#include "controller/sim/world/virtual_clock.h"
#include "tests/explore/reservation_invariants.h"

namespace berth::explore {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

class UsageInvariantsTest : public testing::Test {
 protected:
  UsageInvariantsTest() {
    store_.observe([this](const sim::Change& change) {
      const bool by_berth = change.user == "berth-0";
      accounts_.take(change, clock_.wall());
      usage_.take(change, by_berth, clock_.wall(), 1s);
      reservations_.take(change, by_berth, 1s);
    });
    clock_.move_to(1h);
    put("namespaces", "", R"({"metadata":{"name":"vision","labels":{"team":"vision"}}})");
    for (const char* name : {"n1", "n2"})
      put("nodes", "",
          fmt::format(R"({{"metadata":{{"name":"{}","labels":{{"gpu.berth.dev/pool":"training"}}}},
                           "spec":{{}},"status":{{"allocatable":{{"nvidia.com/gpu":"4"}}}}}})",
                      name));
    put("gpuqueues", "", R"({"apiVersion":"gpu.berth.dev/v1alpha1","kind":"GPUQueue",
        "metadata":{"name":"vision"},
        "spec":{"default":true,"namespaceSelector":{"matchLabels":{"team":"vision"}},
                "quotas":[{"resource":"nvidia.com/gpu","pool":"training","nominalQuota":8}],
                "reserveAfter":"1m",
                "budget":{"gpuHours":"1","period":"Month","whenExceeded":"Hold"}}})");
    pass(1min);
  }
  void put(const char* plural, const std::string& namespace_, const std::string& object,
           const std::string& user = "somebody") {
    const json parsed = json::parse(object);
    store_.put({sim::find_resource_type(plural), namespace_, parsed["metadata"]["name"]}, parsed,
               user);
  }
  void pass(std::chrono::nanoseconds span) { clock_.move_to(clock_.now() + span); }

  // A pending workload with so many GPUs.
  void wait(const std::string& name, int gpus) {
    put("jobs", "vision",
        fmt::format(
            R"({{"metadata":{{"name":"{0}","namespace":"vision","uid":"u-{0}",
                 "creationTimestamp":"{1}"}},
               "spec":{{"suspend":true,"parallelism":1,"completions":1,"template":{{"spec":{{
                 "containers":[{{"resources":{{"limits":{{"nvidia.com/gpu":"{2}"}}}}}}]}}}}}}}})",
            name, format_time(clock_.wall()), gpus));
  }
  // Adds a ledger entry for it.
  void admit(const std::string& name, int gpus) {
    queue::LedgerFact entry;
    entry.workload = "Job/vision/" + name;
    entry.admission = {.uid = "u-" + name,
                       .queue = "vision",
                       .pool = "training",
                       .amounts = {{"nvidia.com/gpu", gpus}},
                       .since = clock_.wall().time_since_epoch().count()};
    entries_["u-" + name] = queue::encode_entry(entry);
    const json ledger = {{"metadata", {{"name", names::kAdmissionsConfigMap}}}, {"data", entries_}};
    put("configmaps", "berth-system", ledger.dump(), "berth-0");
  }
  // In GPU seconds, counted until now.
  void note(std::int64_t used, const std::string& user = "berth-0", Duration ago = 0s) {
    queue::GpuHours hours;
    hours.at = clock_.wall() - ago;
    hours.budgets["vision"] = {
        {Time(std::chrono::sys_days(2026y / 1 / 1)), Time(std::chrono::sys_days(2026y / 2 / 1))},
        used * 1'000'000};
    const json config_map = {{"metadata", {{"name", names::kUsageConfigMap}}},
                             {"data", queue::encode_usage(hours)}};
    put("configmaps", "berth-system", config_map.dump(), user);
  }

  sim::VirtualClock clock_;
  sim::Store store_;
  QueueAccounts accounts_;
  UsageInvariants usage_{accounts_};
  ReservationInvariants reservations_{accounts_};
  std::map<std::string, std::string> entries_;
};

TEST_F(UsageInvariantsTest, WhatIsHeldMayBeCounted) {
  admit("a", 4);
  pass(100s);
  note(400);
  EXPECT_THAT(usage_.broken(), IsEmpty());
}

TEST_F(UsageInvariantsTest, MoreThanIsHeldMayNot) {
  admit("a", 4);
  pass(100s);
  note(900);
  EXPECT_THAT(usage_.broken(), ElementsAre(StartsWith("Use: vision has used")));
}

TEST_F(UsageInvariantsTest, WhatIsWrittenDownDoesNotGoBack) {
  admit("a", 4);
  pass(100s);
  note(400);
  pass(60s);
  note(300);
  EXPECT_THAT(usage_.broken(), ElementsAre(StartsWith("Back: vision has used")));
}

TEST_F(UsageInvariantsTest, NorDoesTheTimeOfIt) {
  admit("a", 4);
  pass(100s);
  note(400);
  pass(60s);
  note(400, "berth-0", 90s);
  EXPECT_THAT(usage_.broken(), ElementsAre(StartsWith("Back: what is used was counted until")));
}

TEST_F(UsageInvariantsTest, WhatAPersonWritesIsWhereItGoesOn) {
  admit("a", 4);
  pass(100s);
  note(400);
  note(5, "somebody");
  pass(10s);
  note(45);
  EXPECT_THAT(usage_.broken(), IsEmpty());
}

TEST_F(UsageInvariantsTest, NothingIsAdmittedOnceTheBudgetIsUsedUp) {
  admit("a", 8);
  pass(500s);
  note(3700);
  admit("soon", 1);
  EXPECT_THAT(usage_.broken(), IsEmpty()) << "who decided may not have heard of it";
  pass(10s);
  admit("late", 1);
  EXPECT_THAT(usage_.broken(), ElementsAre(StartsWith("Spent: Job/vision/late is admitted")));
}

TEST_F(UsageInvariantsTest, WhatIsKeptForTheHeadIsLeft) {
  wait("large", 8);
  pass(20s);
  admit("early", 4);
  EXPECT_THAT(reservations_.broken(), IsEmpty());
  entries_.clear();
  pass(50s);
  wait("past", 4);
  admit("past", 4);
  EXPECT_THAT(reservations_.broken(),
              ElementsAre(StartsWith("Reserved: Job/vision/past goes, and of 8 GPUs 4 are left")));
}

}  // namespace
}  // namespace berth::explore
