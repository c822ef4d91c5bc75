// SPDX-License-Identifier: Apache-2.0
// The simulated server's answers to writes. The truth check compares them with the real server's;
// these cases are those that berth's safety depends on.
#include <gtest/gtest.h>

#include "tests/sim/api_server_calls.h"

namespace berth::sim {
namespace {

constexpr char kNode[] = "/api/v1/nodes/n1";
constexpr char kConfigMaps[] = "/api/v1/namespaces/default/configmaps";

struct ApiServerWrites : testing::Test, ServerCalls {
  void add_node() {
    ASSERT_EQ(post(kNodes, R"({"metadata":{"name":"n1","labels":{"a":"b"}}})").code, 201);
  }
  void add_pod(const std::string& name, const std::string& more) {
    const std::string body = R"({"metadata":{"name":")" + name +
                             R"(","labels":{"app":"x"}},"spec":{"containers":[{"name":"c",)"
                             R"("image":"i"}])" +
                             more + "}}";
    ASSERT_EQ(post(kPods, body).code, 201);
  }
  std::string version(const std::string& target) {
    return member(get(target).body, "resourceVersion");
  }
};

TEST_F(ApiServerWrites, TestsOfAPatchHoldOrNothingChanges) {
  add_node();
  const std::string uid = member(get(kNode).body, "uid");
  struct {
    const char* what;
    std::string patch;
    int code;
  } cases[] = {
      {"the uid as it is", R"([{"op":"test","path":"/metadata/uid","value":")" + uid + R"("}])",
       200},
      {"another uid", R"([{"op":"test","path":"/metadata/uid","value":"x"}])", 422},
      {"null on an absent key whose parent is there",
       R"([{"op":"test","path":"/spec/unschedulable","value":null}])", 200},
      {"null below an absent parent",
       R"([{"op":"test","path":"/metadata/annotations/a","value":null}])", 422},
      {"false is not absent", R"([{"op":"test","path":"/spec/unschedulable","value":false}])", 422},
      {"a label removed that is not there", R"([{"op":"remove","path":"/metadata/labels/z"}])",
       422},
      {"a patch that is no list", R"({"op":"remove"})", 400},
  };
  for (const auto& one : cases) {
    const std::string before = version(kNode);
    const ApiReply reply = json_patch(kNode, one.patch);
    EXPECT_EQ(reply.code, one.code) << one.what << ": " << reply.body;
    EXPECT_EQ(version(kNode), before) << one.what;
  }
}

TEST_F(ApiServerWrites, AWriteThatChangesNothingIsNone) {
  add_node();
  const std::string before = version(kNode);
  EXPECT_EQ(merge_patch(kNode, R"({"metadata":{"labels":{"a":"b"}}})").code, 200);
  EXPECT_EQ(merge_patch(kNode, R"({"spec":{"unschedulable":false}})").code, 200);
  EXPECT_EQ(version(kNode), before);
}

TEST_F(ApiServerWrites, PreconditionsInThePatchAreHeld) {
  add_node();
  EXPECT_EQ(merge_patch(kNode, R"({"metadata":{"resourceVersion":"1"}})").code, 409);
  const ApiReply other = merge_patch(kNode, R"({"metadata":{"uid":"other"}})");
  EXPECT_EQ(other.code, 422);
  EXPECT_NE(other.body.find("field is immutable"), std::string::npos);
}

TEST_F(ApiServerWrites, StatusAndSpecAreWrittenApart) {
  add_node();
  merge_patch(std::string(kNode) + "/status",
              R"({"status":{"allocatable":{"nvidia.com/gpu":"4"}},"spec":{"unschedulable":true}})");
  EXPECT_EQ(get(kNode).body.find("unschedulable"), std::string::npos);
  merge_patch(kNode, R"({"status":{"allocatable":{"nvidia.com/gpu":"5"}}})");
  EXPECT_EQ(member(get(kNode).body, "nvidia.com/gpu"), "4");
}

TEST_F(ApiServerWrites, GenerationCountsChangesOfTheSpecAlone) {
  const std::string all = "/apis/gpu.berth.dev/v1alpha1/miglayouts";
  const std::string one = all + "/l";
  ASSERT_EQ(post(all, R"({"apiVersion":"gpu.berth.dev/v1alpha1","kind":"MIGLayout",)"
                      R"("metadata":{"name":"l"},"spec":{"nodeSelector":{},"unknown":1,)"
                      R"("devices":[{"profiles":{"1g.10gb":7}}]},"status":{"configHash":"x"}})")
                .code,
            201);
  const std::string body = get(one).body;
  EXPECT_EQ(body.find("unknown"), std::string::npos) << "the CRD does not know it";
  EXPECT_EQ(body.find("configHash"), std::string::npos) << "a create writes no status";
  EXPECT_EQ(member(body, "onTimeout"), "Abort") << "a default of the CRD";
  merge_patch(one, R"({"metadata":{"labels":{"a":"b"}}})");
  merge_patch(one + "/status", R"({"status":{"configHash":"x"}})");
  EXPECT_EQ(member(get(one).body, "generation"), "1");
  merge_patch(one, R"({"spec":{"rollout":{"paused":true}}})");
  EXPECT_EQ(member(get(one).body, "generation"), "2");
}

TEST_F(ApiServerWrites, AnApplyTakesAwayWhatItAloneStated) {
  const std::string target = std::string(kConfigMaps) + "/c?fieldManager=m";
  const std::string head =
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":)";
  EXPECT_EQ(apply(target, head + R"({"a":"1","b":"2","c":"3"}})").code, 201);
  merge_patch(std::string(kConfigMaps) + "/c?fieldManager=other", R"({"data":{"b":"9"}})");
  EXPECT_EQ(apply(target, head + R"({"a":"1"}})").code, 200);
  const std::string body = get(std::string(kConfigMaps) + "/c").body;
  EXPECT_NE(body.find(R"("data":{"a":"1","b":"9"})"), std::string::npos) << body;
}

TEST_F(ApiServerWrites, AnApplyMeetsConflictsUnlessForced) {
  add_node();
  merge_patch(std::string(kNode) + "?fieldManager=kubectl-label",
              R"({"metadata":{"labels":{"x":"theirs"}}})");
  const std::string body =
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","labels":{"x":"ours"}}})";
  const ApiReply refused = apply(std::string(kNode) + "?fieldManager=m", body);
  EXPECT_EQ(refused.code, 409);
  EXPECT_NE(refused.body.find(R"("field":".metadata.labels.x","message":"conflict with )"
                              R"(\"kubectl-label\" using v1","reason":"FieldManagerConflict")"),
            std::string::npos)
      << refused.body;
  EXPECT_EQ(apply(std::string(kNode) + "?fieldManager=m&force=true", body).code, 200);
  EXPECT_EQ(member(get(kNode).body, "x"), "ours");
  EXPECT_EQ(apply("/api/v1/nodes/gone?fieldManager=m",
                  R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"gone","uid":"u"}})")
                .code,
            409);
}

TEST_F(ApiServerWrites, DryRunsAnswerAndStoreNothing) {
  add_node();
  const std::int64_t before = store.revision();
  const ApiReply reply =
      merge_patch(std::string(kNode) + "?dryRun=All", R"({"metadata":{"labels":{"a":"c"}}})");
  EXPECT_EQ(member(reply.body, "a"), "c");
  EXPECT_EQ(remove(kNode, R"({"dryRun":["All"]})").code, 200);
  EXPECT_EQ(remove(std::string(kNode) + "?dryRun=All").code, 200);
  EXPECT_EQ(store.revision(), before);
}

TEST_F(ApiServerWrites, FinalizersHoldWhatIsDeleted) {
  add_node();
  merge_patch(kNode, R"({"metadata":{"finalizers":["berth.dev/x"]}})");
  EXPECT_EQ(remove(kNode, R"({"preconditions":{"uid":"other"}})").code, 409);
  EXPECT_EQ(remove(kNode).code, 200);
  EXPECT_NE(get(kNode).body.find("deletionTimestamp"), std::string::npos);
  merge_patch(kNode, R"({"metadata":{"finalizers":null}})");
  EXPECT_EQ(get(kNode).code, 404);
}

TEST_F(ApiServerWrites, APodOnANodeIsGivenItsGracePeriod) {
  add_pod("p", R"(,"nodeName":"n1","terminationGracePeriodSeconds":7)");
  EXPECT_EQ(member(remove(kPod).body, "deletionGracePeriodSeconds"), "7");
  EXPECT_EQ(member(get(kPod).body, "deletionTimestamp"), "2026-01-01T00:00:07Z");
  EXPECT_EQ(remove(kPod, R"({"gracePeriodSeconds":0})").code, 200);
  EXPECT_EQ(get(kPod).code, 404);
  add_pod("p", "");
  remove(kPod);
  EXPECT_EQ(get(kPod).code, 404) << "nothing runs that would need time";
}

TEST_F(ApiServerWrites, WhenAnObjectGoesIsNotForAWriterToSay) {
  add_pod("p", R"(,"nodeName":"n1","terminationGracePeriodSeconds":30)");
  std::string seen = remove(kPod).body;
  seen.replace(seen.find(version(kPod)), version(kPod).size(), "0");  // for any version
  remove(kPod, R"({"gracePeriodSeconds":20})");
  const ApiReply refused = send("PUT", std::string(kPod) + "/status", seen);
  EXPECT_EQ(refused.code, 422);
  EXPECT_NE(refused.body.find("metadata.deletionGracePeriodSeconds"), std::string::npos);
  EXPECT_EQ(refused.body.find("metadata.deletionTimestamp"), std::string::npos) << refused.body;
  const char* later = R"({"metadata":{"deletionTimestamp":"2027-01-01T00:00:00Z"}})";
  EXPECT_EQ(merge_patch(kPod, later).code, 200);
  EXPECT_EQ(member(get(kPod).body, "deletionTimestamp"), "2026-01-01T00:00:20Z");
}

TEST_F(ApiServerWrites, NothingIsCreatedInANamespaceThatIsNotThereOrGoes) {
  EXPECT_EQ(post("/api/v1/namespaces/none/configmaps", R"({"metadata":{"name":"c"}})").code, 404);
  remove("/api/v1/namespaces/default");
  const ApiReply reply = post(kConfigMaps, R"({"metadata":{"name":"c"}})");
  EXPECT_EQ(reply.code, 403);
  EXPECT_NE(reply.body.find("NamespaceTerminating"), std::string::npos);
}

TEST_F(ApiServerWrites, GarbageIsRefused) {
  add_node();
  for (const char* body : {"", "{", "[]", "null", "7", R"({"metadata":7})", "\"\xff\""})
    for (const char* method : {"POST", "PUT", "PATCH", "DELETE"})
      for (const char* target :
           {kNodes, kNode, "/api/v1/nodes/n1/status", "/api/v1/namespaces/a/pods/p/eviction", "/",
            "", "nodes", "/api/v1/nodes/n1/none/none", "/apis/x/y/z", "/api/v1/namespaces//pods"})
        for (const char* type : {"application/json", "application/merge-patch+json",
                                 "application/json-patch+json", "application/apply-patch+yaml"}) {
          const int code = send(method, std::string(target) + "?fieldManager=m", body, type).code;
          const bool empty_patch =
              std::string(body) == "[]" && std::string(type).ends_with("patch+json");
          const bool may_do = empty_patch || std::string(method) == "DELETE";
          EXPECT_TRUE(code >= 400 || may_do) << method << target << body << type;
          if (get(kNode).code == 404) add_node();
        }
}

}  // namespace
}  // namespace berth::sim
