// SPDX-License-Identifier: Apache-2.0
// berth's informers over the real transport against twenty faulty API servers at once. The cost of
// each is bounded: a limited reply in memory, a few lines in the log, and ever fewer requests. The
// token goes nowhere else, and once a server behaves, its kinds are read.
#include "tests/hostile/hostile_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "controller/client/api_client.h"
#include "controller/live/curl_transport.h"
#include "controller/live/uv_loop.h"
#include "controller/runtime/informer.h"
#include "controller/runtime/metrics.h"
#include "tests/client/fake_host.h"
#include "tests/io/recording_log.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using Ask = HostileServer::Ask;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kToken[] = "a-token-for-one-server-only";
const std::string kPiece(64 << 10, ' ');

void refuse(const Ask& ask, int code, const std::string& reason, const std::string& headers = "") {
  ask.reply(code,
            R"({"kind":"Status","status":"Failure","message":"no","reason":")" + reason +
                R"(","code":)" + std::to_string(code) + "}",
            "Content-Type: application/json\r\n" + headers);
}

// Only lists from here on: WatchList is not served.
bool only_lists(const Ask& ask) {
  if (ask.watch) refuse(ask, 422, "Invalid");
  return ask.watch;
}

bool write_for_ever(const Ask& ask, const std::string& head, const std::string& piece) {
  bool open = ask.write(head);
  while (open) open = ask.write(piece);
  return false;
}

struct Mode {
  const char* name;
  int asks;  // requests of each kind that show the fault
  HostileServer::Mode act;
};

std::vector<Mode> modes(int thief) {
  const std::string elsewhere = "Location: http://127.0.0.1:" + std::to_string(thief) + "/\r\n";
  const auto status = [](int code, const char* reason, std::string headers) {
    return [=](const Ask& ask) {
      refuse(ask, code, reason, headers);
      return true;
    };
  };
  const auto stream = [](std::string type, std::string once, std::string piece) {
    return [=](const Ask& ask) {
      return write_for_ever(ask, chunked_head(type) + (once.empty() ? "" : chunk(once)),
                            chunk(piece));
    };
  };
  const auto endless_list = [](std::string once, std::string piece, std::string headers) {
    return [=](const Ask& ask) {
      return only_lists(ask) ||
             write_for_ever(ask,
                            "HTTP/1.1 200 OK\r\n" + headers + "Transfer-Encoding: chunked\r\n\r\n" +
                                (once.empty() ? "" : chunk(once)),
                            chunk(piece));
    };
  };
  const std::string protobuf = "application/vnd.kubernetes.protobuf;stream=watch";
  std::string garbage;
  for (int i = 0; i < 1'000; ++i) garbage += "{\"type\":\"ADDED\",\"object\":}\n";
  return {
      {"redirect 302", 2, status(302, "Found", elsewhere)},
      {"redirect 307", 2, status(307, "Temporary", elsewhere)},
      {"429, long", 2, status(429, "TooManyRequests", "Retry-After: 99999999\r\n")},
      {"429, longest", 2, status(429, "TooManyRequests", "Retry-After: 9223372036854775807\r\n")},
      {"410", 2, status(410, "Expired", "")},
      {"401", 2, status(401, "Unauthorized", "")},
      {"garbage frames", 3, stream("application/json", "", garbage)},
      {"410 in the stream", 3,
       [](const Ask& ask) {
         ask.write(chunked_head() +
                   chunk("{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\","
                         "\"code\":410,\"reason\":\"Expired\"}}\n") +
                   "0\r\n\r\n");
         return true;
       }},
      {"protobuf of 2 GB", 2, stream(protobuf, "\x7f\xff\xff\xff", kPiece)},
      {"protobuf cut short", 2,
       [protobuf](const Ask& ask) {
         ask.write(chunked_head(protobuf) + chunk(std::string("\0\0\0\x64k8s", 7)) + "0\r\n\r\n");
         return true;
       }},
      {"endless bookmarks", 2,
       [](const Ask& ask) {
         if (!ask.watch) {
           refuse(ask, 500, "InternalError");
           return true;
         }
         return write_for_ever(ask, chunked_head(), chunk(bookmark(ask.nodes, false)));
       }},
      {"a line without end", 2, stream("application/json", "", std::string(kPiece.size(), 'x'))},
      {"a list of blanks without end", 3, endless_list("", kPiece, "")},
      {"continue for ever", 3,
       [](const Ask& ask) {
         if (only_lists(ask)) return true;
         ask.reply(200,
                   R"({"metadata":{"resourceVersion":"1","continue":")" +
                       std::to_string(ask.earlier % 50) + R"("},"items":[)" + object(ask.nodes) +
                       "]}",
                   "");
         return true;
       }},
      {"gzip that nobody asked for", 3,
       endless_list("\x1f\x8b", std::string(kPiece.size(), '\0'), "Content-Encoding: gzip\r\n")},
      {"headers without end", 2,
       [](const Ask& ask) {
         return write_for_ever(ask, "HTTP/1.1 200 OK\r\n",
                               "X-Padding: " + std::string(8'000, 'h') + "\r\n");
       }},
      {"nested three million deep", 3,
       [](const Ask& ask) {
         if (only_lists(ask)) return true;
         const std::string deep(3'000'000, '[');
         ask.reply(200, R"({"items":[{"metadata":{},"x":)" + deep, "");
         return true;
       }},
      {"drops", 1,
       [](const Ask& ask) {
         bool open = ask.write(chunked_head());
         while (open) {
           std::this_thread::sleep_for(20ms);
           open = ask.write(chunk("{"));
         }
         return false;
       }},
      {"hangs up", 2, [](const Ask&) { return false; }},
      {"a page of HTML", 2,
       [](const Ask& ask) {
         ask.reply(200, "<html>\n<body>Log in</body>\n</html>\n", "Content-Type: text/html\r\n");
         return true;
       }},
  };
}

// The relevant parts of a berth process, for one server.
struct Client {
  Client(UvLoop& loop, const Host& host, int port)
      : transport(loop, host, log, config_for(port)),
        api(loop, transport, log, {"test", "controller"}),
        nodes(api, cluster, log, metrics, "nodes", {}, false, {}, nullptr, 7),
        namespaces(api, cluster, log, metrics, "namespaces", {}, false, {}, nullptr, 8) {
    nodes.start();
    namespaces.start();
  }
  static ClientConfig config_for(int port) {
    ClientConfig config;
    config.server = "http://127.0.0.1:" + std::to_string(port);
    config.token = kToken;
    return config;
  }
  bool synced() const { return nodes.synced() && namespaces.synced(); }
  void stop() {
    nodes.stop();
    namespaces.stop();
  }

  RecordingLog log;
  Metrics metrics{"test"};
  ClusterState cluster;
  CurlTransport transport;
  ApiClient api;
  Informer<Node> nodes;
  Informer<Namespace> namespaces;
};

struct Trial {
  explicit Trial(Mode which) : mode(std::move(which)), server(mode.act) {}
  bool shown() const { return server.asked(true) >= mode.asks && server.asked(false) >= mode.asks; }
  Mode mode;
  HostileServer server;
  std::unique_ptr<Client> client;
  std::size_t lines = 0;  // log lines while the server was hostile
  int asked = 0;
};

TEST(HostileServer, CostsLittleAndIsRecoveredFrom) {
  std::atomic<int> stolen = 0;
  TlsServer thief({.plain = true}, [&](const TlsServer::Request&, TlsServer::Connection&) {
    ++stolen;
    return false;
  });
  FakeHost host;
  UvLoop loop;
  std::vector<std::unique_ptr<Trial>> trials;
  for (const Mode& mode : modes(thief.port())) trials.push_back(std::make_unique<Trial>(mode));
  for (const auto& trial : trials)
    trial->client = std::make_unique<Client>(loop, host, trial->server.port());

  const auto all = [&](auto&& holds) { return std::ranges::all_of(trials, holds); };
  const auto run_until = [&](std::chrono::seconds limit, auto&& holds) {
    const MonotonicTime end = loop.now() + limit;
    std::function<void()> look = [&] {
      if (all(holds) || loop.now() >= end) return loop.stop();
      loop.call_after(20ms, look);
    };
    look();
    loop.run();
  };

  // 1. Each is hostile until that has shown, and then behaves.
  run_until(120s, [](const auto& trial) {
    if (trial->asked == 0 && trial->shown()) {
      trial->asked = trial->server.asked(true) + trial->server.asked(false);
      trial->lines = trial->client->log.lines.size();
      trial->server.behave();
    }
    return trial->asked > 0;
  });
  for (const auto& trial : trials) {
    SCOPED_TRACE(trial->mode.name);
    EXPECT_GT(trial->asked, 0) << "asked " << trial->server.asked(true) << " times for nodes";
    // 8 MiB of a list, 4 of an event, and the system's buffers.
    EXPECT_LE(trial->server.longest_reply(), 32u << 20);
    EXPECT_LE(trial->lines, 4u * static_cast<unsigned>(trial->asked) + 8);
  }

  // 2. Running requests end, and the awaited objects arrive.
  run_until(120s, [](const auto& trial) { return trial->client->synced(); });
  for (const auto& trial : trials) {
    SCOPED_TRACE(trial->mode.name);
    EXPECT_TRUE(trial->client->synced()) << ::testing::PrintToString(trial->client->log.lines);
    EXPECT_EQ(trial->client->cluster.nodes().size(), 1u);
    for (const std::string& line : trial->client->log.lines)
      EXPECT_THAT(line, Not(HasSubstr(kToken)));
  }
  EXPECT_EQ(stolen, 0) << "redirects are not followed";
  EXPECT_EQ(thief.connections(), 0);

  for (const auto& trial : trials) trial->client->stop();
  loop.call_after(100ms, [&] { loop.stop(); });
  loop.run();
}

}  // namespace
}  // namespace berth::test
