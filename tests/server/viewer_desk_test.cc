// SPDX-License-Identifier: Apache-2.0
// Who is let in by his token, what he may list, how long that counts, and that nobody is let in by
// anything but a plain yes of the API server's.
#include "controller/server/viewer_desk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "apis/kinds/core.h"
#include "apis/kinds/gpu_queue.h"
#include "controller/server/list_rights.h"
#include "tests/runtime/world.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using DeskVerdict = ViewerDesk::Standing::Verdict;

constexpr char kTokens[] = "/apis/authentication.k8s.io/v1/tokenreviews";
constexpr char kAccess[] = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

TEST(ViewerReviews, AnythingButAPlainYesIsNo) {
  const std::string good =
      R"({"kind":"TokenReview","status":{"authenticated":true,"user":{"username":"u",)"
      R"("uid":"1","groups":["g"],"extra":{"k":["v"]}}}})";
  const std::optional<Viewer> viewer = viewer_in(good);
  ASSERT_TRUE(viewer);
  EXPECT_EQ(*viewer, (Viewer{"u", "1", {"g"}, {{"k", {"v"}}}}));
  for (
      const char* bad :
      {"", "null", "[]", "{}", R"({"kind":"TokenReview"})",
       R"({"kind":"TokenReview","status":{"authenticated":"true","user":{"username":"u"}}})",
       R"({"kind":"TokenReview","status":{"authenticated":false,"user":{"username":"u"}}})",
       R"({"kind":"TokenReview","status":{"authenticated":true,"user":{"username":""}}})",
       R"({"kind":"TokenReview","status":{"authenticated":true,"user":{"username":7}}})",
       R"({"kind":"TokenReview","status":{"authenticated":true,"user":[]}})",
       R"({"kind":"TokenReview","status":{"authenticated":true,"user":{"username":"u","groups":[1]}}})",
       R"({"kind":"TokenReview","status":{"authenticated":true,"error":"x","user":{"username":"u"}}})",
       R"({"kind":"Status","status":{"authenticated":true,"user":{"username":"u"}}})"})
    EXPECT_FALSE(viewer_in(bad)) << bad;
  EXPECT_TRUE(allowed_in(R"({"kind":"SubjectAccessReview","status":{"allowed":true}})"));
  for (const char* bad :
       {"", "{}", R"({"kind":"SubjectAccessReview","status":{"allowed":1}})",
        R"({"kind":"SubjectAccessReview","status":{"allowed":false}})",
        R"({"kind":"SubjectAccessReview","status":{"allowed":true,"denied":true}})",
        R"({"kind":"TokenReview","status":{"allowed":true}})"})
    EXPECT_FALSE(allowed_in(bad)) << bad;
}

TEST(ViewerReviews, AskAsKubectlAuthCanIDoes) {
  const Viewer viewer{"u", "1", {"g"}, {{"k", {"v"}}}};
  const ApiRequest request = access_review(viewer, kKind<GPUQueue>, "");
  EXPECT_EQ(request.method, "POST");
  EXPECT_THAT(request.target, testing::StartsWith(kAccess));
  EXPECT_EQ(json::parse(request.body)["spec"], json::parse(R"({"user": "u", "uid": "1",
      "groups": ["g"], "extra": {"k": ["v"]}, "resourceAttributes":
      {"group": "gpu.berth.dev", "resource": "gpuqueues", "verb": "list"}})"));
  EXPECT_EQ(json::parse(access_review(viewer, kKind<Pod>, "a").body)["spec"]["resourceAttributes"],
            json::parse(R"({"group": "", "resource": "pods", "verb": "list", "namespace": "a"})"));
  EXPECT_EQ(json::parse(token_review("t\xff").body)["spec"]["token"].is_string(), true);
  EXPECT_EQ((Viewer{.username = "system:serviceaccount:team-a:x"}).namespace_(), "team-a");
  EXPECT_EQ((Viewer{.username = "alice"}).namespace_(), "");
  EXPECT_EQ((Viewer{.username = "system:serviceaccount:team-a:x"}).party(),
            (Viewer{.username = "system:serviceaccount:team-a:y"}).party());
  EXPECT_NE((Viewer{.username = "alice"}).party(), (Viewer{.username = "bob"}).party());
  EXPECT_NE((Viewer{.username = "system:serviceaccounts:team-a"}).party(),
            (Viewer{.username = "system:serviceaccount:team-a:x"}).party());
}

// An API server that knows tokens and what their owners may list: "pods/team-a", "nodes/".
class ViewerDeskTest : public ::testing::Test {
 protected:
  ViewerDeskTest() {
    settings_.berth_namespace = "berth-system";
    settings_.agents_namespace = "gpu-operator";
    world_.transport.respond_with([this](const HttpRequest& request) { return answer(request); });
  }
  void TearDown() override {
    bool ended = false;
    desk_.stop([&] { ended = true; });
    world_.settle();
    EXPECT_TRUE(ended);
  }
  std::optional<FakeReply> answer(const HttpRequest& request) {
    if (down_) return FakeReply{.status = 500, .body = status_json(500, "InternalError")};
    const json spec = json::parse(request.body)["spec"];
    if (request.target.starts_with(kTokens)) {
      const auto user = users_.find(spec["token"].get<std::string>());
      json status = {{"authenticated", user != users_.end()}};
      if (user != users_.end()) status["user"] = {{"username", user->second}};
      const json body = {{"kind", "TokenReview"}, {"status", status}};
      return FakeReply{.status = 201, .body = body.dump()};
    }
    const json& asked = spec["resourceAttributes"];
    const std::string right =
        asked["resource"].get<std::string>() + "/" + asked.value("namespace", "");
    const json body = {{"kind", "SubjectAccessReview"},
                       {"status", {{"allowed", granted_.contains(right)}}}};
    return FakeReply{.status = 201, .body = body.dump()};
  }
  // Once it is known.
  ViewerDesk::Standing ask(const std::string& token) {
    desk_.ask(token);
    world_.settle();
    return desk_.ask(token);
  }
  std::size_t reviews() const { return world_.count(std::string("POST ") + kTokens); }
  std::size_t questions() const { return world_.count(std::string("POST ") + kAccess); }

  World world_;
  Settings settings_;
  std::map<std::string, std::string> users_ = {{"good", "alice"}, {"other", "alice"}};
  std::set<std::string> granted_ = {"nodes/", "pods/team-a"};
  std::vector<std::string> namespaces_ = {"team-a", "team-b"};
  bool down_ = false;
  ListRights rights_{{.client = world_.client,
                      .namespaces = [this] { return namespaces_; },
                      .settings = settings_}};
  ViewerDesk desk_{{.client = world_.client,
                    .log = world_.log,
                    .rights = [this](Viewer viewer, CallOptions options) {
                      return rights_.ask(std::move(viewer), std::move(options));
                    }}};
};

TEST_F(ViewerDeskTest, WhoIsKnownMayListWhatTheAPIServerSays) {
  EXPECT_EQ(desk_.ask("good").verdict, DeskVerdict::kAsking) << "not yet";
  world_.settle();
  const ViewerDesk::Standing alice = desk_.ask("good");
  ASSERT_EQ(alice.verdict, DeskVerdict::kAdmitted);
  EXPECT_TRUE(alice.rights->everywhere("nodes"));
  EXPECT_TRUE(alice.rights->in("pods", "team-a"));
  EXPECT_FALSE(alice.rights->in("pods", "team-b"));
  EXPECT_FALSE(alice.rights->everywhere("pods"));
  EXPECT_FALSE(alice.rights->in("jobs.batch", "team-a"));
  EXPECT_EQ(ask("bad").verdict, DeskVerdict::kRefused);
  EXPECT_EQ(ask("").verdict, DeskVerdict::kRefused);
  EXPECT_EQ(desk_.ask(std::string(17 << 10, 'x')).verdict, DeskVerdict::kRefused);
  EXPECT_EQ(reviews(), 2u) << "of what is no token nobody is asked";
}

TEST_F(ViewerDeskTest, WhatWasSaidCountsForAWhileRefusalsToo) {
  ask("good"), ask("bad");
  const std::size_t asked = questions();
  for (int i = 0; i < 1000; ++i) desk_.ask("good"), desk_.ask("bad");
  world_.settle();
  EXPECT_EQ(reviews(), 2u);
  EXPECT_EQ(ask("other").verdict, DeskVerdict::kAdmitted);
  EXPECT_EQ(reviews(), 3u);
  EXPECT_EQ(questions(), asked) << "another token of the same account has its rights";
}

TEST_F(ViewerDeskTest, ATokenThatIsOverIsNotTakenAnyLonger) {
  ASSERT_EQ(ask("good").verdict, DeskVerdict::kAdmitted);
  users_.clear();
  world_.loop.run_for(29s);
  EXPECT_EQ(ask("good").verdict, DeskVerdict::kAdmitted);
  world_.loop.run_for(2s);
  EXPECT_EQ(ask("good").verdict, DeskVerdict::kRefused) << "it is looked at again while it is used";
}

TEST_F(ViewerDeskTest, WhatIsGrantedAndTakenAwayIsNoticed) {
  ASSERT_EQ(ask("good").verdict, DeskVerdict::kAdmitted);
  granted_ = {"pods/team-b"};
  for (int i = 0; i < 16; ++i) {
    world_.loop.run_for(10s);
    ask("good");
  }
  const ViewerDesk::Standing now = ask("good");
  ASSERT_EQ(now.verdict, DeskVerdict::kAdmitted);
  EXPECT_FALSE(now.rights->in("pods", "team-a"));
  EXPECT_TRUE(now.rights->in("pods", "team-b"));
  EXPECT_FALSE(now.rights->everywhere("nodes"));
}

TEST_F(ViewerDeskTest, WithoutTheAPIServerNobodyIsLetInAndNobodyStaysForLong) {
  ASSERT_EQ(ask("good").verdict, DeskVerdict::kAdmitted);
  down_ = true;
  EXPECT_EQ(ask("new").verdict, DeskVerdict::kBusy);
  world_.loop.run_for(40s);
  EXPECT_EQ(ask("good").verdict, DeskVerdict::kAdmitted) << "what was said a minute ago counts";
  world_.loop.run_for(25s);
  EXPECT_NE(ask("good").verdict, DeskVerdict::kAdmitted);
  EXPECT_EQ(desk_.ask("good").rights, nullptr);
  down_ = false;
  world_.loop.run_for(5s);
  EXPECT_EQ(ask("good").verdict, DeskVerdict::kAdmitted);
}

TEST_F(ViewerDeskTest, ARightThatCouldNotBeAskedAboutLetsNobodyIn) {
  world_.transport.respond_with([this](const HttpRequest& request) -> std::optional<FakeReply> {
    if (request.target.starts_with(kAccess) && questions() > 5)
      return FakeReply{.status = 500, .body = status_json(500, "InternalError")};
    return answer(request);
  });
  EXPECT_EQ(ask("good").verdict, DeskVerdict::kBusy);
}

TEST_F(ViewerDeskTest, ACrowdOfMadeUpTokensIsNotAskedAbout) {
  ASSERT_EQ(ask("good").verdict, DeskVerdict::kAdmitted);
  for (int i = 0; i < 20'000; ++i) desk_.ask("made-up-" + std::to_string(i));
  world_.settle();
  EXPECT_LE(reviews(), 60u);
  EXPECT_EQ(desk_.ask("good").verdict, DeskVerdict::kAdmitted);
  world_.loop.run_for(31s);
  users_.clear();
  for (int i = 0; i < 100; ++i) desk_.ask("more-" + std::to_string(i));
  EXPECT_EQ(ask("good").verdict, DeskVerdict::kRefused) << "who is in is looked at all the same";
}

TEST_F(ViewerDeskTest, OfManyNamespacesSomeAreAskedAboutAndHisOwnAmongThem) {
  users_["good"] = "system:serviceaccount:zz-last:robot";
  granted_ = {"pods/zz-last"};
  namespaces_.clear();
  for (int i = 0; i < 5000; ++i) namespaces_.push_back("team-" + std::to_string(i));
  const ViewerDesk::Standing robot = ask("good");
  ASSERT_EQ(robot.verdict, DeskVerdict::kAdmitted);
  EXPECT_TRUE(robot.rights->in("pods", "zz-last"));
  EXPECT_LE(questions(), 250u);
}

TEST_F(ViewerDeskTest, NoTokenIsLogged) {
  down_ = true;
  ask("canary-token");
  for (const std::string& line : world_.log.lines) EXPECT_THAT(line, Not(HasSubstr("canary")));
}

}  // namespace
}  // namespace berth
