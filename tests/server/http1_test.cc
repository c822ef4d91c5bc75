// SPDX-License-Identifier: Apache-2.0
// HTTP/1.1 as bytes in and bytes out: what is answered, what is refused, and that it makes no
// difference in which pieces a request comes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/server/http_feed.h"
#include "tests/server/served.h"

namespace berth {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class Http1Test : public ::testing::Test {
 protected:
  // All that is sent to a client that says this and takes what it is sent.
  std::string answers(const std::string& said, std::size_t piece = 1 << 20) {
    protocol_ = speak_http1(served_.service);
    std::string out, all;
    for (std::size_t at = 0; at < said.size(); at += piece) {
      protocol_->take(std::string_view(said).substr(at, piece), 0, out);
      while (!out.empty()) {
        all += std::exchange(out, {});
        protocol_->resume(0, out);
      }
    }
    return all;
  }
  bool ended() const { return protocol_->over(); }

  Served served_;
  std::unique_ptr<HttpProtocol> protocol_;
};

TEST_F(Http1Test, RequestsThatComeTogetherAreAnsweredInTheirOrder) {
  const std::string said =
      "GET /a?x=1 HTTP/1.1\r\nHost: h\r\n\r\n"
      "POST /b HTTP/1.1\r\nHost: h\r\nContent-Type: text/x\r\nContent-Length: 5\r\n\r\nhello"
      "HEAD /c HTTP/1.1\r\nHost: h\r\n\r\n"
      "POST /d HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n";
  const auto answer = [](const std::string& body) {
    return "HTTP/1.1 200 OK\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: " +
           std::to_string(body.size()) + "\r\n\r\n";
  };
  const std::string a = "GET /a x=1  ", b = "POST /b  text/x hello", c = "HEAD /c   ",
                    d = "POST /d   ";
  const std::string expected = answer(a) + a + answer(b) + b + answer(c) + answer(d) + d;
  for (std::size_t piece = 1; piece <= said.size(); ++piece)
    ASSERT_EQ(answers(said, piece), expected) << "in pieces of " << piece;
  EXPECT_FALSE(ended());
  EXPECT_EQ(protocol_->busy_since_ms(), std::nullopt);
}

TEST_F(Http1Test, WhatIsRefusedIsToldWhyAndEndsTheConnection) {
  const std::string host = "Host: h\r\n";
  struct Case {
    std::string said;
    const char* status;
    const char* why;
  };
  const Case cases[] = {
      {"nonsense\r\n\r\n", "400 Bad Request", "not an HTTP request"},
      {"GET / HTTP/1.1\r\n\r\n", "400 Bad Request", "not an HTTP request"},
      {"GET / HTTP/1.1\r\n" + host + "Content-Length: 1\r\n\r\nx", "400 Bad Request", ""},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nx",
       "400 Bad Request", ""},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: -1\r\n\r\n", "400 Bad Request", ""},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
       "400 Bad Request", ""},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 1\r\nTransfer-Encoding: xchunked\r\n\r\nx",
       "400 Bad Request", ""},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 1\r\nTransfer-Encoding: identity\r\n\r\nx",
       "400 Bad Request", ""},
      {"POST / HTTP/1.1\r\n" + host +
           "Content-Length: 1\r\nTransfer-Encoding: chunked, identity\r\n\r\nx",
       "400 Bad Request", ""},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip\r\n\r\n", "501 Not Implemented",
       "no other Transfer-Encoding"},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip, chunked\r\n\r\n",
       "501 Not Implemented", ""},
      {"GET / HTTP/1.1\r\n" + host + "Host: other\r\n\r\n", "400 Bad Request", ""},
      {"GET / HTTP/1.0\r\n" + host + "Host: other\r\n\r\n", "400 Bad Request", ""},
      {"PUT / HTTP/1.1\r\n" + host + "Content-Length: 1\r\n\r\nx", "405 Method Not Allowed",
       "GET, HEAD or POST"},
      {"POST / HTTP/1.1\r\n" + host + "\r\n", "411 Length Required", "needs a Content-Length"},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n", "411 Length Required",
       "needs a Content-Length"},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 101\r\n\r\n", "413 Payload Too Large",
       "a body may have 100 bytes"},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 99999999999999999999\r\n\r\n", "400", ""},
      {"GET / HTTP/1.1\r\n" + host + "X: " + std::string(500, 'y') + "\r\n\r\n",
       "431 Request Header Fields Too Large", "a request's head may have 400 bytes"},
  };
  for (const Case& one : cases)
    for (const std::size_t piece : {1u, 7u, 1000u}) {
      const std::string got = answers(one.said + "GET /more HTTP/1.1\r\n" + host + "\r\n", piece);
      EXPECT_THAT(got, StartsWith(std::string("HTTP/1.1 ") + one.status)) << one.said;
      EXPECT_THAT(got, HasSubstr("connection: close\r\n")) << one.said;
      EXPECT_THAT(got, HasSubstr(one.why)) << one.said;
      EXPECT_THAT(got, Not(HasSubstr("/more"))) << one.said;
      EXPECT_TRUE(ended()) << one.said;
    }
}

TEST_F(Http1Test, WhoAsksForTheLastTimeIsAnsweredAndNoMore) {
  const std::string more = "GET /more HTTP/1.1\r\nHost: h\r\n\r\n";
  for (const char* said : {"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
                           "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"}) {
    EXPECT_THAT(answers(said + more), HasSubstr("connection: close\r\n"));
    EXPECT_TRUE(ended());
  }
  served_.draining = true;
  EXPECT_THAT(answers(more + more), EndsWith("\r\nconnection: close\r\n\r\nGET /more   "));
  EXPECT_TRUE(ended());
}

TEST_F(Http1Test, WhoWaitsToBeToldToGoOnIsTold) {
  const std::string head =
      "POST /b HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: ";
  EXPECT_EQ(answers(head + "2\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_THAT(answers(head + "2\r\n\r\nok"), EndsWith("POST /b   ok"));
  EXPECT_THAT(answers(head + "101\r\n\r\n"), StartsWith("HTTP/1.1 413"));
}

TEST_F(Http1Test, WhoDoesNotTakeItsAnswersGetsNoMoreOfThem) {
  served_.answer_bytes = 50'000;
  protocol_ = speak_http1(served_.service);
  std::string said, out;
  for (int i = 0; i < 10; ++i) said += "GET /large HTTP/1.1\r\nHost: h\r\n\r\n";
  protocol_->take(said, 0, out);
  EXPECT_EQ(served_.calls, 2) << "enough to send";
  for (int taken = 2; taken < 10; taken += 2) {
    out.clear();
    protocol_->resume(0, out);
    EXPECT_EQ(served_.calls, taken + 2);
  }
  out.clear();
  protocol_->resume(0, out);
  EXPECT_THAT(out, IsEmpty());
}

TEST_F(Http1Test, ItKnowsSinceWhenSomebodyWaits) {
  protocol_ = speak_http1(served_.service);
  std::string out;
  EXPECT_EQ(protocol_->busy_since_ms(), std::nullopt);
  protocol_->take("POST /b HTTP/1.1\r\nHost: h\r\nContent-", 7, out);
  protocol_->take("Length: 3\r\n\r\n", 8, out);
  protocol_->take("ab", 9, out);
  EXPECT_EQ(protocol_->busy_since_ms(), 7);
  protocol_->take("c", 10, out);
  EXPECT_EQ(protocol_->busy_since_ms(), std::nullopt);
}

TEST_F(Http1Test, WhoStandsStillInARequestIsToldSoAndOnlyThen) {
  const std::string head = "POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n";
  for (const std::string& begun : {head.substr(0, 20), head, head + "a"}) {
    protocol_ = speak_http1(served_.service);
    std::string out;
    protocol_->take(begun, 1000, out);
    protocol_->resume(4000, out);
    EXPECT_EQ(out, "");
    protocol_->resume(4001, out);
    EXPECT_THAT(out, StartsWith("HTTP/1.1 408 Request Timeout")) << begun;
    EXPECT_TRUE(ended());
    EXPECT_TRUE(served_.room.empty());
  }
  protocol_ = speak_http1(served_.service);
  std::string out;
  protocol_->resume(100'000, out);  // between requests it may
  protocol_->take(head + "a", 100'000, out);
  protocol_->take("b", 103'000, out);
  protocol_->resume(105'000, out);
  protocol_->take("c", 106'000, out);
  EXPECT_THAT(out, EndsWith("POST /b   abc"));
}

TEST_F(Http1Test, AnnouncedLengthsTakeNoRoomAndWhoIsOldestMakesIt) {
  const auto post = [](int length) {
    return "POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n";
  };
  const auto slow = speak_http1(served_.service), second = speak_http1(served_.service),
             quick = speak_http1(served_.service);
  std::string to_slow, to_second, to_quick;
  slow->take(post(100) + "s", 0, to_slow);
  second->take(post(100) + std::string(80, 's'), 0, to_second);
  EXPECT_EQ(to_slow + to_second, "");
  quick->take(post(2) + "qu", 0, to_quick);  // the third, where two may be
  EXPECT_THAT(to_quick, EndsWith("POST /b   qu"));
  slow->resume(0, to_slow);
  EXPECT_THAT(to_slow, StartsWith("HTTP/1.1 429"));
  EXPECT_TRUE(slow->over());
  to_quick.clear();
  quick->take(post(90) + std::string(90, 'q'), 0, to_quick);  // of 150 bytes, 80 are held
  EXPECT_THAT(to_quick, StartsWith("HTTP/1.1 200"));
  second->take("s", 0, to_second);
  EXPECT_THAT(to_second, StartsWith("HTTP/1.1 429"));
  EXPECT_TRUE(served_.room.empty());
}

TEST_F(Http1Test, ItKnowsWhenItAnsweredLast) {
  protocol_ = speak_http1(served_.service);
  std::string out;
  protocol_->take("GET / HT", 5, out);
  EXPECT_EQ(protocol_->answered_ms(), std::nullopt);
  protocol_->take("TP/1.1\r\nHost: h\r\n\r\nGET", 6, out);
  protocol_->resume(7, out);
  EXPECT_EQ(protocol_->answered_ms(), 6);
}

// Says a word each time it is asked, for so many times.
class Words final : public HttpFeed {
 public:
  explicit Words(int count) : left_(count) {}
  void next(std::string& out) override {
    if (left_ > 0) out += std::to_string(left_--) + " ";
  }

 private:
  int left_;
};

TEST_F(Http1Test, AFeedGoesOnUntilItsConnectionEnds) {
  served_.service.handler = [](const HttpCall&) {
    return HttpResponse{.content_type = "text/event-stream",
                        .head = "cache-control: no-store\r\n",
                        .feed = std::make_shared<Words>(3)};
  };
  protocol_ = speak_http1(served_.service);
  std::string out;
  protocol_->take("GET /events HTTP/1.1\r\nHost: h\r\n\r\n", 1000, out);
  EXPECT_EQ(out,
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
            "cache-control: no-store\r\nconnection: close\r\n\r\n3 ");
  out.clear();
  for (int i = 1; i <= 5; ++i) protocol_->resume(1000 + 1000u * static_cast<unsigned>(i), out);
  EXPECT_EQ(out, "2 1 ") << "and nothing where there is nothing yet";
  EXPECT_EQ(protocol_->answered_ms(), 6000u) << "who takes everything is not idle";
  EXPECT_FALSE(ended());
  protocol_->take("GET /more HTTP/1.1\r\nHost: h\r\n\r\n", 7000, out);
  EXPECT_EQ(out, "2 1 ") << "what else it says is not heard";
  served_.draining = true;
  protocol_->resume(8000, out);
  EXPECT_TRUE(ended());
}

// Says one word, and that this is all.
class LastWord final : public HttpFeed {
 public:
  void next(std::string& out) override {
    out += "bye";
    over_ = true;
  }
  bool over() const override { return over_; }

 private:
  bool over_ = false;
};

TEST_F(Http1Test, AFeedThatIsOverEndsItsConnectionWithWhatItSaidLast) {
  served_.service.handler = [](const HttpCall& call) {
    return HttpResponse{.head = "x-token: " + std::string(call.authorization) + "\r\n",
                        .feed = std::make_shared<LastWord>()};
  };
  const std::string said =
      answers("GET /events HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer x\r\n\r\n");
  EXPECT_THAT(said, HasSubstr("x-token: Bearer x\r\n"));
  EXPECT_THAT(said, EndsWith("\r\n\r\nbye"));
  EXPECT_TRUE(ended());
}

TEST_F(Http1Test, OfAFeedHEADIsToldTheHeadAlone) {
  served_.service.handler = [](const HttpCall&) {
    return HttpResponse{.feed = std::make_shared<Words>(3)};
  };
  const std::string all = answers("HEAD /events HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(all, EndsWith("connection: close\r\n\r\n"));
  EXPECT_TRUE(ended());
}

TEST_F(Http1Test, WhatACallBringsAlongIsInIt) {
  std::string heard;
  served_.service.handler = [&](const HttpCall& call) {
    for (const std::string_view part :
         {call.host, call.accept_encoding, call.if_none_match, call.last_event_id})
      heard.append(part).append("|");
    return HttpResponse{.status = 304, .head = "etag: \"a\"\r\n"};
  };
  const std::string all = answers(
      "GET / HTTP/1.1\r\nHost: h:1\r\nAccept-Encoding: gzip, br\r\nIf-None-Match: \"a\"\r\n"
      "Last-Event-ID: x-7\r\n\r\n");
  EXPECT_EQ(heard, "h:1|gzip, br|\"a\"|x-7|");
  EXPECT_THAT(all, HasSubstr("HTTP/1.1 304 Not Modified\r\n"));
  EXPECT_THAT(all, Not(HasSubstr("content-length"))) << "that would be the page's own";
  EXPECT_THAT(all, HasSubstr("etag: \"a\"\r\n"));
}

// A handler that does not know yet what to answer.
class LateAnswerTest : public Http1Test {
 protected:
  LateAnswerTest() {
    served_.service.handler = [this](const HttpCall& call) {
      ++served_.calls;
      HttpResponse response;
      response.status = known_ ? 200 : 503;
      response.body = std::string(call.path);
      response.again = !known_;
      return response;
    };
    protocol_ = speak_http1(served_.service);
  }
  std::string said(const std::string& bytes, std::uint64_t now_ms) {
    std::string out;
    protocol_->take(bytes, now_ms, out);
    return out;
  }

  bool known_ = false;
};

TEST_F(LateAnswerTest, IsAskedForAgainAndSentOnceItIsKnown) {
  EXPECT_THAT(said("GET /a HTTP/1.1\r\nHost: h\r\n\r\n", 0), IsEmpty());
  EXPECT_THAT(said("", 250), IsEmpty());
  EXPECT_TRUE(protocol_->busy_since_ms());
  known_ = true;
  const std::string out = said("", 500);
  EXPECT_THAT(out, StartsWith("HTTP/1.1 200 OK"));
  EXPECT_THAT(out, EndsWith("/a"));
  EXPECT_EQ(served_.calls, 3);
  EXPECT_FALSE(protocol_->busy_since_ms());
  EXPECT_THAT(said("GET /b HTTP/1.1\r\nHost: h\r\n\r\n", 600), EndsWith("/b"));
}

TEST_F(LateAnswerTest, ThatDoesNotComeIsNotWaitedForWithoutEnd) {
  EXPECT_THAT(said("GET /a HTTP/1.1\r\nHost: h\r\n\r\n", 0), IsEmpty());
  EXPECT_THAT(said("", 3000), IsEmpty());
  EXPECT_THAT(said("", 3001), StartsWith("HTTP/1.1 503"));
  EXPECT_FALSE(ended()) << "and the next request may come";
}

TEST_F(LateAnswerTest, KeepsTheRequestsAfterItInTheirOrderAndWithinBounds) {
  EXPECT_THAT(said("GET /a HTTP/1.1\r\nHost: h\r\n\r\nGET /b HT", 0), IsEmpty());
  EXPECT_THAT(said("TP/1.1\r\nHost: h\r\n\r\n", 10), IsEmpty());
  known_ = true;
  const std::string out = said("", 20);
  EXPECT_LT(out.find("/a"), out.find("/b"));
  known_ = false;
  EXPECT_THAT(said("GET /c HTTP/1.1\r\nHost: h\r\n\r\n", 30), IsEmpty());
  EXPECT_THAT(said(std::string(70'000, 'x'), 40), StartsWith("HTTP/1.1 503"));
  EXPECT_TRUE(ended());
}

}  // namespace
}  // namespace berth
