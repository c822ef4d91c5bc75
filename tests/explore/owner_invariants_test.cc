// SPDX-License-Identifier: Apache-2.0
// Which actor made a framework's job fail.
#include "tests/explore/owner_invariants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "controller/sim/world/store.h"

namespace berth::explore {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

class OwnerInvariantsTest : public testing::Test {
 protected:
  OwnerInvariantsTest() {
    store_.observe(
        [this](const sim::Change& change) { judge_.take(change, change.user == "berth-0"); });
    put_job(false);
    put_pod("n1", false, "Running", "scheduler");
  }
  void put(const char* plural, const json& object, const std::string& user) {
    store_.put({sim::find_resource_type(plural), "team", object["metadata"]["name"]}, object, user);
  }
  void put_job(bool failed) {
    json job = {{"kind", "TFJob"}, {"metadata", {{"name", "tf"}, {"uid", "u"}}}};
    if (failed) job["status"]["conditions"] = {{{"type", "Failed"}, {"status", "True"}}};
    put("tfjobs", job, "training-operator");
  }
  void put_pod(const std::string& node, bool goes, const std::string& phase,
               const std::string& user) {
    json pod = {{"metadata",
                 {{"name", "p"},
                  {"ownerReferences", {{{"kind", "TFJob"}, {"uid", "u"}, {"controller", true}}}}}},
                {"spec", {{"nodeName", node}}},
                {"status", {{"phase", phase}}}};
    if (goes) pod["metadata"]["deletionTimestamp"] = "2026-11-21T12:00:00Z";
    put("pods", pod, user);
  }

  sim::Store store_;
  OwnerInvariants judge_;
};

TEST_F(OwnerInvariantsTest, AJobThatFailsOfAnEvictionOfBerthsIsBerthsDoing) {
  put_pod("n1", true, "Running", "berth-0");
  put_pod("n1", true, "Failed", "kubelet");
  put_job(true);
  EXPECT_THAT(judge_.broken(), ElementsAre(StartsWith("Owner: TFJob/team/tf has failed for good")));
}

TEST_F(OwnerInvariantsTest, AJobThatSomebodyElseEndsIsNot) {
  put_pod("n1", true, "Running", "a-person");
  put_job(true);
  EXPECT_THAT(judge_.broken(), IsEmpty());
}

TEST_F(OwnerInvariantsTest, AJobOfWhichAPodFailsByItselfIsNot) {
  put_pod("n1", false, "Failed", "kubelet");
  put_pod("n1", true, "Failed", "berth-0");
  put_job(true);
  EXPECT_THAT(judge_.broken(), IsEmpty());
}

TEST_F(OwnerInvariantsTest, AJobThatGoesOnIsNone) {
  put_pod("n1", true, "Running", "berth-0");
  put_job(false);
  EXPECT_THAT(judge_.broken(), IsEmpty());
}

}  // namespace
}  // namespace berth::explore
