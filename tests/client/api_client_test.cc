// SPDX-License-Identifier: Apache-2.0
#include "controller/client/api_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tests/client/fake_transport.h"
#include "tests/io/fake_loop.h"
#include "tests/io/recording_log.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

constexpr char kNodePath[] = "GET /api/v1/nodes/n1";
constexpr char kNodeJson[] =
    R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n1","uid":"u1","resourceVersion":"42"}})";

class ApiClientTest : public ::testing::Test {
 protected:
  std::optional<Result<Reply>> send(ApiRequest request, CallOptions options = CallOptions()) {
    std::optional<Result<Reply>> got;
    start(std::move(request), std::move(options), got);
    loop_.run_until_idle();
    return got;
  }
  void start(ApiRequest request, CallOptions options, std::optional<Result<Reply>>& got) {
    auto task = [](ApiClient& client, ApiRequest what, CallOptions how,
                   std::optional<Result<Reply>>& out) -> Task<void> {
      Result<Reply> reply = co_await client.send(what, how);
      out.emplace(std::move(reply));
    };
    spawn(loop_, task(client_, std::move(request), std::move(options), got));
  }

  FakeLoop loop_;
  FakeTransport transport_{loop_};
  RecordingLog log_;
  ApiClient client_{loop_, transport_, log_, {"0.1.0", "controller"}};
};

TEST_F(ApiClientTest, SaysWhoItIsAndWhatItWants) {
  transport_.script("PATCH /api/v1/nodes/n1", {200, kNodeJson});
  CallOptions options(Lane::kLease, {}, 7s);
  auto got = send(json_patch_request(kKind<Node>, {"", "n1"}, "[]", {"berth-mig", true}), options);
  ASSERT_TRUE(got && got->has_value());
  EXPECT_EQ((*got)->resource_version, "42");
  EXPECT_EQ((*got)->body, kNodeJson);

  const HttpRequest& sent = transport_.exchanges.at(0)->request;
  EXPECT_EQ(sent.lane, Lane::kLease);
  EXPECT_EQ(sent.deadline, 7s);
  EXPECT_EQ(sent.body, "[]");
  std::vector<std::string> headers;
  for (const HttpHeader& h : sent.headers) headers.push_back(h.name + ": " + h.value);
  EXPECT_THAT(headers,
              ElementsAre("User-Agent: berth/0.1.0 (controller)", "Accept: application/json",
                          "Content-Type: application/json-patch+json"));
}

TEST_F(ApiClientTest, DecodesOneObjectAndAPage) {
  transport_.script(kNodePath, {200, kNodeJson});
  transport_.script(
      "GET /api/v1/nodes",
      {200, R"({"kind":"NodeList","metadata":{"resourceVersion":"50","continue":"abc"},)"
            R"("items":[{"metadata":{"name":"n1"}},{"metadata":{"name":"n2"}}]})"});
  std::optional<Result<Node>> node;
  std::optional<Result<ListPage<Node>>> page;
  auto task = [](ApiClient& client, auto& node_out, auto& page_out) -> Task<void> {
    ObjectKey key{"", "n1"};
    Result<Node> one = co_await client.get<Node>(key, CallOptions());
    node_out.emplace(std::move(one));
    ListOptions list{.label_selector = "nvidia.com/gpu.present=true"};
    Result<ListPage<Node>> many = co_await client.list_page<Node>(list, CallOptions());
    page_out.emplace(std::move(many));
  };
  spawn(loop_, task(client_, node, page));
  loop_.run_until_idle();
  ASSERT_TRUE(node && node->has_value());
  EXPECT_EQ((*node)->meta.uid, "u1");
  ASSERT_TRUE(page && page->has_value());
  EXPECT_EQ((*page)->continue_token, "abc");
  EXPECT_EQ((*page)->items.size(), 2u);
  EXPECT_EQ(transport_.targets().at(1),
            "GET /api/v1/nodes?limit=500&labelSelector=nvidia.com%2Fgpu.present%3Dtrue");
}

TEST_F(ApiClientTest, KeepsTheServersReasonCausesAndRetryAfter) {
  transport_.script("POST /api/v1/namespaces/a/pods/p/eviction",
                    {429,
                     R"({"kind":"Status","status":"Failure","message":"Cannot evict pod",)"
                     R"("reason":"TooManyRequests","code":429,"details":{"causes":[)"
                     R"({"reason":"DisruptionBudget","message":"needs 2 healthy pods"}]}})",
                     {{"Retry-After", "10"}}});
  auto got = send(evict_request({"a", "p"}, {.uid = "u"}, {}));
  ASSERT_TRUE(got && !got->has_value());
  const Error& error = got->error();
  EXPECT_EQ(error.kind, ErrorKind::kThrottled);
  EXPECT_EQ(error.http_code, 429);
  EXPECT_EQ(error.reason, "TooManyRequests");
  ASSERT_EQ(error.causes.size(), 1u);
  EXPECT_EQ(error.causes[0].reason, "DisruptionBudget");
  EXPECT_EQ(error.retry_after, 10s);
  EXPECT_EQ(transport_.exchanges.size(), 1u) << "an eviction is never sent twice";
}

TEST_F(ApiClientTest, WarningsAreReturnedAlwaysAndLoggedOnce) {
  const std::vector<HttpHeader> headers = {{"warning", "299 - \"unknown field \\\"spec.x\\\"\""}};
  transport_.script("POST /api/v1/nodes", {201, "{}", headers});
  transport_.script("POST /api/v1/nodes", {201, "{}", headers});
  for (int i = 0; i < 2; ++i) {
    auto got = send(create_request(kKind<Node>, "", "{}", {}));
    ASSERT_TRUE(got && got->has_value());
    EXPECT_THAT((*got)->warnings, ElementsAre("unknown field \"spec.x\""));
  }
  EXPECT_THAT(log_.lines,
              ElementsAre("warn the API server warns warning=unknown field \"spec.x\""));
}

struct RetryCase {
  const char* sentence;
  ApiRequest request;
  Lane lane;
  FakeReply first;
  std::size_t expected_tries;
};

TEST_F(ApiClientTest, RepeatsOnlyWhatIsSafe) {
  const ApiRequest get = get_request("/api/v1/nodes/n1");
  const ApiRequest patch = merge_patch_request(kKind<Node>, {"", "n1"}, "{}", {});
  const FakeReply refused = {.outcome = TransportOutcome::kCannotConnect};
  const FakeReply broken = {.outcome = TransportOutcome::kBroken};
  const FakeReply busy = {429, "{}", {{"Retry-After", "2"}}};
  const FakeReply down = {503, "", {{"retry-after", "1"}}};
  const FakeReply ahead = {
      504,
      R"({"kind":"Status","status":"Failure","reason":"Timeout","code":504,)"
      R"("details":{"causes":[{"reason":"ResourceVersionTooLarge"}],"retryAfterSeconds":1}})",
      {{"Retry-After", "1"}}};
  const FakeReply down_for_long = {503, "", {{"retry-after", "3600"}}};
  const std::vector<RetryCase> cases = {
      {"a GET whose connection was refused", get, Lane::kWrite, refused, 2},
      {"a GET whose connection broke", get, Lane::kWrite, broken, 2},
      {"a GET told when to come back by 429", get, Lane::kWrite, busy, 2},
      {"a GET told when to come back by 503", get, Lane::kWrite, down, 2},
      {"a GET told to come back after its deadline", get, Lane::kWrite, down_for_long, 1},
      {"a GET refused by 429 without a time", get, Lane::kWrite, {429, "{}"}, 1},
      {"a GET ahead of the server, which says 504 and when to come back", get, Lane::kWrite, ahead,
       1},
      {"a GET of something absent", get, Lane::kWrite, {404, "{}"}, 1},
      {"a GET that timed out", get, Lane::kWrite, {.outcome = TransportOutcome::kTimeout}, 1},
      {"a GET that failed its TLS check",
       get,
       Lane::kWrite,
       {.outcome = TransportOutcome::kTlsFailed},
       1},
      {"the lease's GET", get, Lane::kLease, busy, 1},
      {"a PATCH told when to come back", patch, Lane::kWrite, busy, 1},
      {"a PATCH whose connection broke", patch, Lane::kWrite, broken, 1},
  };
  for (const RetryCase& c : cases) {
    SCOPED_TRACE(c.sentence);
    transport_.exchanges.clear();
    FakeTransport fresh(loop_);
    ApiClient client(loop_, fresh, log_, {"0", "t"});
    std::size_t tries = 0;
    fresh.respond_with([&](const HttpRequest&) {
      return ++tries == 1 ? c.first : FakeReply{200, kNodeJson};
    });
    std::optional<Result<Reply>> got;
    auto task = [](ApiClient& on, ApiRequest what, CallOptions how, auto& out) -> Task<void> {
      Result<Reply> reply = co_await on.send(what, how);
      out.emplace(std::move(reply));
    };
    spawn(loop_, task(client, c.request, CallOptions(c.lane, {}), got));
    loop_.run_until_idle();
    EXPECT_EQ(tries, c.expected_tries);
    ASSERT_TRUE(got.has_value());
    EXPECT_EQ(got->has_value(), c.expected_tries == 2);
  }
}

TEST_F(ApiClientTest, GivesUpReconnectingSoonAndRepeatingInTheEnd) {
  std::size_t tries = 0;
  transport_.respond_with([&](const HttpRequest&) {
    ++tries;
    return FakeReply{.outcome = TransportOutcome::kCannotConnect, .detail = "no route to host"};
  });
  auto got = send(get_request("/version"));
  EXPECT_EQ(tries, 3u);
  ASSERT_TRUE(got && !got->has_value());
  EXPECT_EQ(describe(got->error()), "GET /version: no route to host");

  tries = 0;
  transport_.respond_with([&](const HttpRequest&) {
    ++tries;
    return FakeReply{503, "", {{"Retry-After", "1"}}};
  });
  got = send(get_request("/version"), CallOptions(Lane::kWrite, {}, 1h));
  EXPECT_EQ(tries, 10u);
  EXPECT_EQ(got->error().kind, ErrorKind::kUnavailable);
}

TEST_F(ApiClientTest, AllTriesShareOneDeadline) {
  transport_.respond_with([&](const HttpRequest&) {
    return FakeReply{503, "", {{"Retry-After", "4"}}};
  });
  const MonotonicTime start = loop_.now();
  auto got = send(get_request("/version"), CallOptions(Lane::kWrite, {}, 10s));
  ASSERT_TRUE(got && !got->has_value());
  EXPECT_EQ(transport_.exchanges.size(), 3u);  // at 0, 4 and 8 s
  EXPECT_EQ(transport_.exchanges.back()->request.deadline, 2s);
  EXPECT_LE(loop_.now() - start, 10s);
}

TEST_F(ApiClientTest, EndsAtItsDeadlineAndAtItsStop) {
  std::optional<Result<Reply>> timed_out;
  std::optional<Result<Reply>> cancelled;
  std::stop_source stop;
  start(get_request("/a"), CallOptions(Lane::kWrite, {}, 5s), timed_out);
  start(get_request("/b"), CallOptions(stop.get_token()), cancelled);
  loop_.run_for(3s);
  EXPECT_FALSE(timed_out.has_value());
  stop.request_stop();
  loop_.run_ready();
  ASSERT_TRUE(cancelled.has_value());
  EXPECT_EQ(cancelled->error().kind, ErrorKind::kCancelled);
  loop_.run_for(3s);
  ASSERT_TRUE(timed_out.has_value());
  EXPECT_EQ(timed_out->error().kind, ErrorKind::kTimeout);
}

TEST_F(ApiClientTest, SendsNothingOnceStoppedOrOutOfTime) {
  std::stop_source stop;
  stop.request_stop();
  auto stopped = send(get_request("/a"), CallOptions(stop.get_token()));
  EXPECT_EQ(stopped->error().kind, ErrorKind::kCancelled);
  auto late = send(get_request("/a"), CallOptions(Lane::kWrite, {}, 0s));
  EXPECT_EQ(late->error().kind, ErrorKind::kTimeout);
  EXPECT_TRUE(transport_.exchanges.empty());
}

// Each page is in memory as a whole.
TEST_F(ApiClientTest, FourPagesAreUnderWayAtATime) {
  int read = 0;
  const auto task = [](ApiClient& client, int& out) -> Task<void> {
    ListOptions list;
    CallOptions options;
    Result<ListPage<Node>> page = co_await client.list_page<Node>(list, options);
    if (page.has_value()) ++out;
  };
  for (int i = 0; i < 13; ++i) spawn(loop_, task(client_, read));
  loop_.run_ready();
  EXPECT_EQ(transport_.exchanges.size(), 4u);
  for (int answered = 1; answered <= 13; ++answered) {
    const auto exchange = transport_.open("GET /api/v1/nodes");
    ASSERT_NE(exchange, nullptr);
    exchange->head(200);
    exchange->bytes(R"({"items":[]})");
    exchange->end();
    loop_.run_ready();
    EXPECT_EQ(read, answered);
    EXPECT_EQ(transport_.exchanges.size(), static_cast<std::size_t>(std::min(answered + 4, 13)));
  }
}

TEST_F(ApiClientTest, TellsTheObserverWhatWasSent) {
  std::vector<std::string> seen;
  client_.observe([&](const CallRecord& r) {
    seen.push_back(
        std::string(r.method) + " " + std::to_string(r.code) + " " +
        std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(r.took).count()));
  });
  transport_.script("GET /a", {404, "{}", {}, TransportOutcome::kComplete, "", 30ms});
  send(get_request("/a"));
  EXPECT_THAT(seen, ElementsAre("GET 404 30"));
}

}  // namespace
}  // namespace berth
