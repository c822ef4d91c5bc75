// SPDX-License-Identifier: Apache-2.0
// The page to people of a cluster: who is answered, with what, and what many of them cost.
#include "controller/server/page_port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "apis/kinds/core.h"
#include "controller/page/page.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using Verdict = ViewerDesk::Standing::Verdict;

class PagePortTest : public ::testing::Test {
 protected:
  PagePortTest() {
    for (const char* name : {"n1", "n2"}) {
      Node node;
      node.meta.name = node.meta.uid = name;
      node.ready = true;
      node.meta.labels.set(names::kGpuPresent, "true");
      node.allocatable.set("nvidia.com/gpu", Quantity::whole(8));
      cluster_.upsert(std::move(node), now_of_day_);
    }
    add_pod("team-a"), add_pod("team-b");
    ViewerRights a, b;
    a.grant("nodes"), b.grant("nodes");
    a.grant("pods", "team-a"), b.grant("pods", "team-b");
    admit("token-a", a), admit("token-b", b);
  }
  void add_pod(const std::string& ns) {
    Pod pod;
    pod.meta.namespace_ = ns;
    pod.meta.name = pod.meta.uid = "of-" + ns;
    pod.node_name = "n1";
    pod.phase = PodPhase::kRunning;
    pod.shape.edit()->requests.set("nvidia.com/gpu", Quantity::whole(1));
    cluster_.upsert(std::move(pod), now_of_day_);
  }
  void admit(const std::string& token, const ViewerRights& rights) { admit(token, rights, token); }
  void admit(const std::string& token, const ViewerRights& rights, const std::string& party) {
    standings_[token] = {Verdict::kAdmitted, std::make_shared<const ViewerRights>(rights), party};
  }
  // Followers of `party` with so many different rights.
  std::vector<std::shared_ptr<HttpFeed>> crowd(const std::string& party, int size) {
    std::vector<std::shared_ptr<HttpFeed>> feeds;
    for (int i = 0; i < size; ++i) {
      const std::string name = party + "-" + std::to_string(i);
      ViewerRights rights;
      rights.grant("pods", name);
      admit(name, rights, party);
      if (HttpResponse response = get("/ui/events", name); response.feed != nullptr)
        feeds.push_back(std::move(response.feed));
    }
    return feeds;
  }
  HttpResponse get(std::string_view path, const std::string& token, std::string_view query = {}) {
    const std::string head = token.empty() ? "" : "Bearer " + token;
    // Each computation takes a moment, and others may have to wait for their turn.
    now_ += 1s;
    return port_.answer({.method = "GET",
                         .path = path,
                         .query = query,
                         .host = "gpus.example",
                         .authorization = head});
  }
  void cordon(const std::string& name) {
    Node node = *cluster_.nodes().find(name);
    node.unschedulable = !node.unschedulable;
    cluster_.upsert(std::move(node), now_of_day_);
    port_.changed();
    now_ += 1s;
  }
  static std::string id_in(const HttpResponse& state) {
    return json::parse(state.body)["id"].get<std::string>();
  }
  static std::string told(HttpFeed& feed) {
    std::string out;
    feed.next(out);
    return out;
  }

  ClusterState cluster_;
  const Answers answers_;
  const Settings settings_;
  const Time now_of_day_ = *parse_time("2026-11-21T12:00:00Z");
  std::chrono::nanoseconds now_{0};
  int computed_ = 0;
  bool known_ = true;
  std::map<std::string, ViewerDesk::Standing> standings_;
  PagePort port_{{.snapshot = [this]() -> std::optional<Snapshot> {
                    if (!known_) return std::nullopt;
                    ++computed_;
                    return Snapshot{.cluster = cluster_,
                                    .answers = answers_,
                                    .settings = settings_,
                                    .now = now_of_day_,
                                    .offline = true};
                  },
                  .ask =
                      [this](const std::string& token) {
                        const auto found = standings_.find(token);
                        return found == standings_.end()
                                   ? ViewerDesk::Standing{.verdict = Verdict::kRefused}
                                   : found->second;
                      },
                  .now = [this] { return now_; },
                  .era = "era"}};
};

TEST_F(PagePortTest, NothingOfTheClusterIsToldWithoutAToken) {
  for (const char* path : {"/ui/state", "/ui/events", "/ui/why"}) {
    EXPECT_EQ(get(path, "").status, 401) << path;
    EXPECT_EQ(get(path, "made-up").status, 401) << path;
    EXPECT_THAT(get(path, "").head, HasSubstr("www-authenticate: Bearer")) << path;
    EXPECT_THAT(get(path, "").head, HasSubstr("default-src 'self'")) << path;
    EXPECT_EQ(get(path, "").feed, nullptr) << path;
  }
  for (const char* head : {"Basic token-a", "token-a", "Bearer", "Bearer ", "bearertoken-a"})
    EXPECT_EQ(port_.answer({.method = "GET", .path = "/ui/state", .authorization = head}).status,
              401)
        << head;
  EXPECT_EQ(port_.answer({.method = "GET", .path = "/ui/state", .authorization = "bearer  token-a"})
                .status,
            200)
      << "as HTTP has it";
  standings_["new"] = {Verdict::kAsking, nullptr};
  standings_["crowd"] = {Verdict::kBusy, nullptr};
  for (const char* token : {"new", "crowd"}) {
    EXPECT_EQ(get("/ui/state", token).status, 503) << token;
    EXPECT_THAT(get("/ui/state", token).head, HasSubstr("retry-after: ")) << token;
  }
}

TEST_F(PagePortTest, ItsFilesAreAnybodysAndTellNothing) {
  for (const PageFile& file : page_files()) {
    const HttpResponse response = get("/ui/" + std::string(file.name), "");
    EXPECT_EQ(response.status, 200) << file.name;
    EXPECT_EQ(response.body, file.text) << file.name;
  }
  EXPECT_EQ(get("/ui/", "").status, 200) << "by whatever name a proxy calls it";
  EXPECT_EQ(get("/ui/none", "token-a").status, 404);
  EXPECT_EQ(get("/metrics", "token-a").status, 404);
  EXPECT_EQ(computed_, 0);
}

TEST_F(PagePortTest, EachSeesHisOwnStateByIdsOfItsOwn) {
  const HttpResponse a = get("/ui/state", "token-a"), b = get("/ui/state", "token-b");
  ASSERT_EQ(a.status, 200) << a.body;
  ASSERT_EQ(b.status, 200) << b.body;
  EXPECT_THAT(a.body, HasSubstr("of-team-a"));
  EXPECT_THAT(a.body, Not(HasSubstr("team-b")));
  EXPECT_THAT(b.body, HasSubstr("of-team-b"));
  EXPECT_THAT(b.body, Not(HasSubstr("team-a")));
  EXPECT_NE(id_in(a), id_in(b));
  EXPECT_THAT(a.head, HasSubstr("cache-control: private"));
  const std::shared_ptr<HttpFeed> feed = get("/ui/events", "token-b", "since=" + id_in(a)).feed;
  ASSERT_NE(feed, nullptr);
  EXPECT_THAT(told(*feed), HasSubstr("event: again")) << "another's id is none of his";
}

TEST_F(PagePortTest, WhyAnswersEachOfWhatHeMayList) {
  EXPECT_EQ(get("/ui/why", "token-a", "subject=pod/team-a/of-team-a").status, 200);
  const HttpResponse other = get("/ui/why", "token-a", "subject=pod/team-b/of-team-b");
  const HttpResponse nobody = get("/ui/why", "token-a", "subject=pod/team-b/nobody");
  EXPECT_EQ(other.status, 404);
  EXPECT_EQ(nobody.status, 404);
  EXPECT_EQ(get("/ui/why", "token-a", "subject=node/n1").status, 200);
  EXPECT_THAT(get("/ui/why", "token-a", "subject=node/n1").body, Not(HasSubstr("team-b")));
}

TEST_F(PagePortTest, FiveHundredWithTheSameRightsCostWhatOneDoes) {
  const std::string id = id_in(get("/ui/state", "token-a"));
  std::vector<std::shared_ptr<HttpFeed>> feeds;
  for (int i = 0; i < 500; ++i) {
    const std::string token = "of-" + std::to_string(i);
    standings_[token] = {Verdict::kAdmitted,
                         std::make_shared<const ViewerRights>(*standings_["token-a"].rights)};
    feeds.push_back(port_
                        .answer({.method = "GET",
                                 .path = "/ui/events",
                                 .query = "since=" + id,
                                 .authorization = "Bearer " + token})
                        .feed);
  }
  for (const auto& feed : feeds) told(*feed);
  const int before = computed_;
  cordon("n1");
  for (const auto& feed : feeds) EXPECT_THAT(told(*feed), HasSubstr("Cordoned"));
  EXPECT_EQ(computed_, before + 1);
}

TEST_F(PagePortTest, AStreamEndsWithItsTokenAndWithItsRights) {
  const std::string id = id_in(get("/ui/state", "token-a"));
  const auto follow = [&] { return get("/ui/events", "token-a", "since=" + id).feed; };
  const std::shared_ptr<HttpFeed> first = follow(), second = follow();
  told(*first), told(*second);
  EXPECT_FALSE(first->over());
  const ViewerDesk::Standing before = standings_["token-a"];
  ViewerRights fewer;
  fewer.grant("nodes");
  admit("token-a", fewer);
  cordon("n1");
  EXPECT_EQ(told(*first), "") << "nothing more of what he may no longer list";
  EXPECT_TRUE(first->over());
  standings_["token-a"] = before;
  EXPECT_THAT(told(*second), HasSubstr("Cordoned"));
  standings_.erase("token-a");
  cordon("n2");
  EXPECT_EQ(told(*second), "");
  EXPECT_TRUE(second->over());
}

TEST_F(PagePortTest, WhoWasAwayGoesOnWhereHeWas) {
  const std::string id = id_in(get("/ui/state", "token-a"));
  cordon("n1");
  const std::shared_ptr<HttpFeed> feed = get("/ui/events", "token-a", "since=" + id).feed;
  const std::string missed = told(*feed);
  EXPECT_THAT(missed, HasSubstr("Cordoned"));
  EXPECT_THAT(missed, Not(HasSubstr("event: again")));
}

TEST_F(PagePortTest, ManyDifferentRightsAreServedWithinBounds) {
  for (int i = 0; i < 300; ++i) {
    ViewerRights rights;
    rights.grant("pods", "team-" + std::to_string(i));
    admit("of-" + std::to_string(i), rights);
    EXPECT_EQ(get("/ui/state", "of-" + std::to_string(i)).status, 200)
        << "who looks no longer makes room";
  }
  std::vector<std::shared_ptr<HttpFeed>> feeds;
  int refused = 0;
  for (int i = 0; i < 100; ++i) {
    HttpResponse response = get("/ui/events", "of-" + std::to_string(i));
    refused += response.status == 503 ? 1 : 0;
    if (response.feed != nullptr) feeds.push_back(std::move(response.feed));
  }
  EXPECT_EQ(feeds.size(), 64u);
  EXPECT_EQ(refused, 36);
  EXPECT_EQ(port_.facts().busy_total, 36);
  EXPECT_EQ(port_.facts().followers, 64);
  feeds.pop_back();
  EXPECT_EQ(port_.facts().followers, 63);
  EXPECT_EQ(port_.facts().unknown_total, 0);
  get("/ui/state", "made-up"), get("/ui/main.js", "made-up");
  EXPECT_EQ(port_.facts().unknown_total, 1) << "the page's own files are anybody's";
  EXPECT_EQ(get("/ui/state", "token-a").status, 200) << "one has gone";
}

TEST_F(PagePortTest, APartyWithManyRightsDoesNotShutThePageForOthers) {
  const std::vector<std::shared_ptr<HttpFeed>> feeds = crowd("accounts of team-x", 81);
  EXPECT_EQ(feeds.size(), 64u) << "it holds all there is, and no more";
  const HttpResponse a = get("/ui/events", "token-a"), b = get("/ui/events", "token-b");
  ASSERT_NE(a.feed, nullptr);
  ASSERT_NE(b.feed, nullptr);
  std::string out;
  for (const auto& feed : feeds) feed->next(out);
  EXPECT_EQ(std::ranges::count_if(feeds, [](const auto& feed) { return feed->over(); }), 2)
      << "it makes room, one stream for each";
  EXPECT_TRUE(feeds.at(0)->over() && feeds.at(1)->over()) << "the oldest";
  EXPECT_EQ(crowd("accounts of team-x", 81).size(), 62u) << "it takes nothing back from them";
  a.feed->next(out), b.feed->next(out);
  EXPECT_FALSE(a.feed->over() || b.feed->over());
}

TEST_F(PagePortTest, WhoMayListAllPodsIsServedHoweverManyParties) {
  std::vector<std::shared_ptr<HttpFeed>> feeds;
  for (int i = 0; i < 64; ++i) feeds.push_back(crowd("team-" + std::to_string(i), 1).at(0));
  EXPECT_EQ(get("/ui/events", "token-a").status, 503) << "no party holds more than another";
  ViewerRights all;
  all.grant("pods");
  admit("operator", all);
  EXPECT_NE(get("/ui/events", "operator").feed, nullptr);
}

TEST_F(PagePortTest, SaysSoWhileTheClusterHasNotBeenRead) {
  known_ = false;
  EXPECT_EQ(get("/ui/state", "token-a").status, 503);
  EXPECT_EQ(get("/ui/why", "token-a", "subject=node/n1").status, 503);
}

// Whatever a namespace or a pod is called: JSON, and no byte of it that would be more than text.
TEST_F(PagePortTest, AHostileNameIsText) {
  for (const std::string& name :
       {std::string("<img src=x onerror=alert(1)>"), std::string("\x1b[31mred"),
        std::string("\u202eevil"), std::string(253, 'n'), std::string("\"}],\"nodes\":{\"n9\":{}"),
        std::string("a\n\nevent: again\ndata: {}")}) {
    Node node = *cluster_.nodes().find("n1");
    node.meta.name = node.meta.uid = name;
    cluster_.upsert(std::move(node), now_of_day_);
  }
  port_.changed();
  const HttpResponse response = get("/ui/state", "token-a");
  const json state = json::parse(response.body);
  EXPECT_EQ(state["nodes"].size(), 8u) << state["nodes"];
  EXPECT_THAT(response.body, Not(HasSubstr("\x1b")));
  EXPECT_THAT(response.body, Not(HasSubstr("\n"))) << "an event is what has no line of its own";
  EXPECT_EQ(response.content_type, "application/json; charset=utf-8");
  EXPECT_THAT(response.head, HasSubstr("nosniff"));
}

}  // namespace
}  // namespace berth
