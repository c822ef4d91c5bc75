// SPDX-License-Identifier: Apache-2.0
// The page over HTTP: who is answered, what is compressed and not sent twice, and what whoever
// follows it is told.
#include "controller/server/page_site.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <nlohmann/json.hpp>

#include "controller/core/gzip.h"
#include "controller/server/live_page.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

std::string unzipped(const std::string& bytes) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
  std::string out(4 << 20, '\0'), in = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

// The value of a line of a response's head; empty: it has none.
std::string line_of(const HttpResponse& response, const std::string& name) {
  const std::size_t at = response.head.find(name + ": ");
  if (at == std::string::npos) return {};
  const std::size_t from = at + name.size() + 2;
  return response.head.substr(from, response.head.find("\r\n", from) - from);
}

class PageSiteTest : public ::testing::Test {
 protected:
  HttpResponse get(std::string_view path, std::string_view query = {}, HttpCall call = {}) {
    call.method = "GET";
    call.path = path;
    call.query = query;
    if (call.host.empty()) call.host = "127.0.0.1:8765";
    return site_.answer(call);
  }
  void set(const std::string& node, const std::string& text) {
    state_.things["nodes"][node] = text;
    live_.changed();
    now_ += 10s;
  }
  std::string told(HttpFeed& feed) {
    std::string out;
    feed.next(out);
    return out;
  }

  std::chrono::nanoseconds now_{0};
  bool known_ = true;
  int computed_ = 0;
  std::vector<LivePage::Moment> waits_;  // after which followers were to be asked
  PageState state_{.things = {{"nodes", {{"n1", "1"}}}}, .values = {}};
  LivePage live_{{.state = [this]() -> std::optional<PageState> {
                    ++computed_;
                    return known_ ? std::optional(state_) : std::nullopt;
                  },
                  .now = [this] { return now_; },
                  .era = "era",
                  .wake = [this](LivePage::Moment wait) { waits_.push_back(wait); }}};
  std::string asked_;
  PageSite site_{{.document = [this] { return live_.document(); },
                  .follow = [this](std::string_view since) { return live_.follow(since); },
                  .why = [this](const std::string& subject) -> Result<std::string> {
                    asked_ = subject;
                    if (subject != "pod/a/b c")
                      return Error{.kind = ErrorKind::kNotFound, .message = "there is none"};
                    return std::string("{}");
                  }}};
};

TEST_F(PageSiteTest, AnswersNobodyWhoCallsItByAForeignName) {
  for (const char* host :
       {"evil.example", "evil.example:8765", "127.0.0.1.evil.example", "localhost.evil.example:80",
        "[::2]:8765", "10.0.0.1", "[::1", "0.0.0.0"}) {
    const HttpResponse response = get("/ui/state", "", {.host = host});
    EXPECT_EQ(response.status, 421) << host;
  }
  for (const char* host : {"127.0.0.1", "127.0.0.1:1", "localhost:8765", "localhost", "[::1]:8765"})
    EXPECT_EQ(get("/ui/state", "", {.host = host}).status, 200) << host;
  EXPECT_EQ(site_.answer({.method = "GET", .path = "/ui/"}).status, 421) << "no Host at all";
}

TEST_F(PageSiteTest, SendsItsFilesOnceAndSmall) {
  for (const char* path : {"/ui/", "/ui/page.css", "/ui/main.js", "/ui/mosaic.js"}) {
    const HttpResponse plain = get(path), small = get(path, "", {.accept_encoding = "br, gzip"});
    EXPECT_EQ(plain.status, 200) << path;
    EXPECT_EQ(line_of(plain, "content-encoding"), "") << path;
    EXPECT_EQ(line_of(small, "content-encoding"), "gzip") << path;
    EXPECT_LT(small.body.size(), plain.body.size()) << path;
    EXPECT_EQ(unzipped(small.body), plain.body) << path;
    const std::string etag = line_of(plain, "etag");
    const HttpResponse again = get(path, "", {.if_none_match = etag});
    EXPECT_EQ(again.status, 304) << path;
    EXPECT_THAT(again.body, IsEmpty()) << path;
    EXPECT_EQ(get(path, "", {.if_none_match = "\"other\""}).status, 200) << path;
  }
  EXPECT_EQ(get("/ui/none.js").status, 404);
  EXPECT_EQ(get("/ui/../etc/passwd").status, 404);
  EXPECT_EQ(line_of(get("/"), "location"), "/ui/");
}

TEST_F(PageSiteTest, ForbidsWhatAPageCouldBeMadeToDo) {
  for (const char* path : {"/ui/", "/ui/main.js", "/ui/state", "/ui/why", "/ui/events", "/none"}) {
    const HttpResponse response = get(path);
    EXPECT_THAT(line_of(response, "content-security-policy"), StartsWith("default-src 'self';"))
        << path;
    EXPECT_EQ(line_of(response, "x-content-type-options"), "nosniff") << path;
    EXPECT_EQ(line_of(response, "cross-origin-resource-policy"), "same-origin") << path;
  }
}

TEST_F(PageSiteTest, TheStateIsTaggedAndMadeOnceForAll) {
  const HttpResponse first = get("/ui/state");
  EXPECT_EQ(json::parse(first.body)["nodes"], json::parse(R"({"n1": 1})"));
  EXPECT_EQ(json::parse(first.body)["id"], "era-1");
  const std::string etag = line_of(first, "etag");
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(get("/ui/state", "", {.if_none_match = etag}).status, 304);
  EXPECT_EQ(computed_, 1) << "nothing has changed";
  set("n1", "2");
  const HttpResponse next =
      get("/ui/state", "", {.accept_encoding = "gzip", .if_none_match = etag});
  EXPECT_EQ(json::parse(unzipped(next.body))["nodes"], json::parse(R"({"n1": 2})"));
}

TEST_F(PageSiteTest, SaysSoWhileNothingIsKnown) {
  known_ = false;
  const HttpResponse response = get("/ui/state");
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(line_of(response, "retry-after"), "1");
  const std::shared_ptr<HttpFeed> feed = get("/ui/events").feed;
  EXPECT_THAT(told(*feed), Not(HasSubstr("data"))) << "and whoever follows is told nothing yet";
}

TEST_F(PageSiteTest, WhoeverFollowsIsToldWhatChangedAndWhereHeIs) {
  get("/ui/state");
  const std::shared_ptr<HttpFeed> feed = get("/ui/events", "since=era-1").feed;
  ASSERT_NE(feed, nullptr);
  EXPECT_EQ(told(*feed), "retry: 2000\n\n") << "nothing has changed";
  set("n2", "1");
  EXPECT_EQ(told(*feed), "id: era-2\ndata: {\"set\":{\"nodes\":{\"n2\":1}}}\n\n");
  EXPECT_THAT(told(*feed), IsEmpty());
}

TEST_F(PageSiteTest, WhoWasAwayIsToldWhatHeMissed) {
  get("/ui/state");
  set("n2", "1"), get("/ui/state");
  set("n3", "1"), get("/ui/state");
  // A browser says where it was, whatever its page's address says.
  HttpCall call{.last_event_id = "era-2"};
  EXPECT_EQ(told(*get("/ui/events", "since=era-1", call).feed),
            "retry: 2000\n\nid: era-3\ndata: {\"set\":{\"nodes\":{\"n3\":1}}}\n\n");
  for (const char* since : {"since=older-7", "since=", "", "since=era-9", "since=%0A%0Adata:x"})
    EXPECT_EQ(told(*get("/ui/events", since).feed),
              "retry: 2000\n\nevent: again\nid: era-3\ndata: {}\n\n")
        << since;
}

TEST_F(PageSiteTest, IsNotComputedMoreOftenThanPeopleCanSee) {
  get("/ui/state");
  std::vector<std::shared_ptr<HttpFeed>> feeds;
  for (int i = 0; i < 500; ++i) feeds.push_back(get("/ui/events", "since=era-1").feed);
  for (int round = 0; round < 10; ++round) {
    state_.things["nodes"]["n1"] = std::to_string(round + 5);
    live_.changed();
    now_ += 1ms;
    for (const auto& feed : feeds) told(*feed);
  }
  EXPECT_EQ(computed_, 1) << "one after the other within a fifth of a second";
  now_ += 1s;
  for (const auto& feed : feeds) EXPECT_THAT(told(*feed), HasSubstr("\"n1\":14"));
  EXPECT_EQ(computed_, 2) << "for all of them at once";
  now_ += 1s;
  for (const auto& feed : feeds) told(*feed);
  EXPECT_EQ(computed_, 2) << "nothing has changed";
  now_ += 1min;
  told(*feeds.front());
  EXPECT_EQ(computed_, 3) << "but time goes by";
}

TEST_F(PageSiteTest, WhoFollowsIsAskedAgainAsSoonAsTheNewsMayBeTold) {
  live_.changed();
  EXPECT_THAT(waits_, IsEmpty()) << "nobody has been told anything yet";
  get("/ui/state");
  const std::shared_ptr<HttpFeed> feed = get("/ui/events", "since=era-1").feed;
  told(*feed);
  now_ += 150ms;
  live_.changed();
  EXPECT_THAT(waits_, ElementsAre(50ms)) << "a fifth of a second after the last time";
  live_.changed();
  EXPECT_THAT(waits_, SizeIs(1)) << "once for all that comes until then";
  now_ += 50ms;
  told(*feed);
  EXPECT_EQ(computed_, 2);
  now_ += 1min;
  live_.changed();
  ASSERT_THAT(waits_, SizeIs(2));
  EXPECT_GT(waits_.back(), 0ms) << "what comes together is told together";
  EXPECT_LE(waits_.back(), 50ms) << "and no later than people see";
}

TEST_F(PageSiteTest, HEADStartsNoFeed) {
  EXPECT_EQ(site_.answer({.method = "HEAD", .path = "/ui/events", .host = "localhost"}).feed,
            nullptr);
}

TEST_F(PageSiteTest, WhyTakesASubjectAsItIsTyped) {
  EXPECT_EQ(get("/ui/why", "subject=pod%2Fa%2Fb%20c").body, "{}");
  EXPECT_EQ(asked_, "pod/a/b c");
  EXPECT_EQ(get("/ui/why", "subject=node%2Fn1").status, 404);
  EXPECT_EQ(get("/ui/why", "x=1&subject=%zz%").status, 404);
  EXPECT_EQ(asked_, "%zz%") << "what is no number stays as it is";
}

TEST_F(PageSiteTest, WhatDoesNotChangeIsNotFollowed) {
  const PageDocument still{.id = "still", .json = "{}"};
  PageSite site({.document = [&] { return &still; }, .follow = nullptr, .why = nullptr});
  const auto status = [&](std::string_view path) {
    return site.answer({.method = "GET", .path = path, .host = "localhost"}).status;
  };
  EXPECT_EQ(status("/ui/state"), 200);
  EXPECT_EQ(status("/ui/events"), 404);
  EXPECT_EQ(status("/ui/why"), 404);
}

TEST(Gzip, IsForThoseWhoTakeIt) {
  for (const char* takes : {"gzip", "gzip, deflate, br", "br;q=1.0, gzip;q=0.8", "deflate,gzip"})
    EXPECT_TRUE(accepts_gzip(takes)) << takes;
  for (const char* refuses : {"", "br", "identity", "gzip;q=0", "gzip;q=0, br"})
    EXPECT_FALSE(accepts_gzip(refuses)) << refuses;
  EXPECT_EQ(unzipped(gzip("")), "");
  const std::string much(1 << 20, 'x');
  EXPECT_EQ(unzipped(gzip(much)), much);
}

}  // namespace
}  // namespace berth
