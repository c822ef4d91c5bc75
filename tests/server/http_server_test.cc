// SPDX-License-Identifier: Apache-2.0
// The real server on a real loop, spoken to over a socket by another thread.
#include "controller/server/http_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "controller/live/uv_loop.h"
#include "controller/server/http_feed.h"
#include "tests/server/plain_connection.h"

namespace berth {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class HttpServerTest : public ::testing::Test {
 protected:
  // Runs the client beside the loop until it is through.
  void serve(HttpServerLimits limits, const std::function<void(int port)>& client) {
    UvLoop loop;
    HttpServer server(loop.raw(), limits, [this] { ++large_gone_; });
    const auto handler = [&](const HttpCall& call) {
      HttpResponse response;
      if (call.path == "/drain") server.drain();
      if (call.method == "POST") response.body = std::to_string(call.body.size());
      if (call.path == "/large") response.body.assign(300'000, 'x');
      if (call.path == "/echo") response.body = "q=" + std::string(call.query);
      if (call.path == "/none") response.status = 404;
      return response;
    };
    const Result<int> port =
        server.listen({"127.0.0.1", 0}, handler, {.max_body_bytes = max_body_bytes_});
    ASSERT_TRUE(port.has_value()) << describe(port.error());
    std::thread thread([&] {
      client(*port);
      loop.post_from_any_thread([&] { loop.stop(); });
    });
    loop.run();
    thread.join();
  }
  static std::string post(std::size_t bytes) {
    return "POST /post HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(bytes) +
           "\r\n\r\n";
  }
  std::size_t max_body_bytes_ = 0;
  int large_gone_ = 0;
};

TEST_F(HttpServerTest, AnswersManyRequestsOnOneConnection) {
  serve({}, [](int port) {
    Connection connection(port);
    for (int i = 0; i < 200; ++i) {
      ASSERT_TRUE(connection.send("GET /echo?a=1 HTTP/1.1\r\nHost: x\r\n\r\n"));
      const std::string got = connection.receive();
      ASSERT_THAT(got, StartsWith("HTTP/1.1 200"));
      ASSERT_THAT(got, HasSubstr("q=a=1"));
    }
    ASSERT_TRUE(connection.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n"));
    EXPECT_GT(connection.receive().size(), 300'000u);
    ASSERT_TRUE(connection.send("GET /none HTTP/1.1\r\nHost: x\r\n\r\n"));
    EXPECT_THAT(connection.receive(), StartsWith("HTTP/1.1 404"));
  });
}

// Much on one connection, in one go: the answers come in their order, and others' in between.
TEST_F(HttpServerTest, WhoAsksMuchAtOnceTakesTurnsWithOthers) {
  serve({.connections = 100}, [](int port) {
    std::string asked;
    for (int i = 0; i < 5000; ++i)
      asked += "GET /echo?" + std::to_string(i) + " HTTP/1.1\r\nHost: x\r\n\r\n";
    Connection much(port);
    std::thread asking([&] { EXPECT_TRUE(much.send(asked)); });
    std::string got;
    while (got.find("q=4999") == std::string::npos) {
      const std::string more = much.receive(60);
      ASSERT_NE(more, "");
      got += more;
    }
    asking.join();
    std::size_t at = 0;
    for (int i = 0; i < 5000 && at != std::string::npos; ++i)
      at = got.find("q=" + std::to_string(i), at);
    EXPECT_NE(at, std::string::npos);
  });
}

TEST_F(HttpServerTest, AClientThatLeavesInMidResponseCostsNothing) {
  serve({}, [](int port) {
    for (int i = 0; i < 20; ++i) {
      Connection connection(port);
      ASSERT_TRUE(connection.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n"));
    }
    Connection connection(port);
    ASSERT_TRUE(connection.send("GET /echo HTTP/1.1\r\nHost: x\r\n\r\n"));
    EXPECT_THAT(connection.receive(), StartsWith("HTTP/1.1 200"));
  });
}

TEST_F(HttpServerTest, OnlyReadsAreServed) {
  serve({}, [](int port) {
    for (const char* method : {"POST", "PUT", "DELETE", "PATCH"}) {
      Connection connection(port);
      ASSERT_TRUE(connection.send(std::string(method) +
                                  " /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"));
      EXPECT_THAT(connection.receive(), ::testing::Not(StartsWith("HTTP/1.1 2"))) << method;
    }
  });
}

TEST_F(HttpServerTest, AHeadTooLargeIsRefused) {
  serve({}, [](int port) {
    Connection connection(port);
    connection.send("GET /echo HTTP/1.1\r\nHost: x\r\nX: " + std::string(20'000, 'y') + "\r\n\r\n");
    EXPECT_THAT(connection.receive(), ::testing::Not(StartsWith("HTTP/1.1 200")));
  });
}

TEST_F(HttpServerTest, AnIdleConnectionIsClosed) {
  HttpServerLimits limits;
  limits.idle_seconds = 1;
  limits.request_seconds = 1;
  serve(limits, [](int port) {
    Connection kept(port);
    ASSERT_TRUE(kept.send("GET /echo HTTP/1.1\r\nHost: x\r\n\r\n"));
    kept.receive();
    Connection silent(port);
    EXPECT_TRUE(kept.closed_by_peer());
    EXPECT_TRUE(silent.closed_by_peer());
  });
}

// Bodies that were announced and don't come, more of them than there is room for.
TEST_F(HttpServerTest, FewSlowPostsKeepNoOtherOut) {
  max_body_bytes_ = 1000;
  serve({.posts = 2, .posted_bytes = 2000}, [](int port) {
    Connection slow(port), second(port);
    ASSERT_TRUE(slow.send(post(1000) + "begun"));
    ASSERT_TRUE(second.send(post(1000) + "begun"));
    for (int i = 0; i < 5; ++i) {
      Connection quick(port);
      ASSERT_TRUE(quick.send(post(900) + std::string(900, 'x')));
      EXPECT_THAT(quick.receive(), HasSubstr("\r\n\r\n900"));
    }
    EXPECT_THAT(slow.receive(), StartsWith("HTTP/1.1 429")) << "the oldest made room";
    EXPECT_TRUE(slow.closed_by_peer());
  });
}

TEST_F(HttpServerTest, APostThatStandsStillIsCutSooner) {
  max_body_bytes_ = 1000;
  serve({.request_seconds = 1000, .still_seconds = 1}, [](int port) {
    Connection still(port);
    ASSERT_TRUE(still.send(post(1000) + "begun"));
    EXPECT_THAT(still.receive(60), StartsWith("HTTP/1.1 408"));
    EXPECT_TRUE(still.closed_by_peer());
  });
}

TEST_F(HttpServerTest, ALargePostIsToldOnceItIsGone) {
  max_body_bytes_ = 3 << 20;
  serve({}, [this](int port) {
    Connection connection(port);
    for (const std::size_t size : {1000u, 2u << 20, 100u}) {
      ASSERT_TRUE(connection.send(post(size) + std::string(size, 'x')));
      EXPECT_THAT(connection.receive(60), HasSubstr("\r\n\r\n" + std::to_string(size)));
    }
  });
  EXPECT_EQ(large_gone_, 1);
}

TEST_F(HttpServerTest, ManySlowPostsHoldUpNoOther) {
  max_body_bytes_ = 1000;
  serve({.connections = 128, .posts = 100}, [](int port) {
    std::vector<std::unique_ptr<Connection>> slow;
    for (int i = 0; i < 60; ++i) {
      slow.push_back(std::make_unique<Connection>(port));
      ASSERT_TRUE(slow.back()->send(post(10) + "1"));
    }
    Connection quick(port);
    ASSERT_TRUE(quick.send(post(1) + "x"));
    EXPECT_THAT(quick.receive(), StartsWith("HTTP/1.1 200"));
  });
}

TEST_F(HttpServerTest, APostThatDripsIsCutOff) {
  max_body_bytes_ = 1000;
  HttpServerLimits limits;
  limits.request_seconds = 1;
  serve(limits, [](int port) {
    Connection connection(port);
    ASSERT_TRUE(connection.send(post(1000)));
    int sent = 0;
    for (; sent < 100 && connection.send("x"); ++sent)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_LT(sent, 30);
  });
}

TEST_F(HttpServerTest, ADrainingServerAnswersAndEndsTheConnection) {
  max_body_bytes_ = 1000;
  serve({}, [](int port) {
    Connection kept(port), open(port);
    ASSERT_TRUE(open.send(post(2) + "x"));
    ASSERT_TRUE(kept.send("GET /drain HTTP/1.1\r\nHost: x\r\n\r\n"));
    EXPECT_THAT(kept.receive(), HasSubstr("connection: close"));
    EXPECT_TRUE(kept.closed_by_peer());
    ASSERT_TRUE(open.send("x"));
    EXPECT_THAT(open.receive(), ::testing::EndsWith("\r\n\r\n2"));
    Connection late(port);
    ASSERT_TRUE(late.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n"));
    EXPECT_GT(late.receive().size(), 300'000u);
    EXPECT_TRUE(late.closed_by_peer());
  });
}

// As `nc` does it, and some probes.
TEST_F(HttpServerTest, WhoAsksAndEndsItsHalfIsAnswered) {
  serve({}, [](int port) {
    for (const char* path : {"/echo", "/large"}) {
      Connection connection(port);
      ASSERT_TRUE(connection.send(std::string("GET ") + path + " HTTP/1.1\r\nHost: x\r\n\r\n"));
      connection.end_sending();
      EXPECT_THAT(connection.receive(), StartsWith("HTTP/1.1 200"));
      EXPECT_TRUE(connection.closed_by_peer());
    }
  });
}

TEST_F(HttpServerTest, ARefusalIsReadThoughTheBodyGoesOnComing) {
  max_body_bytes_ = 1000;
  serve({}, [](int port) {
    Connection connection(port);
    ASSERT_TRUE(connection.send(post(4'000'000)));
    connection.send(std::string(4'000'000, 'x'));
    EXPECT_THAT(connection.receive(), StartsWith("HTTP/1.1 413"));
    EXPECT_TRUE(connection.closed_by_peer());
  });
}

// With as many connections as there may be, and one that comes after the other.
TEST_F(HttpServerTest, ACrowdThatSaysNothingKeepsNobodyOut) {
  serve({.connections = 4, .request_seconds = 1000}, [](int port) {
    const std::string get = "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n";
    Connection kept(port);
    ASSERT_TRUE(kept.send(get));
    EXPECT_THAT(kept.receive(), StartsWith("HTTP/1.1 200"));
    std::vector<std::unique_ptr<Connection>> crowd;
    for (int i = 0; i < 20; ++i) {
      crowd.push_back(std::make_unique<Connection>(port));
      Connection newcomer(port);
      ASSERT_TRUE(newcomer.send(get));
      ASSERT_THAT(newcomer.receive(), StartsWith("HTTP/1.1 200")) << i;
    }
    EXPECT_TRUE(crowd.front()->closed_by_peer()) << "the longest idle made room";
    ASSERT_TRUE(kept.send(get));
    EXPECT_THAT(kept.receive(), StartsWith("HTTP/1.1 200")) << "and none that asks did";
  });
}

TEST_F(HttpServerTest, WhoNeverAsksIsEndedSoonAndWhoAskedIsKept) {
  serve({.idle_seconds = 1000, .request_seconds = 1}, [](int port) {
    const std::string get = "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n";
    Connection kept(port), silent(port);
    ASSERT_TRUE(kept.send(get));
    EXPECT_THAT(kept.receive(), StartsWith("HTTP/1.1 200"));
    EXPECT_TRUE(silent.closed_by_peer());
    ASSERT_TRUE(kept.send(get));
    EXPECT_THAT(kept.receive(), StartsWith("HTTP/1.1 200"));
  });
}

TEST_F(HttpServerTest, EveryAddressIsByBothFamiliesAndNamesAreLookedUp) {
  UvLoop loop;
  HttpServer server(loop.raw());
  for (const char* host : {"", "127.0.0.1", "localhost"})
    EXPECT_TRUE(server.listen({host, 0}, nullptr).has_value()) << host;
  const Result<int> none = server.listen({"256.0.0.1", 0}, nullptr);
  ASSERT_FALSE(none.has_value());
  EXPECT_THAT(describe(none.error()), StartsWith("256.0.0.1:0: cannot listen here: "));
}

TEST_F(HttpServerTest, APortThatIsTakenIsAnError) {
  const int taken = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(at);
  ASSERT_EQ(bind(taken, reinterpret_cast<sockaddr*>(&at), size), 0);
  ASSERT_EQ(listen(taken, 1), 0);
  getsockname(taken, reinterpret_cast<sockaddr*>(&at), &size);
  UvLoop loop;
  HttpServer server(loop.raw());
  EXPECT_FALSE(server.listen({"127.0.0.1", ntohs(at.sin_port)}, nullptr).has_value());
  close(taken);
}

// What all followers share: a number that goes up, and a long word with it.
class Count final : public HttpFeed {
 public:
  Count(const int& number, std::size_t bytes, int& asked)
      : number_(number), bytes_(bytes), asked_(asked) {}
  void next(std::string& out) override {
    ++asked_;
    if (told_ == number_) return;
    told_ = number_;
    out += "data: " + std::to_string(told_) + std::string(bytes_, 'x') + "\n\n";
  }

 private:
  const int& number_;
  const std::size_t bytes_;
  int& asked_;
  int told_ = 0;
};

class FollowersTest : public ::testing::Test {
 protected:
  // The number goes up each time that somebody asks for /up.
  void serve(HttpServerLimits limits, const std::function<void(int port)>& client) {
    UvLoop loop;
    HttpServer server(loop.raw(), limits);
    const auto handler = [&](const HttpCall& call) {
      if (call.path == "/up") return HttpResponse{.body = std::to_string(++number_)};
      return HttpResponse{.content_type = "text/event-stream",
                          .feed = std::make_shared<Count>(number_, bytes_, asked_)};
    };
    const Result<int> port = server.listen({"127.0.0.1", 0}, handler);
    ASSERT_TRUE(port.has_value()) << describe(port.error());
    std::thread thread([&] {
      client(*port);
      loop.post_from_any_thread([&] { loop.stop(); });
    });
    loop.run();
    thread.join();
  }
  static void go_up(int port) {
    Connection connection(port);
    ASSERT_TRUE(connection.send("GET /up HTTP/1.1\r\nHost: x\r\n\r\n"));
    ASSERT_THAT(connection.receive(), StartsWith("HTTP/1.1 200"));
  }
  int number_ = 1;
  std::size_t bytes_ = 0;
  int asked_ = 0;
};

constexpr char kFollow[] = "GET /follow HTTP/1.1\r\nHost: x\r\n\r\n";

TEST_F(FollowersTest, FiveHundredAreToldWhatChanges) {
  // Both ends of each are this process'.
  rlimit files{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 4096);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
  serve({.connections = 1024, .idle_seconds = 2}, [](int port) {
    std::vector<std::unique_ptr<Connection>> followers;
    for (int i = 0; i < 500; ++i) {
      followers.push_back(std::make_unique<Connection>(port));
      ASSERT_TRUE(followers.back()->send(kFollow));
    }
    for (const auto& one : followers)
      ASSERT_THAT(one->receive_until("data: 1\n\n"), HasSubstr("data: 1"));
    // Longer than a connection may be idle: they are not, though nothing is told.
    std::this_thread::sleep_for(std::chrono::milliseconds(2600));
    go_up(port);
    for (const auto& one : followers)
      ASSERT_THAT(one->receive_until("data: 2\n\n"), HasSubstr("data: 2"));
  });
}

TEST_F(FollowersTest, WhoDoesNotTakeWhatHeIsToldIsCutOffAndCostsOthersNothing) {
  bytes_ = 4 << 20;  // more than sockets hold
  serve({.connections = 16, .request_seconds = 2}, [](int port) {
    Connection slow(port);
    ASSERT_TRUE(slow.send(kFollow));
    Connection other(port);
    ASSERT_TRUE(other.send(kFollow));
    ASSERT_THAT(other.receive_until("data: 1"), HasSubstr("data: 1"));
    other.receive_until("x\n\n");
    for (int number = 2; number < 6; ++number) {
      go_up(port);
      ASSERT_THAT(other.receive_until("x\n\n"), HasSubstr("data: " + std::to_string(number)));
    }
    // It gets what is on its way, and then an end: nothing has piled up for it.
    std::size_t got = 0;
    while (const std::size_t more = slow.receive_some()) got += more;
    EXPECT_LT(got, 3u * (4 << 20));
  });
  EXPECT_GT(asked_, 5);
}

TEST_F(FollowersTest, AreAskedSoonWhereThereIsNews) {
  UvLoop loop;
  HttpServer server(loop.raw());
  const Result<int> port = server.listen({"127.0.0.1", 0}, [&](const HttpCall&) {
    return HttpResponse{.content_type = "text/event-stream",
                        .feed = std::make_shared<Count>(number_, bytes_, asked_)};
  });
  ASSERT_TRUE(port.has_value()) << describe(port.error());
  Connection follower(*port);
  ASSERT_TRUE(follower.send(kFollow));
  // Timers go off in their order, however slow the machine is; who is only asked now and then is
  // not asked in between.
  int before = 0, after = 0;
  std::function<void()> look = [&] {
    if (asked_ == 0) return static_cast<void>(loop.call_after(std::chrono::milliseconds(1), look));
    before = asked_;
    server.feed_in(std::chrono::milliseconds(1));
    loop.call_after(std::chrono::milliseconds(5), [&] {
      after = asked_;
      loop.stop();
    });
  };
  look();
  loop.run();
  EXPECT_GT(after, before);
}

}  // namespace
}  // namespace berth
