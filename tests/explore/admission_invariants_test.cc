// SPDX-License-Identifier: Apache-2.0
// Pods with the webhook installed: each invariant of admission is violated once.
#include "tests/explore/admission_invariants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apis/base/names.h"

namespace berth::explore {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

class AdmissionInvariantsTest : public testing::Test {
 protected:
  AdmissionInvariantsTest() : judge_(Settings()) {
    put_text("namespaces",
             R"({"metadata":{"name":"team-a","labels":{"gpu.berth.dev/managed":"true"}}})");
    put_text("namespaces", R"({"metadata":{"name":"others"}})");
    put_text("nodes", R"({"metadata":{"name":"n1","labels":{"tier":"lab"}},
                     "status":{"allocatable":{"nvidia.com/gpu":"4"}}})");
    put_text("gpuclusterpolicies", kPolicy);
    now_ += 1min;
  }
  static constexpr char kPolicy[] = R"({"metadata":{"name":"cluster","uid":"g1"},"spec":{"pools":[
      {"name":"lab","nodeSelector":{"matchLabels":{"tier":"lab"}},
       "taints":[{"key":"nvidia.com/gpu","value":"present","effect":"NoSchedule"}]}]}})";

  void put_text(const char* plural, const char* text) { put(plural, json::parse(text)); }
  void put(const char* plural, const json& object, const std::string& user = "somebody") {
    sim::Change change;
    change.kind = sim::Change::Kind::kAdded;
    change.key = {sim::find_resource_type(plural), object["metadata"].value("namespace", ""),
                  object["metadata"]["name"]};
    change.after = std::make_shared<const json>(object);
    change.user = user;
    judge_.take(change, now_, 1s);
  }
  static json pod(const std::string& namespace_ = "team-a") {
    json pod = json::parse(R"({"metadata":{"name":"train","uid":"p1"},"spec":{"containers":[
        {"name":"main","resources":{"limits":{"nvidia.com/gpu":"1"}}}]}})");
    pod["metadata"]["namespace"] = namespace_;
    return pod;
  }
  static json whole_pod() {
    json whole = pod();
    whole["metadata"]["annotations"][names::kMutationsAnnotation] =
        "tolerations nvidia.com/gpu; poolAffinity lab";
    whole["spec"]["tolerations"] = json::parse(
        R"([{"key":"nvidia.com/gpu","operator":"Equal","value":"present","effect":"NoSchedule"}])");
    whole["spec"]["affinity"]["nodeAffinity"] = json::parse(
        R"({"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
            {"matchExpressions":[{"key":"gpu.berth.dev/pool","operator":"In","values":["lab"]}]}]}})");
    return whole;
  }
  void pass(const json& pod) {
    judge_.take_passage({.key = {sim::find_resource_type("pods"), pod["metadata"]["namespace"],
                                 pod["metadata"]["name"]},
                         .asked = now_});
    put("pods", pod);
  }
  void report(const std::string& uid) {
    put("events", json{{"metadata", {{"name", "e1"}, {"namespace", "team-a"}}},
                       {"reason", "SlippedPastAdmission"},
                       {"regarding", {{"uid", uid}}}});
  }

  MonotonicTime now_{1h};
  AdmissionInvariants judge_;
};

TEST_F(AdmissionInvariantsTest, APodAsTheWebhookMakesItIsInOrder) {
  pass(whole_pod());
  EXPECT_THAT(judge_.broken(), IsEmpty());
  EXPECT_EQ(judge_.unstill(), "");
}

TEST_F(AdmissionInvariantsTest, Complete) {
  pass(pod());
  EXPECT_THAT(judge_.broken(), ElementsAre("Complete: team-a/train came through the webhook, and "
                                           "lacks a toleration of nvidia.com/gpu"));
}

TEST_F(AdmissionInvariantsTest, NobodyCanHaveHeardOfAPolicyThatIsNew) {
  json other = json::parse(kPolicy);
  other["spec"]["pools"] = json::array();
  put("gpuclusterpolicies", other);
  now_ += 1min;
  put_text("gpuclusterpolicies", kPolicy);
  now_ += 500ms;
  pass(pod());
  EXPECT_THAT(judge_.broken(), IsEmpty());
}

TEST_F(AdmissionInvariantsTest, Spared) {
  json changed = whole_pod();
  changed["metadata"]["namespace"] = "others";
  put("pods", changed);
  EXPECT_THAT(judge_.broken(), ElementsAre(StartsWith("Spared: others/train is of no managed")));
}

TEST_F(AdmissionInvariantsTest, Marked) {
  json changed = whole_pod();
  changed["spec"].erase("affinity");
  put("pods", changed);
  EXPECT_THAT(judge_.broken(), ElementsAre(StartsWith("Marked: team-a/train is not held")));
  json other = whole_pod();
  other["metadata"]["uid"] = "p2";
  other["spec"].erase("tolerations");
  put("pods", other);
  EXPECT_THAT(judge_.broken().back(), StartsWith("Marked: team-a/train lacks the toleration"));
}

TEST_F(AdmissionInvariantsTest, Once) {
  json changed = whole_pod();
  json& tolerations = changed["spec"]["tolerations"];
  tolerations.push_back(json(tolerations[0]));
  put("pods", changed);
  EXPECT_THAT(judge_.broken(), ElementsAre("Once: team-a/train has a toleration twice"));
}

TEST_F(AdmissionInvariantsTest, Refused) {
  json privileged = whole_pod();
  privileged["spec"]["containers"][0]["securityContext"]["privileged"] = true;
  put("pods", privileged);
  EXPECT_THAT(judge_.broken(), IsEmpty()) << "it came past the webhook";
  pass(privileged);
  EXPECT_THAT(judge_.broken(), ElementsAre(StartsWith("Refused: team-a/train is privileged")));
}

TEST_F(AdmissionInvariantsTest, Reported) {
  put("pods", pod());
  EXPECT_THAT(judge_.unstill(), StartsWith("team-a/train lacks a toleration"));
  report("p1");
  EXPECT_EQ(judge_.unstill(), "");
  EXPECT_THAT(judge_.broken(), IsEmpty());
}

TEST_F(AdmissionInvariantsTest, NoneIsReportedThatLackedNothing) {
  put("pods", pod("others"));
  report("p1");
  EXPECT_THAT(judge_.broken(), ElementsAre(StartsWith("Reported: others/train is reported")));
}

TEST_F(AdmissionInvariantsTest, Silent) {
  put("pods", pod("others"), "webhook-0");
  EXPECT_THAT(judge_.broken(), ElementsAre(StartsWith("Silent: webhook-0 writes Pod")));
}

}  // namespace
}  // namespace berth::explore
