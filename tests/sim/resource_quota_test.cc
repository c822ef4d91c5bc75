// SPDX-License-Identifier: Apache-2.0
// How pods count in ResourceQuotas, which are refused, and when the quota is free again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/sim/kube_world.h"

namespace berth::sim {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

struct ResourceQuotaTest : testing::Test, KubeWorld {
  ResourceQuotaTest() { add_node("n1", 8); }
  void add_quota(const std::string& hard) {
    create("resourcequotas", R"({"metadata":{"name":"q"},"spec":{"hard":)" + hard + "}}");
    ASSERT_TRUE(
        run_until([this] { return !at("resourcequotas", "q", "/status/used").empty(); }, 1s));
  }
  // The server's message; "created" if it succeeds.
  std::string try_pod(const std::string& name, const std::string& resources,
                      const std::string& more = "") {
    const WriteReply reply = user.create(
        "pods", nlohmann::json::parse(R"({"metadata":{"namespace":"team","name":")" + name +
                                      R"("},"spec":{)" + more +
                                      R"("containers":[{"name":"main","image":"i","resources":)" +
                                      resources + "}]}}"));
    return reply.ok() ? "created"
                      : std::to_string(reply.code) + " " + reply.body->value("message", "");
  }
  std::string gpus(const std::string& name, int count, const std::string& more = "") {
    return try_pod(name, R"({"limits":{"nvidia.com/gpu":)" + std::to_string(count) + "}}", more);
  }
  std::string used(const std::string& resource) {
    std::string pointer = resource;
    if (const auto slash = pointer.find('/'); slash != pointer.npos)
      pointer.replace(slash, 1, "~1");
    return at("resourcequotas", "q", "/status/used/" + pointer);
  }
};

constexpr char kGated[] = R"("schedulingGates":[{"name":"a/x"}],)";

TEST_F(ResourceQuotaTest, WhatPodsAskForCountsGatedOrNot) {
  add_quota(R"({"requests.nvidia.com/gpu":4,"pods":3})");
  EXPECT_EQ(used("requests.nvidia.com/gpu"), "0");
  EXPECT_EQ(gpus("a", 2, kGated), "created");
  EXPECT_EQ(gpus("b", 1), "created");
  EXPECT_EQ(used("requests.nvidia.com/gpu"), "3") << "at once, not when its controller looks";
  EXPECT_EQ(gpus("c", 2),
            "403 pods \"c\" is forbidden: exceeded quota: q, requested: requests.nvidia.com/gpu=2, "
            "used: requests.nvidia.com/gpu=3, limited: requests.nvidia.com/gpu=4");
  EXPECT_EQ(try_pod("d", "{}"), "created");
  EXPECT_EQ(gpus("e", 2),
            "403 pods \"e\" is forbidden: exceeded quota: q, requested: pods=1,"
            "requests.nvidia.com/gpu=2, used: pods=3,requests.nvidia.com/gpu=3, limited: pods=3,"
            "requests.nvidia.com/gpu=4");
}

TEST_F(ResourceQuotaTest, WhatEndsOrGoesIsGivenBackByTheController) {
  add_quota(R"({"requests.nvidia.com/gpu":4})");
  ASSERT_EQ(gpus("a", 2, R"("restartPolicy":"Never",)"), "created");
  ASSERT_EQ(gpus("b", 2, kGated), "created");
  ASSERT_TRUE(run_until([this] { return at("pods", "a", "/status/phase") == "Running"; }, 10s));
  kube.finish("team", "a", true);
  EXPECT_TRUE(run_until([this] { return used("requests.nvidia.com/gpu") == "2"; }, 5s));
  remove("pods", "b");
  EXPECT_TRUE(run_until([this] { return used("requests.nvidia.com/gpu") == "0"; }, 5s));
}

TEST_F(ResourceQuotaTest, WhoIsBoundInCpuOrMemorySaysHowMuchOfIt) {
  add_quota(R"({"requests.cpu":"1","memory":"2Gi"})");
  EXPECT_EQ(try_pod("a", R"({"requests":{"cpu":"100m"}})"),
            "403 pods \"a\" is forbidden: failed quota: q: must specify memory for: main");
  EXPECT_EQ(try_pod("a", R"({"requests":{"cpu":"100m","memory":"1Gi"}})"), "created");
  EXPECT_EQ(used("requests.cpu"), "100m");
  EXPECT_EQ(used("memory"), "1Gi");
}

TEST_F(ResourceQuotaTest, AnEditOfItsBoundsIsHeededOnceItsControllerHasSeenIt) {
  add_quota(R"({"requests.nvidia.com/gpu":1,"pods":9})");
  merge("resourcequotas", "q", R"({"spec":{"hard":{"requests.nvidia.com/gpu":2,"pods":null}}})");
  EXPECT_THAT(gpus("a", 2), HasSubstr("limited: requests.nvidia.com/gpu=1"));
  ASSERT_TRUE(run_until([this] { return used("pods").empty(); }, 1s));
  EXPECT_EQ(gpus("a", 2), "created");
}

TEST_F(ResourceQuotaTest, OfAQuotaThatNobodyHasCountedNothingIsGiven) {
  create("resourcequotas", R"({"metadata":{"name":"q"},"spec":{"hard":{"pods":2}}})");
  EXPECT_EQ(try_pod("a", "{}"), "created") << "its status bounds nothing yet";
  merge("resourcequotas", "q", R"({"status":{"hard":{"pods":"2"}}})", "status");
  EXPECT_EQ(try_pod("b", "{}"),
            "403 pods \"b\" is forbidden: status unknown for quota: q, resources: pods");
}

TEST_F(ResourceQuotaTest, WhatIsOnlyTriedTakesNothing) {
  add_quota(R"({"pods":1})");
  const ApiReply tried = simulation.server().call(
      {"person", "POST", "/api/v1/namespaces/team/pods?dryRun=All", "application/json",
       R"({"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}})"});
  EXPECT_EQ(tried.code, 201) << tried.body;
  EXPECT_EQ(used("pods"), "0");
}

TEST_F(ResourceQuotaTest, BoundsAreOfResourcesThatTheServerKnows) {
  const auto code = [this](const char* hard) {
    return user
        .create(
            "resourcequotas",
            nlohmann::json::parse(R"({"metadata":{"namespace":"team","name":"w"},"spec":{"hard":)" +
                                  std::string(hard) + "}}"))
        .code;
  };
  EXPECT_EQ(code(R"({"gpus":"1"})"), 422);
  EXPECT_EQ(code(R"({"pods":"-1"})"), 422);
  EXPECT_EQ(code(R"({"pods":"500m"})"), 422);
  EXPECT_EQ(code(R"({"pods":"many"})"), 400);
  EXPECT_EQ(code(R"({"requests.nvidia.com/mig-1g.10gb":"1","limits.cpu":"2"})"), 201);
}

TEST_F(ResourceQuotaTest, AReplicaSetHasWhatItsNamespaceMay) {
  add_quota(R"({"requests.nvidia.com/gpu":2})");
  create("replicasets", R"({"metadata":{"name":"web"},"spec":{"replicas":3,
    "selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},
    "spec":{"containers":[{"name":"main","image":"x","resources":{"limits":{"nvidia.com/gpu":1}}}]}}}})");
  ASSERT_TRUE(run_until([this] { return names("pods").size() == 2; }, 5s));
  merge("resourcequotas", "q", R"({"spec":{"hard":{"requests.nvidia.com/gpu":3}}})");
  EXPECT_TRUE(run_until([this] { return names("pods").size() == 3; }, 1min)) << "it goes on trying";
}

}  // namespace
}  // namespace berth::sim
