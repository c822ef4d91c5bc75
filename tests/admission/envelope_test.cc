// SPDX-License-Identifier: Apache-2.0
// What is no AdmissionReview, and objects that nobody means well with.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/admission/review_case.h"

namespace berth::test {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(Envelope, WhatIsNoReviewGetsA400AndASentence) {
  const ClusterState cluster = make_cluster();
  const struct {
    std::string body;
    const char* says;
  } cases[] = {
      {"", "is not valid JSON"},
      {"{", "is not valid JSON"},
      {"nonsense", "is not valid JSON"},
      {"[]", "must be an object"},
      {R"({"kind":"AdmissionReview"} x)", "is not valid JSON"},
      {R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1")", "is not valid JSON"},
      {"{\"kind\":\"\xff\"}", "is not valid JSON"},
      // Broken in and behind a pod that could be read.
      {R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u",)"
       R"("kind":{"kind":"Pod"},"object":{"spec":{"containers":[{"name":"c")",
       "is not valid JSON"},
      {R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u",)"
       R"("kind":{"kind":"Pod"},"object":{}}} x)",
       "is not valid JSON"},
      {R"({"kind":"Pod"})", "kind: must be AdmissionReview"},
      {R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1"})",
       "apiVersion: must be admission.k8s.io/v1"},
      {R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"})", "request: is required"},
      {R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":null})",
       "request: is required"},
      {R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":7})",
       "request: must be an object, is a number"},
      {R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"kind":{}}})",
       "request.uid: is required"},
      {R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":[]}})",
       "request.uid: must be a string, is a list"},
  };
  for (const auto& c : cases) {
    for (ReviewPath path : {kMutate, kValidate}) {
      const ReviewReply reply = review(path, c.body, cluster, Settings());
      EXPECT_EQ(reply.http_status, 400) << c.body;
      EXPECT_EQ(at(reply.body, "/code"), "400");
      EXPECT_THAT(at(reply.body, "/message"), HasSubstr(c.says)) << c.body;
    }
  }
}

TEST(Envelope, AnUnreadableObjectIsDeniedWithItsField) {
  const ClusterState cluster = make_cluster();
  const struct {
    Request request;
    const char* says;
  } cases[] = {
      {{.object = "7"}, "request.object: must be an object, is a number"},
      {pod("[]"), "request.object.spec: must be an object, is a list"},
      {pod(R"({"containers":{}})"), "request.object.spec.containers: must be a list"},
      {pod(container(R"({"limits":{"nvidia.com/gpu":"many"}})")),
       "request.object.spec.containers[0].resources.limits.nvidia.com/gpu: \"many\" is not a "
       "quantity"},
      {job(R"({"tolerations":"x"})"),
       "request.object.spec.template.spec.tolerations: must be a list, is a string"},
  };
  for (const auto& c : cases) {
    const Answer answer = ask(kValidate, c.request, cluster);
    EXPECT_EQ(answer.http_status, 200);
    EXPECT_FALSE(answer.allowed);
    EXPECT_EQ(answer.code, 400);
    EXPECT_THAT(answer.message, HasSubstr(c.says));
  }
}

TEST(Envelope, FieldsMayComeInAnyOrderAndNullIsAbsent) {
  const ClusterState cluster = make_cluster();
  const std::string object = pod(asks("nvidia.com/gpux", 1)).object;
  const std::string body =
      R"({"request":{"object":)" + object +
      R"(,"namespace":"team-a","subResource":null,"operation":"CREATE","kind":{"kind":"Pod",)"
      R"("group":null},"uid":"\u00fc\"1"},"apiVersion":"admission.k8s.io/v1",)"
      R"("kind":"AdmissionReview"})";
  const ReviewReply reply = review(kValidate, body, cluster, Settings());
  EXPECT_EQ(reply.http_status, 200);
  EXPECT_EQ(at(reply.body, "/response/allowed"), "false");
  EXPECT_EQ(at(reply.body, "/response/uid"), "\"ü\\\"1\"");
}

TEST(Envelope, OtherKindsAndDeletionsPass) {
  const ClusterState cluster = make_cluster();
  for (Request request : {Request{.object = "{}", .group = "apps", .kind = "Deployment"},
                          Request{.object = "{}", .group = "gpu.berth.dev", .kind = "GPUQueue"},
                          Request{.object = "null", .operation = "DELETE"}}) {
    EXPECT_TRUE(ask(kMutate, request, cluster).allowed);
    EXPECT_TRUE(ask(kValidate, request, cluster).allowed);
  }
}

TEST(Hostile, NamesAreEscapedInPathsAndCutInMessages) {
  ClusterState cluster = make_cluster();
  const std::string odd = "nvidia.com/gpu~a/b";
  add_node(cluster, "t2", {{"tier", "training"}}, odd, 1);
  Request request = pod(container(R"({"requests":{"nvidia.com/gpu~a/b":"1"}})"));
  const Answer answer = ask(kMutate, request, cluster);
  EXPECT_THAT(answer.patch, HasSubstr("/limits/nvidia.com~1gpu~0a~1b"));
  EXPECT_EQ(at(answer.object, "/spec/containers/0/resources/limits"),
            R"({"nvidia.com/gpu~a/b":"1"})");
  request = pod(asks("nvidia.com/gpu" + std::string(5000, 'x'), 1));
  const Answer refused = ask(kValidate, request, cluster);
  EXPECT_FALSE(refused.allowed);
  EXPECT_LT(refused.message.size(), 700U);
  request = pod(asks("nvidia.com/gpu\\u0007\\n\\u00fc\\ud83d\\ude00", 1));
  EXPECT_THAT(ask(kValidate, request, cluster).message, HasSubstr("nvidia.com/gpu\a\nü😀"));
}

TEST(Hostile, LabelsAndAnnotationsOfAnySizeArePassedBy) {
  std::string entries = R"("gpu.berth.dev/mutations":")" + std::string(200'000, 'm') + '"';
  for (int i = 0; i < 5000; ++i) entries += fmt::format(R"(,"k{}~/\u0000":"{{\"[")", i);
  Request request = pod(asks("nvidia.com/gpu", 1));
  request.object = R"({"metadata":{"labels":{)" + entries + R"(},"annotations":{)" + entries +
                   R"(}},"spec":)" + asks("nvidia.com/gpu", 1) + "}";
  const Answer answer = ask(kMutate, request, make_cluster());
  EXPECT_EQ(at(answer.object, "/metadata/annotations/gpu.berth.dev~1mutations"),
            R"("tolerations nvidia.com/gpu; poolAffinity training")");
}

std::string many(int count, const std::string& one) {
  std::string list;
  for (int i = 0; i < count; ++i) list += (i == 0 ? "" : ",") + one;
  return list;
}

TEST(Hostile, TenThousandContainersAreAnswered) {
  const ClusterState cluster = make_cluster([](GPUClusterPolicySpec& spec) {
    spec.admission.defaults.security_context = true;
    spec.admission.defaults.shared_memory = *Quantity::parse("1Gi");
  });
  const std::string one =
      R"({"name":"c","securityContext":{"privileged":true},"env":[{"name":)"
      R"("NVIDIA_VISIBLE_DEVICES","value":"all"}],"resources":{"requests":{"nvidia.com/gpu":"2"}}})";
  const Request request = pod(R"({"containers":[)" + many(10'000, one) + "]}");
  const Answer mutated = ask(kMutate, request, cluster);
  EXPECT_TRUE(mutated.allowed);
  EXPECT_THAT(mutated.patch,
              HasSubstr(R"({"op":"add","path":"/spec/containers/9999/volumeMounts",)"
                        R"("value":[{"name":"berth-shm","mountPath":"/dev/shm"}]})"));
  EXPECT_THAT(mutated.warnings, SizeIs(13)) << "the rest is counted";
  const Answer judged = ask(kValidate, request, cluster);
  EXPECT_FALSE(judged.allowed);
  EXPECT_THAT(judged.message, HasSubstr("; and 19988 more"));
  EXPECT_LE(judged.message.size(), 4096U);
}

TEST(Hostile, ListsThatWouldBeHeldAgainstEachOtherAreBounded) {
  const ClusterState cluster = make_cluster();
  std::string resources;
  for (int i = 0; i < 1000; ++i)
    resources += fmt::format(R"({}"nvidia.com/gpu{}":"1")", i ? "," : "", i);
  EXPECT_THAT(ask(kValidate, pod(container(R"({"limits":{)" + resources + "}}")), cluster).message,
              HasSubstr("names more than 64 GPU resources"));
  std::string one_each;
  for (int i = 0; i < 20'000; ++i)
    one_each += fmt::format(R"({}{{"resources":{{"limits":{{"nvidia.com/gpu{}":"1"}}}}}})",
                            i ? "," : "", i);
  EXPECT_FALSE(ask(kValidate, pod(R"({"containers":[)" + one_each + "]}"), cluster).allowed);
  EXPECT_TRUE(ask(kMutate, pod(R"({"containers":[)" + one_each + "]}"), cluster).allowed);
  const std::string term = R"({"matchExpressions":[{"key":"a","operator":"Exists"}]})";
  const std::string spec =
      R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
      R"({"nodeSelectorTerms":[)" +
      many(5000, term) + "]}}}}";
  EXPECT_THAT(ask(kValidate, pod(spec), cluster).message, HasSubstr("berth looks at 1024"));
}

TEST(Hostile, DepthIsNoTrouble) {
  const ClusterState cluster = make_cluster();
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  Request request = pod(R"({"x":)" + deep + "," + asks("nvidia.com/gpux", 1).substr(1));
  EXPECT_EQ(review(kValidate, request.str(), cluster, Settings()).http_status, 200);
  request = {.object = R"({"spec":{"devices":)" + deep + "}}",
             .group = "gpu.berth.dev",
             .kind = "MIGLayout"};
  EXPECT_THAT(review(kValidate, request.str(), cluster, Settings()).body,
              HasSubstr("nested deeper than 64 levels"));
}

}  // namespace
}  // namespace berth::test
