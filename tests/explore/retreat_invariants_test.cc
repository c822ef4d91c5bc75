// SPDX-License-Identifier: Apache-2.0
// The invariant names each loss of a node with pods that comes too early or beside too many others.
#include "tests/explore/retreat_invariants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apis/base/names.h"

namespace berth::explore {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

constexpr char kPolicy[] = R"({"apiVersion":"gpu.berth.dev/v1alpha1","kind":"GPUClusterPolicy",
    "metadata":{"name":"cluster","generation":1},
    "spec":{"deletionPolicy":"Remove","disruption":{"maxUnavailable":1}}})";

// Nodes n1 and n2 share their GPU, and a pod runs on each.
class RetreatInvariantsTest : public testing::Test {
 protected:
  RetreatInvariantsTest() {
    store_.observe([this](const sim::Change& change) {
      judge_.take(change, change.user == "berth-0", now_, wall_,
                  [this](std::string_view invariant, const std::string& what) {
                    broken_.push_back(std::string(invariant) + ": " + what);
                  });
      truth_.take(change, now_);
    });
    put("gpuclusterpolicies", json::parse(kPolicy));
    for (const char* name : {"n1", "n2"}) {
      put_node(name, true, "4", "somebody");
      put("pods", {{"metadata", {{"name", name}, {"namespace", "lab"}, {"uid", name}}},
                   {"spec",
                    {{"nodeName", name},
                     {"containers", {{{"resources", {{"limits", {{"nvidia.com/gpu", "1"}}}}}}}}}},
                   {"status", {{"phase", "Running"}}}});
    }
    now_ += 10min;
  }
  void put(const char* plural, const json& object, const std::string& user = "somebody") {
    const std::string in = object["metadata"].value("namespace", "");
    store_.put({sim::find_resource_type(plural), in, object["metadata"]["name"]}, object, user);
  }
  void put_node(const char* name, bool shared, const char* gpus, const std::string& user) {
    json labels = {{names::kPoolLabel, "lab"}};
    if (shared) labels[names::kDevicePluginConfig] = "berth-lab";
    put("nodes",
        {{"metadata", {{"name", name}, {"uid", name}, {"labels", labels}}},
         {"status", {{"allocatable", {{"nvidia.com/gpu", gpus}}}}}},
        user);
  }
  void change_policy(const json& patch) {
    json policy = json::parse(kPolicy);
    policy.merge_patch(patch);
    put("gpuclusterpolicies", policy);
    now_ += 10min;
  }

  Settings settings_;
  sim::Store store_;
  Truth truth_{settings_};
  RetreatInvariants judge_{truth_};
  MonotonicTime now_{0};
  Time wall_ = *parse_time("2026-11-21T12:00:00Z");
  std::vector<std::string> broken_;
};

TEST_F(RetreatInvariantsTest, OneNodeAfterTheOtherLosesItsSharing) {
  put_node("n1", false, "4", "berth-0");
  put_node("n1", false, "1", "kubelet");
  put_node("n2", false, "4", "berth-0");
  EXPECT_THAT(broken_, IsEmpty());
  put_node("n1", true, "1", "berth-0");
  put_node("n1", false, "1", "berth-0");
  EXPECT_THAT(broken_, ElementsAre(HasSubstr("restarts on 2 nodes with pods")));
}

TEST_F(RetreatInvariantsTest, NoNodeLosesItsSharingInABlackout) {
  change_policy(
      {{"spec",
        {{"disruption", {{"blackouts", {{{"schedule", "* * * * *"}, {"duration", "12h"}}}}}}}}});
  put_node("n1", false, "4", "berth-0");
  EXPECT_THAT(broken_, ElementsAre(HasSubstr("Window: n1 loses its sharing")));
}

TEST_F(RetreatInvariantsTest, ADeletionUnderRetainTakesNothing) {
  change_policy({{"metadata", {{"deletionTimestamp", "2026-11-21T12:00:00Z"}}},
                 {"spec", {{"deletionPolicy", "Retain"}}}});
  put_node("n1", false, "4", "berth-0");
  EXPECT_THAT(broken_, ElementsAre(HasSubstr("Retained: n1 loses")));
}

}  // namespace
}  // namespace berth::explore
