// SPDX-License-Identifier: Apache-2.0
// Bodies that are not AdmissionReviews, and malicious objects.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/admission/review_case.h"

namespace berth::test {
namespace {

using ::testing::ElementsAre;
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
      // Broken inside and after a readable pod.
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

TEST(Envelope, WhatWasReviewedIsOneOfTheServersFour) {
  const ClusterState cluster = make_cluster();
  const auto reviewed = [&](const std::string& operation) {
    const std::string body =
        R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u",)"
        R"("object":{"operation":"CREATE"},"operation":")" +
        operation + "\"}}";
    return review(kValidate, body, cluster, Settings()).operation;
  };
  EXPECT_EQ(reviewed("UPDATE"), "UPDATE");
  EXPECT_EQ(reviewed("EVIL"), "other");
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

TEST(Hostile, HundredsOfContainersAreAnsweredAndThousandsAreNot) {
  const ClusterState cluster = make_cluster([](GPUClusterPolicySpec& spec) {
    spec.admission.defaults.security_context = true;
    spec.admission.defaults.shared_memory = *Quantity::parse("1Gi");
  });
  const std::string one =
      R"({"name":"c","securityContext":{"privileged":true},"env":[{"name":)"
      R"("NVIDIA_VISIBLE_DEVICES","value":"all"}],"resources":{"requests":{"nvidia.com/gpu":"2"}}})";
  const Request request = pod(R"({"containers":[)" + many(512, one) + "]}");
  const Answer mutated = ask(kMutate, request, cluster);
  EXPECT_TRUE(mutated.allowed);
  EXPECT_THAT(mutated.patch,
              HasSubstr(R"({"op":"add","path":"/spec/containers/511/volumeMounts",)"
                        R"("value":[{"name":"berth-shm","mountPath":"/dev/shm"}]})"));
  EXPECT_THAT(mutated.warnings, SizeIs(13)) << "the rest is counted";
  const Answer judged = ask(kValidate, request, cluster);
  EXPECT_FALSE(judged.allowed);
  EXPECT_THAT(judged.message, HasSubstr("; and 1012 more"));
  EXPECT_LE(judged.message.size(), 4096U);
  for (const ReviewPath path : {kMutate, kValidate}) {
    const Answer refused = ask(path, pod(R"({"containers":[)" + many(513, one) + "]}"), cluster);
    EXPECT_EQ(refused.code, 400);
    EXPECT_EQ(refused.message,
              "request.object.spec.containers: has 513 entries, and berth reads at most 512; write "
              "fewer");
  }
}

// Terms that would each get a long list of pools.
TEST(Hostile, APatchThatNoPodCouldTakeIsRefused) {
  const auto change = [](Enforcement enforcement) {
    return [enforcement](GPUClusterPolicySpec& spec) {
      spec.admission.enforcement = enforcement;
      const PoolSpec training = spec.pools.front();
      spec.pools.clear();
      for (int i = 0; i < 64; ++i) {
        PoolSpec pool = training;
        pool.name = fmt::format("a-pool-with-a-name-that-is-as-long-as-{:02}", i);
        pool.node_selector.match_labels = {{"n", Text(std::to_string(i))}};
        spec.pools.push_back(pool);
      }
    };
  };
  const std::string term = R"({"matchExpressions":[{"key":"n","operator":"Exists"}]})";
  const Request request =
      pod(R"({"containers":[{"resources":{"limits":{"nvidia.com/gpu":1}}}],)"
          R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
          R"({"nodeSelectorTerms":[)" +
          many(510, term) + "]}}}}");
  const auto judge = [&](Enforcement enforcement) {
    ClusterState cluster = make_cluster(change(enforcement));
    for (int i = 0; i < 64; ++i)
      add_node(cluster, fmt::format("n{}", i), {{"n", Text(std::to_string(i))}}, "nvidia.com/gpu",
               1);
    return ask(kMutate, request, cluster);
  };
  const Answer refused = judge(Enforcement::kEnforce);
  EXPECT_FALSE(refused.allowed);
  EXPECT_THAT(refused.message, HasSubstr("more than 1 MiB; write fewer"));
  const Answer warned = judge(Enforcement::kWarn);
  EXPECT_TRUE(warned.allowed);
  EXPECT_EQ(warned.patch, "");
  EXPECT_THAT(warned.warnings, ElementsAre(HasSubstr("more than 1 MiB")));
}

TEST(Hostile, ListsThatWouldBeHeldAgainstEachOtherAreBounded) {
  const ClusterState cluster = make_cluster();
  std::string resources;
  for (int i = 0; i < 1000; ++i)
    resources += fmt::format(R"({}"nvidia.com/gpu{}":"1")", i ? "," : "", i);
  EXPECT_THAT(ask(kValidate, pod(container(R"({"limits":{)" + resources + "}}")), cluster).message,
              HasSubstr("names more than 64 GPU resources"));
  std::string one_each;
  for (int i = 0; i < 500; ++i)
    one_each += fmt::format(R"({}{{"resources":{{"limits":{{"nvidia.com/gpu{}":"1"}}}}}})",
                            i ? "," : "", i);
  EXPECT_FALSE(ask(kValidate, pod(R"({"containers":[)" + one_each + "]}"), cluster).allowed);
  EXPECT_TRUE(ask(kMutate, pod(R"({"containers":[)" + one_each + "]}"), cluster).allowed);
  std::string three;
  for (int i = 0; i < 3; ++i) three += fmt::format(R"({}"nvidia.com/gpu{}":"1")", i ? "," : "", i);
  const std::string each = R"({"resources":{"limits":{)" + three + "}}}";
  EXPECT_THAT(
      ask(kValidate, pod(R"({"containers":[)" + many(400, each) + "]}"), cluster).message,
      HasSubstr("spec.containers: name GPU resources 1200 times; berth reads 1024 of them"));
  const std::string term = R"({"matchExpressions":[{"key":"a","operator":"Exists"}]})";
  const std::string spec =
      R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
      R"({"nodeSelectorTerms":[)" +
      many(5000, term) + "]}}}}";
  EXPECT_THAT(ask(kValidate, pod(spec), cluster).message,
              HasSubstr("than berth looks at, which is 1024"));
}

TEST(Hostile, DepthIsNoTrouble) {
  const ClusterState cluster = make_cluster();
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  const auto answer_to = [&](int depth) {
    const Request request =
        pod(R"({"x":)" + nested(depth) + "," + asks("nvidia.com/gpux", 1).substr(1));
    return review(kValidate, request.str(), cluster, Settings());
  };
  EXPECT_EQ(answer_to(1000).http_status, 200);
  EXPECT_EQ(answer_to(200'000).http_status, 400) << "as deep as no object is";
  const Request request = {.object = R"({"spec":{"devices":)" + nested(1000) + "}}",
                           .group = "gpu.berth.dev",
                           .kind = "MIGLayout"};
  EXPECT_THAT(ask(kValidate, request, cluster).message,
              HasSubstr("spec.devices[0]: must be a map of fields, is a list"));
}

// Unread parts are parsed too: a verdict about half a text is worthless.
TEST(Envelope, BrokenJsonIsFoundWhereverItStands) {
  const ClusterState cluster = make_cluster();
  const char* broken[] = {R"({"a":[1})", R"([1 2])", R"(nul)",  R"("\x")",
                          R"({"a" 1})",  R"(01)",    R"([1,])", R"({,})",
                          R"("\u12g4")", R"(1.)",    R"(tru)",  "\"\x01\""};
  for (const char* value : broken) {
    const Request unread =
        pod(fmt::format(R"({{"x":{},"containers":[{{"x":{}}}]}})", value, value));
    const Request labels = {.object = fmt::format(R"({{"metadata":{{"labels":{}}}}})", value),
                            .kind = "ConfigMap"};
    for (const Request& request : {unread, labels}) {
      const ReviewReply reply = review(kValidate, request.str(), cluster, Settings());
      EXPECT_EQ(reply.http_status, 400) << value;
      EXPECT_THAT(at(reply.body, "/message"), HasSubstr("is not valid JSON"));
    }
  }
}

// The API server sends none; a patch of it would fail.
TEST(Envelope, NothingIsAddedToANull) {
  const ClusterState cluster = make_cluster([](GPUClusterPolicySpec& spec) {
    spec.admission.defaults.security_context = true;
    spec.admission.defaults.shared_memory = *Quantity::parse("1Gi");
  });
  const std::string one = R"({"name":"c","resources":{"requests":{"nvidia.com/gpu":"2"}}})";
  const Request request =
      pod(R"({"containers":[null,)" + one +
          R"(],"initContainers":[null],"volumes":[null],)"
          R"("tolerations":[null],"affinity":{"nodeAffinity":{)"
          R"("requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[null]}}}})");
  const Answer answer = ask(kMutate, request, cluster);  // the test applies the patch
  EXPECT_EQ(at(answer.object, "/spec/containers/0"), "null");
  EXPECT_EQ(at(answer.object, "/spec/initContainers/0"), "null");
  EXPECT_EQ(at(answer.object, "/spec/containers/1/resources/limits"), R"({"nvidia.com/gpu":"2"})");
}

}  // namespace
}  // namespace berth::test
