// SPDX-License-Identifier: Apache-2.0
// Objects whose fields have the wrong type: the error names the field's path.
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "tests/apis/wire_objects.h"

namespace berth::test {
namespace {

struct WrongCase {
  const char* body;
  const char* where;
  const char* says;
};

template <class T>
void expect_errors(std::initializer_list<WrongCase> cases) {
  for (const WrongCase& c : cases) {
    Result<T> object = decode<T>(c.body);
    ASSERT_FALSE(object.has_value()) << c.body;
    EXPECT_EQ(object.error().where, c.where);
    EXPECT_NE(object.error().message.find(c.says), std::string::npos) << object.error().message;
    EXPECT_EQ(object.error().kind, ErrorKind::kDecode);
  }
}

TEST(DecodePod, NamesThePathOfAWrongType) {
  expect_errors<Pod>({
      {R"({"spec":{"containers":[{},{"resources":{"requests":{"cpu":{}}}}]}})",
       "spec.containers[1].resources.requests.cpu", "must be a quantity, is an object"},
      {R"({"spec":{"containers":[{"resources":{"requests":{"nvidia.com/gpu":"two"}}}]}})",
       "spec.containers[0].resources.requests.nvidia.com/gpu", "not a quantity"},
      {R"({"spec":{"containers":{}}})", "spec.containers", "must be a list, is an object"},
      {R"({"spec":{"containers":["x"]}})", "spec.containers[0]", "must be an object, is a string"},
      {R"({"metadata":{"labels":{"a":1}}})", "metadata.labels.a", "must be a string, is a number"},
      {R"({"metadata":{"labels":[]}})", "metadata.labels", "must be an object, is a list"},
      {R"({"metadata":{"generation":"2"}})", "metadata.generation", "must be a whole number"},
      {R"({"metadata":{"generation":2.5}})", "metadata.generation", "must be a whole number"},
      {R"({"metadata":{"creationTimestamp":"today"}})", "metadata.creationTimestamp", "not a time"},
      {R"({"metadata":{"ownerReferences":[{"controller":"yes"}]}})",
       "metadata.ownerReferences[0].controller", "true or false"},
      {R"({"spec":{"priority":9999999999}})", "spec.priority", "32 bits"},
      {R"({"spec":{"tolerations":[{"key":{}}]}})", "spec.tolerations[0].key", "must be a string"},
      {R"({"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"operator":"Near"}]}]}}}}})",
       "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
       "nodeSelectorTerms[0].matchExpressions[0].operator",
       "not a known operator"},
      {R"({"status":{"phase":7}})", "status.phase", "must be a string"},
      {R"({"spec":true})", "spec", "must be an object"},
  });
}

TEST(DecodePod, RefusesWhatIsNoObject) {
  for (const char* body : {"", "{", "[]", "7", "\"x\"", "{\"a\"}", "{\"a\":}", "nul",
                           "{\"metadata\":{}", "\xFF\xFE", "{\"a\":\"\x01\"}x"}) {
    EXPECT_FALSE(decode<Pod>(body).has_value()) << body;
  }
}

TEST(DecodeNode, NamesThePathOfAWrongType) {
  expect_errors<Node>({
      {R"({"spec":{"taints":[{"effect":1}]}})", "spec.taints[0].effect", "must be a string"},
      {R"({"spec":{"unschedulable":"true"}})", "spec.unschedulable", "true or false"},
      {R"({"status":{"allocatable":{"nvidia.com/gpu":[]}}})", "status.allocatable.nvidia.com/gpu",
       "a quantity"},
      {R"({"status":{"nodeInfo":{"bootID":1}}})", "status.nodeInfo.bootID", "a string"},
      {R"({"status":{"conditions":[{"type":{}}]}})", "status.conditions[0].type", "a string"},
  });
}

TEST(DecodeLease, NamesThePathOfAWrongType) {
  expect_errors<Lease>({
      {R"({"metadata":{"resourceVersion":7}})", "metadata.resourceVersion", "must be a string"},
      {R"({"spec":{"holderIdentity":{}}})", "spec.holderIdentity", "must be a string"},
      {R"({"spec":{"leaseDurationSeconds":"15"}})", "spec.leaseDurationSeconds",
       "must be a whole number, is a string"},
      {R"({"spec":{"leaseTransitions":1.5}})", "spec.leaseTransitions", "must be a whole number"},
      {R"({"spec":{"renewTime":"soon"}})", "spec.renewTime", "not a time"},
      {R"({"spec":{"acquireTime":0}})", "spec.acquireTime", "must be a string"},
      {R"({"spec":[]})", "spec", "must be an object, is a list"},
  });
}

}  // namespace
}  // namespace berth::test
