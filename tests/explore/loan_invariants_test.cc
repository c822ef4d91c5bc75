// SPDX-License-Identifier: Apache-2.0
// Workloads that waited too long for their own quota, and quota that was lent permanently.
#include "tests/explore/loan_invariants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "controller/queue/record/admission_record.h"
#include "controller/sim/world/store.h"

namespace berth::explore {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::IsEmpty;
using testing::StartsWith;

// "vision" has borrowed all four GPUs of a node, and "nlp" wants its own quota.
class LoanInvariantsTest : public testing::Test {
 protected:
  LoanInvariantsTest() {
    store_.observe([this](const sim::Change& change) {
      displacements_.take(change, change.user == "berth-0", now_, 0ns);
      loans_.take(change, runs_, now_, 0ns);
    });
    put("nodes", "",
        {{"metadata", {{"name", "n"}, {"labels", {{names::kPoolLabel, "training"}}}}},
         {"spec", json::object()},
         {"status",
          {{"allocatable", {{"nvidia.com/gpu", "4"}}},
           {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}});
    put_queue("vision", 0), put_queue("nlp", 4);
  }
  void put(const char* plural, const std::string& home, json object,
           const std::string& user = "somebody") {
    object["metadata"]["namespace"] = home;
    store_.put({sim::find_resource_type(plural), home, object["metadata"]["name"]}, object, user);
  }
  void put_queue(const std::string& name, int nominal) {
    put("gpuqueues", "",
        {{"metadata", {{"name", name}}},
         {"spec",
          {{"cohortName", "c"},
           {"quotas",
            {{{"resource", "nvidia.com/gpu"}, {"pool", "training"}, {"nominalQuota", nominal}}}},
           {"preemption", {{"reclaimWithinCohort", "Any"}, {"reclaimTimeout", "1m"}}}}}});
  }
  std::string record(const std::string& uid, int gpus) const {
    return queue::encode_admission({.uid = uid,
                                    .queue = "vision",
                                    .cohort = "c",
                                    .pool = "training",
                                    .amounts = {{"nvidia.com/gpu", gpus}},
                                    .since = now_.time_since_epoch().count()});
  }
  void put_job(const std::string& queue, const std::string& name, bool runs) {
    json job = {
        {"metadata", {{"name", name}, {"uid", name}, {"labels", {{names::kQueueLabel, queue}}}}},
        {"spec",
         {{"suspend", !runs},
          {"parallelism", 1},
          {"template",
           {{"spec",
             {{"containers", {{{"resources", {{"limits", {{"nvidia.com/gpu", 4}}}}}}}}}}}}}}};
    if (runs) job["metadata"]["annotations"][names::kAdmittedAnnotation] = record(name, 4);
    put("jobs", "ns", job);
  }
  void put_bare_pod(const std::string& name, bool gated) {
    json pod = {
        {"metadata", {{"name", name}, {"uid", name}}},
        {"spec", {{"containers", {{{"resources", {{"limits", {{"nvidia.com/gpu", 1}}}}}}}}}}};
    if (gated) pod["spec"]["schedulingGates"] = {{{"name", names::kQueueGate}}};
    if (!gated) pod["metadata"]["annotations"][names::kAdmittedAnnotation] = record(name, 1);
    put("pods", "ns", pod, gated ? "somebody" : "berth-0");
  }
  // An irrelevant change every minute.
  void pass(std::chrono::minutes time) {
    for (; time > 0min; time -= 1min) {
      now_ += 1min;
      put("configmaps", "ns", {{"metadata", {{"name", "x"}}}, {"data", {{"n", "1"}}}});
    }
  }

  Time now_ = Time(std::chrono::hours(24 * 365));
  bool runs_ = true;
  sim::Store store_;
  QueueDisplacements displacements_;
  LoanInvariants loans_{displacements_};
};

TEST_F(LoanInvariantsTest, WhoeverWaitsForWhatOthersHaveBorrowedWaitsForSoLong) {
  put_job("vision", "borrows", true);
  pass(5min);
  put_job("nlp", "waits", false);
  pass(9min);
  EXPECT_THAT(loans_.broken(), IsEmpty());
  pass(3min);
  ASSERT_FALSE(loans_.broken().empty());
  EXPECT_THAT(loans_.broken().front(), StartsWith("Late: Job/ns/waits has waited"));
}

TEST_F(LoanInvariantsTest, TimeCountsWhileBerthRuns) {
  put_job("vision", "borrows", true);
  put_job("nlp", "waits", false);
  pass(9min);
  runs_ = false;
  pass(1min);
  runs_ = true;
  pass(9min);
  EXPECT_THAT(loans_.broken(), IsEmpty());
}

TEST_F(LoanInvariantsTest, WhatCouldNotBeGivenBackStaysWithinTheNominalQuota) {
  put_bare_pod("bare", true);
  now_ += 1min;
  put_bare_pod("bare", false);
  EXPECT_THAT(displacements_.broken(), testing::Contains(StartsWith("Lent: Pod/ns/bare goes")));
}

TEST_F(LoanInvariantsTest, WithinItNothingIsSaid) {
  put_queue("vision", 1);
  put_bare_pod("bare", true);
  now_ += 1min;
  put_bare_pod("bare", false);
  EXPECT_THAT(displacements_.broken(), testing::Not(testing::Contains(StartsWith("Lent"))));
}

}  // namespace
}  // namespace berth::explore
