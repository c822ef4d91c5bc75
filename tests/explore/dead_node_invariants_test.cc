// SPDX-License-Identifier: Apache-2.0
// The invariant names what berth may not do to pods that can't leave a dead node, and what it left
// undone.
#include "tests/explore/dead_node_invariants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "controller/queue/record/admission_record.h"

namespace berth::explore {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

// Pod a/lost on node n1. Its grace period ends at 12:00.
class DeadNodeInvariantsTest : public testing::Test {
 protected:
  DeadNodeInvariantsTest() {
    store_.observe([this](const sim::Change& change) {
      judge_.take(change, change.user == "berth-0", now_, wall_, 1s,
                  [this](std::string_view invariant, const std::string& what) {
                    broken_.push_back(std::string(invariant) + ": " + what);
                  });
    });
    put_node("n1", "Unknown");
    put_node("n2", "True");
    put("gpuqueues", {{"metadata", {{"name", "vision"}}}, {"spec", {{"forceDeleteAfter", "2m"}}}});
    put_job(false, "somebody");
    put("pods", pod(json::object()));
    now_ += 1h;
  }
  void put(const char* plural, const json& object, const std::string& user = "somebody") {
    const std::string in = object["metadata"].value("namespace", "");
    store_.put({sim::find_resource_type(plural), in, object["metadata"]["name"]}, object, user);
  }
  void put_node(const char* name, const char* ready) {
    put("nodes", {{"metadata", {{"name", name}}},
                  {"status", {{"conditions", {{{"type", "Ready"}, {"status", ready}}}}}}});
  }
  void put_job(bool suspended, const std::string& user) {
    put("jobs",
        {{"metadata", {{"name", "train"}, {"namespace", "a"}, {"uid", "j1"}}},
         {"spec", {{"suspend", suspended}, {"podReplacementPolicy", "Failed"}}}},
        user);
  }
  static json pod(json annotations) {
    annotations[names::kAdmittedAnnotation] = queue::encode_admission(
        {.uid = "p1", .queue = "vision", .cohort = "c", .pool = "training", .pods = 1, .since = 1});
    return {{"metadata",
             {{"name", "lost"},
              {"namespace", "a"},
              {"deletionTimestamp", "2026-11-21T12:00:00Z"},
              {"annotations", annotations},
              {"ownerReferences",
               {{{"kind", "Job"}, {"name", "train"}, {"uid", "j1"}, {"controller", true}}}}}},
            {"spec", {{"nodeName", "n1"}}},
            {"status", {{"phase", "Running"}}}};
  }
  void mark(json more = json::object()) {
    more[names::kOnDeadNodeSinceAnnotation] = "2026-11-21T12:01:00Z";
    put("pods", pod(more), "berth-0");
  }
  bool may_force() const { return judge_.may_force("a/lost", now_, wall_, 1s); }

  sim::Store store_;
  DeadNodeInvariants judge_;
  MonotonicTime now_{0};
  Time wall_ = *parse_time("2026-11-21T12:01:00Z");
  std::vector<std::string> broken_;
};

TEST_F(DeadNodeInvariantsTest, APodIsLostOnlyAfterItsGracePeriodOnANodeThatIsNotReady) {
  mark();
  EXPECT_THAT(broken_, IsEmpty());
  put("pods", pod(json::object()), "berth-0");
  put_node("n1", "True");
  wall_ -= 2min;
  now_ += 1min;
  mark();
  EXPECT_THAT(broken_, ElementsAre(HasSubstr("has time to end"), HasSubstr("node n1 is ready")));
}

TEST_F(DeadNodeInvariantsTest, AForcedDeletionNeedsTheMarkThePodsLeaveAndTheQueuesTime) {
  EXPECT_FALSE(may_force());
  mark();
  wall_ += 3min;
  EXPECT_FALSE(may_force());
  mark({{names::kSafeToForceDeleteAnnotation, "true"}});
  EXPECT_TRUE(may_force());
  wall_ -= 2min;
  EXPECT_FALSE(may_force());
}

TEST_F(DeadNodeInvariantsTest, AJobWithALostAndAHealthyPodIsNotSuspended) {
  mark();
  json healthy = pod(json::object());
  healthy["metadata"]["name"] = "healthy";
  healthy["metadata"].erase("deletionTimestamp");
  healthy["status"]["conditions"] = {{{"type", "Ready"}, {"status", "True"}}};
  put("pods", healthy);
  put_job(true, "berth-0");
  EXPECT_THAT(broken_, ElementsAre(HasSubstr("Healthy: Job/a/train is suspended")));
}

TEST_F(DeadNodeInvariantsTest, InTheEndThePodIsMarkedAndItsJobReplacesIt) {
  EXPECT_EQ(judge_.unstill(wall_), "");
  EXPECT_THAT(judge_.unstill(wall_ + 10min), HasSubstr("a/lost can't leave n1, and is not marked"));
  mark();
  EXPECT_THAT(judge_.unstill(wall_ + 10min), HasSubstr("Job a/train replaces no pod"));
  put_node("n1", "True");
  EXPECT_EQ(judge_.unstill(wall_ + 10min), "");
}

}  // namespace
}  // namespace berth::explore
