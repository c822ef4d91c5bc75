// SPDX-License-Identifier: Apache-2.0
#include "controller/client/watch_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "controller/client/api_client.h"
#include "controller/client/watch_frames.h"
#include "tests/client/fake_transport.h"
#include "tests/io/fake_loop.h"
#include "tests/io/recording_log.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> frames_of(const std::vector<std::string>& pieces, bool& fits,
                                   std::size_t limit) {
  WatchFrames frames(limit);
  std::vector<std::string> lines;
  fits = true;
  for (const std::string& piece : pieces) {
    fits = fits && frames.feed(piece, [&](std::string& line) {
      lines.push_back(line);
      line += "the reader may grow it";
      return true;
    });
  }
  return lines;
}

TEST(WatchFrames, FindsTheSameLinesHoweverTheyAreCut) {
  const std::string stream = "{\"a\":1}\n\n{\"b\":\"\\n\"}\r\n{\"c\":3}\npartial";
  for (std::size_t i = 0; i <= stream.size(); ++i) {
    for (std::size_t j = i; j <= stream.size(); ++j) {
      bool fits = false;
      const auto lines =
          frames_of({stream.substr(0, i), stream.substr(i, j - i), stream.substr(j)}, fits, 64);
      ASSERT_TRUE(fits);
      ASSERT_THAT(lines, ElementsAre("{\"a\":1}", "{\"b\":\"\\n\"}\r", "{\"c\":3}"));
    }
  }
}

TEST(WatchFrames, ALineMayBeAsLongAsTheLimitAndNoLonger) {
  bool fits = false;
  EXPECT_THAT(frames_of({"12345678\n"}, fits, 8), ElementsAre("12345678"));
  EXPECT_TRUE(fits);
  EXPECT_TRUE(frames_of({"12345", "6789"}, fits, 8).empty());
  EXPECT_FALSE(fits);
  EXPECT_THAT(frames_of({"1\n123456789\n2\n"}, fits, 8), ElementsAre("1"));
  EXPECT_FALSE(fits);
}

std::string length_of(std::size_t bytes) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(bytes >> shift & 0xff);
  return out;
}

TEST(WatchFrames, FindsTheSameMessagesHoweverTheyAreCut) {
  const std::string first = "one\n\n", third = std::string("k8s\0", 4);
  const std::string stream = length_of(5) + first + length_of(0) + length_of(4) + third;
  for (std::size_t i = 0; i <= stream.size(); ++i) {
    for (std::size_t j = i; j <= stream.size(); ++j) {
      WatchFrames frames(5);
      frames.set_encoding(Encoding::kProtobuf);
      std::vector<std::string> messages;
      for (const std::string& piece :
           {stream.substr(0, i), stream.substr(i, j - i), stream.substr(j)}) {
        ASSERT_TRUE(frames.feed(piece, [&](std::string& message) {
          messages.push_back(message);
          return true;
        }));
      }
      ASSERT_THAT(messages, ElementsAre(first, "", third));
      ASSERT_EQ(frames.partial_bytes(), 0u);
    }
  }
}

TEST(WatchFrames, AMessageIsRefusedByItsLengthBeforeItHasCome) {
  WatchFrames frames(5);
  frames.set_encoding(Encoding::kProtobuf);
  const auto none = [](std::string&) { return true; };
  EXPECT_TRUE(frames.feed("\xff\xff", none));
  EXPECT_EQ(frames.partial_bytes(), 2u) << "a stream that ends here has broken off";
  EXPECT_FALSE(frames.feed("\xff\xff", none));
}

// Records the calls of a watch's handler.
class RecordingHandler : public WatchHandler {
 public:
  void on_open() override { heard.push_back("open"); }
  void on_event(std::string& event, Encoding encoding) override {
    heard.push_back(encoding == Encoding::kProtobuf ? "protobuf " + event : event);
    if (event == stop_at) stop.request_stop();
  }
  void on_end(WatchEnd end) override {
    heard.push_back(std::string("end ") + to_string(end.reason));
    last = std::move(end);
  }
  std::vector<std::string> heard;
  std::string stop_at;
  std::stop_source stop;
  WatchEnd last;
};

class WatchStreamTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WatchOptions watch{.resource_version = "7"};
    client_.start_watch<Pod>(watch, handler_, handler_->stop.get_token());
    exchange_ = transport_.open("GET /api/v1/pods");
    ASSERT_NE(exchange_, nullptr);
  }
  FakeLoop loop_;
  FakeTransport transport_{loop_};
  RecordingLog log_;
  ApiClient client_{loop_, transport_, log_, {"0", "t"}};
  std::shared_ptr<RecordingHandler> handler_ = std::make_shared<RecordingHandler>();
  std::shared_ptr<FakeExchange> exchange_;
};

TEST_F(WatchStreamTest, AsksForTheStreamOnItsOwnLaneWithoutADeadline) {
  const HttpRequest& sent = exchange_->request;
  EXPECT_EQ(
      sent.target,
      "/api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=300");
  EXPECT_EQ(sent.lane, Lane::kWatch);
  EXPECT_EQ(sent.deadline, 0s);
  EXPECT_EQ(sent.idle_timeout, 320s);
  EXPECT_EQ(sent.max_body_bytes, 0u);
}

TEST_F(WatchStreamTest, HandsOutLinesThenTheServersEnd) {
  exchange_->head(200);
  exchange_->bytes("{\"type\":\"ADD");
  exchange_->bytes("ED\"}\n{}\n");
  exchange_->end();
  loop_.run_ready();
  EXPECT_THAT(handler_->heard, ElementsAre("open", "{\"type\":\"ADDED\"}", "{}", "end Closed"));
  EXPECT_EQ(handler_->last.events, 2u);
}

TEST_F(WatchStreamTest, AsksForProtobufAndTakesWhatComes) {
  std::string accept;
  for (const HttpHeader& header : exchange_->request.headers)
    if (header.name == "Accept") accept = header.value;
  EXPECT_EQ(accept, "application/vnd.kubernetes.protobuf,application/json");
  exchange_->head(200, {{"content-type", "application/vnd.kubernetes.protobuf;stream=watch"}});
  exchange_->bytes(length_of(3) + "one" + length_of(3));
  exchange_->bytes("two");
  exchange_->end();
  loop_.run_ready();
  EXPECT_THAT(handler_->heard, ElementsAre("open", "protobuf one", "protobuf two", "end Closed"));
}

TEST_F(WatchStreamTest, ARefusalIsItsStatus) {
  exchange_->head(429, {{"Retry-After", "3"}});
  exchange_->bytes(R"({"kind":"Status","status":"Failure","reason":"TooMany)");
  exchange_->bytes(R"(Requests","message":"slow down","code":429})");
  exchange_->end();
  loop_.run_ready();
  EXPECT_THAT(handler_->heard, ElementsAre("end Refused"));
  EXPECT_EQ(handler_->last.error.kind, ErrorKind::kThrottled);
  EXPECT_EQ(handler_->last.error.retry_after, 3s);
}

TEST_F(WatchStreamTest, GoneIsTold) {
  exchange_->head(410);
  exchange_->bytes(
      R"({"kind":"Status","status":"Failure","reason":"Expired","message":"too old","code":410})");
  exchange_->end();
  loop_.run_ready();
  EXPECT_EQ(handler_->last.error.kind, ErrorKind::kGone);
}

TEST_F(WatchStreamTest, SilenceEndsItAsBroken) {
  exchange_->head(200);
  loop_.run_for(200s);
  exchange_->bytes("{}\n");
  loop_.run_for(300s);
  EXPECT_THAT(handler_->heard, ElementsAre("open", "{}"));
  loop_.run_for(30s);
  EXPECT_THAT(handler_->heard, ElementsAre("open", "{}", "end Broken"));
  EXPECT_EQ(handler_->last.error.kind, ErrorKind::kTimeout);
}

TEST_F(WatchStreamTest, AnEndInsideAnEventIsBroken) {
  exchange_->head(200);
  exchange_->bytes("{\"type\":");
  exchange_->end();
  loop_.run_ready();
  EXPECT_THAT(handler_->heard, ElementsAre("open", "end Broken"));
  EXPECT_THAT(handler_->last.error.message, HasSubstr("inside an event"));
}

TEST_F(WatchStreamTest, AnEventOverTheLimitClosesTheStream) {
  exchange_->head(200);
  exchange_->bytes("{}\n");
  exchange_->bytes(std::string(kMaxWatchEventBytes + 1, 'x'));
  exchange_->bytes("{}\n");
  loop_.run_ready();
  EXPECT_THAT(handler_->heard, ElementsAre("open", "{}", "end Oversized"));
  EXPECT_TRUE(exchange_->ended());
}

TEST_F(WatchStreamTest, AHandlerThatStopsHearsNothingMore) {
  handler_->stop_at = "2";
  exchange_->head(200);
  exchange_->bytes("1\n2\n3\n");
  exchange_->bytes("4\n");
  loop_.run_ready();
  EXPECT_THAT(handler_->heard, ElementsAre("open", "1", "2", "end Cancelled"));
}

}  // namespace
}  // namespace berth
