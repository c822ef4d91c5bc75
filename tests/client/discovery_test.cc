// SPDX-License-Identifier: Apache-2.0
#include "controller/client/discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "apis/kinds/core.h"
#include "apis/kinds/mig_layout.h"
#include "tests/client/fake_transport.h"
#include "tests/io/fake_loop.h"
#include "tests/io/recording_log.h"

namespace berth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The answer of kube-apiserver, shortened.
constexpr char kCore[] =
    R"({"kind":"APIResourceList","groupVersion":"v1","resources":[)"
    R"({"name":"nodes","kind":"Node","verbs":["get","list","patch","watch"]},)"
    R"({"name":"pods","kind":"Pod","verbs":["get","list"]},)"
    R"({"name":"pods/eviction","group":"policy","version":"v1","kind":"Eviction","verbs":["create"]}]})";

class DiscoveryTest : public ::testing::Test {
 protected:
  std::vector<std::string> lacks(std::vector<ResourceNeed> needs) {
    auto task = [](DiscoveryTest& test, std::vector<ResourceNeed> what) -> Task<void> {
      test.report_ = co_await fetch_lacks(test.client_, what, {});
    };
    spawn(loop_, task(*this, std::move(needs)));
    loop_.run_until_idle();
    std::vector<std::string> lines;
    for (const Lack& lack : report_.lacks) {
      lines.push_back(describe(lack.need));
      for (const std::string& verb : lack.verbs) lines.back() += " " + verb;
    }
    return lines;
  }

  FakeLoop loop_;
  FakeTransport transport_{loop_};
  RecordingLog log_;
  ApiClient client_{loop_, transport_, log_, {"0", "t"}};
  DiscoveryReport report_;
};

const ResourceNeed kEviction{
    .kind = kKind<Pod>, .subresource = "eviction", .body = "policy/v1", .verbs = {"create"}};
const ResourceNeed kLayouts{.kind = kKind<MIGLayout>, .verbs = {"list"}};

TEST_F(DiscoveryTest, NamesWhatIsNotServedAndWhichVerbsAreNot) {
  transport_.script("GET /api/v1", {200, kCore});
  transport_.script("GET /apis/gpu.berth.dev/v1alpha1", {404, "404 page not found"});
  EXPECT_THAT(lacks({{.kind = kKind<Node>, .verbs = {"get", "watch"}},
                     {.kind = kKind<Pod>, .verbs = {"list", "watch", "delete"}},
                     kEviction,
                     kLayouts,
                     {.kind = kKind<MIGLayout>, .subresource = "status", .verbs = {"patch"}}}),
              ElementsAre("pods (v1) watch delete", "miglayouts (gpu.berth.dev/v1alpha1)",
                          "miglayouts/status (gpu.berth.dev/v1alpha1)"));
  EXPECT_THAT(report_.unknown, IsEmpty());
  EXPECT_EQ(transport_.exchanges.size(), 2u) << "one question for each group version";
}

TEST_F(DiscoveryTest, AnEvictionOfAnOlderVersionIsNotTheOneWeSend) {
  std::string old = kCore;
  old.replace(old.find(R"("version":"v1")"), 14, R"("version":"v1beta1")");
  transport_.script("GET /api/v1", {200, old});
  EXPECT_THAT(lacks({kEviction}), ElementsAre("pods/eviction (policy/v1)"));
}

struct Failure {
  const char* sentence;
  FakeReply reply;
  std::size_t exchanges;  // /api/v1 is requested afterwards, unless there is no server
};

TEST_F(DiscoveryTest, AGroupThatDoesNotAnswerIsTakenToServeWhatIsNeeded) {
  const std::vector<Failure> failures = {
      {"its aggregated server is down", {503, "service unavailable"}, 2},
      {"we may not ask", {403, "{}"}, 2},
      {"the reply is of another kind", {200, R"({"kind":"List","items":[]})"}, 2},
      {"the reply is not JSON", {200, "<html>"}, 2},
      {"nobody is there", {.outcome = TransportOutcome::kTlsFailed}, 1},
  };
  for (const Failure& failure : failures) {
    SCOPED_TRACE(failure.sentence);
    transport_.exchanges.clear();
    transport_.script("GET /apis/gpu.berth.dev/v1alpha1", failure.reply);
    transport_.respond_with([](const HttpRequest&) { return FakeReply{200, kCore}; });
    EXPECT_THAT(lacks({kLayouts, kEviction}), IsEmpty());
    ASSERT_EQ(report_.unknown.size(), 1u);
    EXPECT_THAT(describe(report_.unknown[0]), HasSubstr("gpu.berth.dev"));
    EXPECT_EQ(transport_.exchanges.size(), failure.exchanges);
  }
}

}  // namespace
}  // namespace berth
