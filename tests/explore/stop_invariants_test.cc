// SPDX-License-Identifier: Apache-2.0
// The invariant complains about each step that berth must not take while it is stopped.
#include "tests/explore/stop_invariants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apis/base/names.h"

namespace berth::explore {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;

class StopInvariantsTest : public testing::Test {
 protected:
  StopInvariantsTest() {
    store_.observe([this](const sim::Change& change) {
      judge_.take(change, change.user == "berth-0", now_, 1s,
                  [this](std::string_view invariant, const std::string& what) {
                    broken_.push_back(std::string(invariant) + ": " + what);
                  });
    });
    set_operations("Normal");
    put_node(false, {});
    put("pods", {{"metadata", {{"name", "p"}, {"namespace", "a"}}}}, "a-person", "a");
    put("jobs", {{"metadata", {{"name", "j"}, {"namespace", "a"}}}}, "a-person", "a");
  }
  void put(const char* plural, const json& object, const std::string& user,
           const std::string& in = "") {
    store_.put({sim::find_resource_type(plural), in, object["metadata"]["name"]}, object, user);
  }
  void set_operations(const std::string& operations) {
    put("gpuclusterpolicies",
        {{"metadata", {{"name", "cluster"}}}, {"spec", {{"operations", operations}}}}, "a-person");
  }
  void put_node(bool cordoned, const json& labels, const std::string& user = "a-person") {
    put("nodes",
        {{"metadata", {{"name", "n1"}, {"labels", labels}}},
         {"spec", {{"unschedulable", cordoned}}}},
        user);
  }
  void take_everything(const std::string& user) {
    put_node(true, {{names::kMigConfig, "c"}}, user);
    put("pods",
        {{"metadata",
          {{"name", "p"}, {"namespace", "a"}, {"deletionTimestamp", "2026-11-21T12:00:00Z"}}}},
        user, "a");
    put("jobs", {{"metadata", {{"name", "j"}, {"namespace", "a"}}}, {"spec", {{"suspend", true}}}},
        user, "a");
  }

  sim::Store store_;
  StopInvariants judge_{Settings()};
  MonotonicTime now_{0};
  std::vector<std::string> broken_;
};

TEST_F(StopInvariantsTest, WhileItIsNotStoppedBerthMayTakeWhatItTakes) {
  now_ += 1min;
  take_everything("berth-0");
  EXPECT_THAT(broken_, IsEmpty());
}

TEST_F(StopInvariantsTest, WhatWasDecidedBeforeMayStillArrive) {
  set_operations("Stopped");
  now_ += 2s;
  take_everything("berth-0");
  EXPECT_THAT(broken_, IsEmpty());
}

TEST_F(StopInvariantsTest, ThenNothingIsTakenByBerth) {
  set_operations("Stopped");
  now_ += 1min;
  take_everything("a-person");
  EXPECT_THAT(broken_, IsEmpty());
  put_node(false, {});
  put("pods", {{"metadata", {{"name", "p"}, {"namespace", "a"}}}}, "a-person", "a");
  put("jobs", {{"metadata", {{"name", "j"}, {"namespace", "a"}}}}, "a-person", "a");
  take_everything("berth-0");
  EXPECT_THAT(
      broken_,
      ElementsAre("Stopped: n1 is cordoned", "Stopped: label nvidia.com/mig.config of n1 changes",
                  "Stopped: Pod/a/p is taken from its node", "Stopped: Job/a/j is suspended"));
}

TEST_F(StopInvariantsTest, NodesAreGivenBackAndJobsResumed) {
  put_node(true, {});
  set_operations("Stopped");
  now_ += 1min;
  put_node(false, {}, "berth-0");
  put("jobs", {{"metadata", {{"name", "j"}, {"namespace", "a"}}}, {"spec", {{"suspend", false}}}},
      "berth-0", "a");
  EXPECT_THAT(broken_, IsEmpty());
}

TEST_F(StopInvariantsTest, WithTheResumeItEnds) {
  set_operations("Stopped");
  now_ += 1min;
  set_operations("Normal");
  take_everything("berth-0");
  EXPECT_THAT(broken_, IsEmpty());
}

}  // namespace
}  // namespace berth::explore
