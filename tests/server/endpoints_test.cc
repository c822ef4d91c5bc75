// SPDX-License-Identifier: Apache-2.0
#include "controller/server/endpoints.h"

#include <gtest/gtest.h>

#include <string>

#include "controller/server/process_facts.h"

namespace berth {
namespace {

EndpointSources sources(bool good) {
  return {.readiness =
              [good] {
                std::vector<ReadinessCheck> checks{{.name = "informer-nodes"},
                                                   {.name = "informer-pods"}};
                if (!good) checks[1].problem = "not synced: listing";
                return checks;
              },
          .metrics = [] { return std::string("up 1\n"); }};
}

std::string get(const std::string& path, bool good = true, EndpointsServed served = {true, true},
                const std::string& query = "") {
  const HttpResponse response = answer(sources(good), served, path, query);
  return std::to_string(response.status) + " " + response.body;
}

TEST(Endpoints, Answers) {
  EXPECT_EQ(get("/healthz"), "200 ok");
  EXPECT_EQ(get("/healthz", false), "200 ok");
  EXPECT_EQ(get("/livez"), "200 ok");
  EXPECT_EQ(get("/readyz"), "200 ok");
  EXPECT_EQ(get("/readyz", true, {true, true}, "verbose"),
            "200 [+]informer-nodes ok\n[+]informer-pods ok\nreadyz check passed\n");
  EXPECT_EQ(get("/readyz", false),
            "503 [+]informer-nodes ok\n[-]informer-pods failed: not synced: listing\n"
            "readyz check failed\n");
  EXPECT_EQ(get("/readyz/informer-nodes", false), "200 ok");
  EXPECT_EQ(get("/readyz/informer-pods", false).substr(0, 3), "503");
  EXPECT_EQ(get("/readyz/unknown").substr(0, 3), "404");
  EXPECT_EQ(get("/metrics"), "200 up 1\n");
  EXPECT_EQ(get("/other").substr(0, 3), "404");
}

TEST(Endpoints, AListenerServesOnlyWhatIsItsOwn) {
  EXPECT_EQ(get("/metrics", true, {.health = true}).substr(0, 3), "404");
  EXPECT_EQ(get("/healthz", true, {.metrics = true}).substr(0, 3), "404");
}

TEST(ListenAddress, IsReadOrRefusedByFlag) {
  EXPECT_EQ(*parse_listen_address("--x", ":8080"), (ListenAddress{"", 8080}));
  EXPECT_EQ(*parse_listen_address("--x", "127.0.0.1:0"), (ListenAddress{"127.0.0.1", 0}));
  EXPECT_EQ(*parse_listen_address("--x", "[::1]:80"), (ListenAddress{"::1", 80}));
  for (const char* bad : {"", "8080", "host", ":", ":x", ":80x", ":65536", ":-1", "::1:80"}) {
    const auto result = parse_listen_address("--x", bad);
    ASSERT_FALSE(result.has_value()) << bad;
    EXPECT_EQ(result.error().where, "--x");
  }
}

TEST(ProcessFacts, AreThisProcess) {
  const ProcessFacts facts = read_process_facts();
  EXPECT_GT(facts.resident_bytes, 1e6);
  EXPECT_GT(facts.virtual_bytes, facts.resident_bytes);
  EXPECT_GE(facts.open_fds, 3);
  EXPECT_GT(facts.start_time_seconds, 1.5e9);
}

}  // namespace
}  // namespace berth
