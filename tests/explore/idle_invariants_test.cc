// SPDX-License-Identifier: Apache-2.0
// Reclaim of idle GPUs: each invariant is violated once, by a manipulated write of berth.
#include "tests/explore/idle_invariants.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "apis/base/names.h"
#include "apis/base/time.h"
#include "controller/queue/record/admission_ledger.h"
#include "controller/queue/record/admission_record.h"
#include "controller/sim/world/virtual_clock.h"

namespace berth::explore {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;
using testing::StartsWith;

constexpr std::int64_t kIdleAdmittedAt = 1'000'000;

class IdleInvariantsTest : public testing::Test {
 protected:
  IdleInvariantsTest() {
    clock_.move_to(1h);
    store_.observe([this](const sim::Change& change) {
      judge_.take(change, change.user == "berth-0", clock_.now(), clock_.wall(), 1s);
    });
    set_policy("OnPressure");
    show(true);
    judge_.history().take_use("vision/train", 0, clock_.now());
    put_job("train", false, "");
    put_pod("train", 4);
    pass(2min);
    warn("train");
    pass(2min);
  }
  void pass(std::chrono::nanoseconds span) { clock_.move_to(clock_.now() + span); }
  std::string in(std::chrono::seconds span) { return format_time(clock_.wall() + span); }

  void put(const char* plural, const std::string& home, const json& object,
           const std::string& user = "somebody") {
    store_.put({sim::find_resource_type(plural), home, object["metadata"]["name"]}, object, user);
  }
  void set_policy(const std::string& policy) {
    put("gpuclusterpolicies", "",
        json::parse(fmt::format(
            R"({{"apiVersion":"gpu.berth.dev/v1alpha1","kind":"GPUClusterPolicy",
                 "metadata":{{"name":"cluster","uid":"g1","generation":1}},
                 "spec":{{"metrics":{{"interval":"20s"}},"idle":{{"policy":"{}",
                   "gracePeriod":"2m","warnAfter":"1m"}}}}}})",
            policy)));
  }
  void show(bool told) {
    const sim::GaugedNode node{.made = 1, .product = "A100", .gpus = {{}, {}}, .told = told};
    judge_.history().take_gauges("n1", &node, clock_.now());
  }
  static json job(const std::string& name, bool suspended, const std::string& preempted) {
    json object = json::parse(fmt::format(
        R"({{"metadata":{{"namespace":"vision","name":"{0}","uid":"u-{0}","annotations":{{}}}},
             "spec":{{"suspend":{1}}}}})",
        name, suspended));
    json& annotations = object["metadata"]["annotations"];
    annotations[names::kAdmittedAnnotation] =
        queue::encode_admission(admission("u-" + name, kIdleAdmittedAt));
    if (!preempted.empty()) annotations[names::kPreemptedAnnotation] = preempted;
    return object;
  }
  static queue::AdmissionFact admission(const std::string& uid, std::int64_t since) {
    queue::AdmissionFact fact;
    fact.queue = "vision";
    fact.pool = "training";
    fact.uid = uid;
    fact.since = since;
    fact.pods = 1;
    fact.amounts = {{"nvidia.com/gpu", 2}};
    return fact;
  }
  void put_job(const std::string& name, bool suspended, const std::string& preempted,
               const std::string& user = "somebody") {
    put("jobs", "vision", job(name, suspended, preempted), user);
  }
  void put_pod(const std::string& name, int gpus) {
    put("pods", "vision",
        json::parse(fmt::format(
            R"({{"metadata":{{"namespace":"vision","name":"{0}-1","uid":"p-{0}",
                 "labels":{{"app":"{0}"}},"annotations":{{}},
                 "ownerReferences":[{{"kind":"Job","name":"{0}","uid":"u-{0}","controller":true}}]}},
                 "spec":{{"nodeName":"n1","containers":[{{"resources":
                   {{"limits":{{"nvidia.com/gpu":"{1}"}}}}}}]}},"status":{{"phase":"Running"}}}})",
            name, gpus)));
  }
  void warn(const std::string& name, std::chrono::seconds ahead = 60s) {
    json pod = *store_.find({sim::find_resource_type("pods"), "vision", name + "-1"});
    pod["metadata"]["annotations"][names::kReclaimAfterAnnotation] = in(ahead);
    put("pods", "vision", pod, "berth-0");
  }
  // A ledger entry for a Job that requests two GPUs.
  void enter(const std::string& name, const std::vector<std::string>& who, bool idle = true) {
    queue::LedgerFact entry{.workload = "Job/vision/" + name,
                            .admission = admission("u-" + name, 2 * kIdleAdmittedAt)};
    for (const std::string& other : who)
      entry.ahead.push_back({.workload = "Job/vision/" + other,
                             .uid = "u-" + other,
                             .since = kIdleAdmittedAt,
                             .evicted = true,
                             .idle = idle});
    put("configmaps", "berth-system",
        {{"metadata", {{"name", names::kAdmissionsConfigMap}, {"namespace", "berth-system"}}},
         {"data", {{"u-" + name, queue::encode_entry(entry)}}}},
        "berth-0");
  }
  void stop_for_next() {
    put_job("train", true, in(0s) + " for Job/vision/next of queue vision, as it was idle",
            "berth-0");
  }
  void stop_for_nobody(bool held) {
    json object = job("train", true, in(0s) + ", as its GPUs were idle");
    if (held) object["metadata"]["annotations"][names::kHoldAnnotation] = "idle";
    put("jobs", "vision", object, "berth-0");
  }
  std::string first() const { return judge_.broken().empty() ? "" : judge_.broken().front(); }

  sim::VirtualClock clock_;
  sim::Store store_;
  IdleInvariants judge_;
};

TEST_F(IdleInvariantsTest, WhoIsIdleGoesForWhoWaits) {
  enter("next", {"train"});
  stop_for_next();
  EXPECT_EQ(first(), "");
}

TEST_F(IdleInvariantsTest, WhoWorkedWithinTheWindowStays) {
  enter("next", {"train"});
  judge_.history().take_use("vision/train", 60, clock_.now());
  pass(70s);
  judge_.history().take_use("vision/train", 0, clock_.now());
  pass(60s);
  stop_for_next();
  EXPECT_THAT(first(), StartsWith("Busy: Job/vision/train is stopped as idle, and has worked"));
}

TEST_F(IdleInvariantsTest, WhoHasJustBegunToWorkCannotHaveBeenSeen) {
  enter("next", {"train"});
  judge_.history().take_use("vision/train", 60, clock_.now());
  pass(10s);
  stop_for_next();
  EXPECT_EQ(first(), "");
}

TEST_F(IdleInvariantsTest, WhoCameLateHasItsTime) {
  judge_.history().take_use("vision/small", 0, clock_.now());
  put_job("small", false, "");
  put_pod("small", 2);
  warn("small");
  pass(2min);
  enter("next", {"small"});
  put_job("small", true, in(0s) + " for Job/vision/next of queue vision, as it was idle",
          "berth-0");
  EXPECT_THAT(first(),
              StartsWith("Young: Job/vision/small is stopped as idle, and has been there"));
}

TEST_F(IdleInvariantsTest, OfWhomNothingIsHeardStays) {
  show(false);
  pass(4min);
  enter("next", {"train"});
  stop_for_next();
  EXPECT_THAT(first(),
              StartsWith("Blind: Job/vision/train is stopped as idle, and nothing is told"));
}

TEST_F(IdleInvariantsTest, NobodyGoesBeforeTheTimeThatItWasTold) {
  warn("train", 90s);
  enter("next", {"train"});
  stop_for_next();
  EXPECT_THAT(first(), StartsWith("Warned: Job/vision/train is stopped as idle before its time"));
}

TEST_F(IdleInvariantsTest, AWarningIsAsLongAsThePolicySays) {
  warn("train", 20s);
  EXPECT_THAT(first(), StartsWith("Warned: Job/vision/train is told that its GPUs go at"));
}

TEST_F(IdleInvariantsTest, WhoHasWorkedSinceIsToldAnew) {
  judge_.history().take_use("vision/train", 60, clock_.now());
  pass(6min);
  judge_.history().take_use("vision/train", 0, clock_.now());
  pass(3min);
  enter("next", {"train"});
  stop_for_next();
  EXPECT_THAT(first(), StartsWith("Warned: Job/vision/train has worked since it was told"));
}

TEST_F(IdleInvariantsTest, UnderOnPressureNobodyGoesUnasked) {
  stop_for_nobody(/*held=*/true);
  EXPECT_THAT(first(), StartsWith("Unasked: Job/vision/train is stopped as idle"));
}

TEST_F(IdleInvariantsTest, UnderAlwaysAJobStaysOutOfItsQueue) {
  set_policy("Always");
  pass(5min);
  stop_for_nobody(/*held=*/false);
  EXPECT_THAT(first(), StartsWith("Held: Job/vision/train is stopped as idle, and queues again"));
}

TEST_F(IdleInvariantsTest, NoMoreGoThanOneNeeds) {
  put_job("small", false, "");
  put_pod("small", 2);
  enter("next", {"train", "small"});
  EXPECT_EQ(first(),
            "Fewest: 6 GPUs are taken from idle work for Job/vision/next, which asks for 2");
}

TEST_F(IdleInvariantsTest, WhoGaveItsGpusUpDoesNotDisplaceWhoHasThem) {
  enter("next", {"train"});
  stop_for_next();
  enter("train", {"next"}, /*idle=*/false);
  EXPECT_THAT(first(), StartsWith("Turns: Job/vision/train displaces Job/vision/next"));
}

TEST_F(IdleInvariantsTest, InTheEndNobodyIsIdleForLongUnderAlways) {
  set_policy("Always");
  pass(20min);
  EXPECT_EQ(judge_.unstill(clock_.now()),
            "vision/train-1 has been idle for long, and keeps its GPUs");
  judge_.history().take_use("vision/train", 60, clock_.now());
  pass(1min);
  EXPECT_EQ(judge_.unstill(clock_.now()), "");
}

}  // namespace
}  // namespace berth::explore
