// SPDX-License-Identifier: Apache-2.0
// The pure parts of the client: building requests and reading replies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "apis/base/eviction_outcome.h"
#include "apis/kinds/core.h"
#include "apis/kinds/mig_layout.h"
#include "controller/client/api_request.h"
#include "controller/client/reply.h"
#include "controller/client/resource_path.h"

namespace berth {
namespace {

using ::testing::ElementsAre;

std::string line(const ApiRequest& r) {
  std::string out = r.method + " " + r.target;
  if (!r.content_type.empty()) out += "\n" + r.content_type + "\n" + r.body;
  return out;
}

TEST(ResourcePath, AddressesEveryShapeOfKind) {
  EXPECT_EQ(collection_path(kKind<Node>, "ignored"), "/api/v1/nodes");
  EXPECT_EQ(collection_path(kKind<Pod>, ""), "/api/v1/pods");
  EXPECT_EQ(collection_path(kKind<Pod>, "team-a"), "/api/v1/namespaces/team-a/pods");
  EXPECT_EQ(object_path(kKind<MIGLayout>, {"", "a100"}, "status"),
            "/apis/gpu.berth.dev/v1alpha1/miglayouts/a100/status");
}

TEST(ResourcePath, NoNameCanLeaveItsSegment) {
  EXPECT_EQ(object_path(kKind<Node>, {"", "../pods"}), "/api/v1/nodes/..%2Fpods");
  EXPECT_EQ(object_path(kKind<Node>, {"", ".."}), "/api/v1/nodes/%2E%2E");
  EXPECT_EQ(object_path(kKind<Node>, {"", "a?b=c#d\r\nX: y"}),
            "/api/v1/nodes/a%3Fb%3Dc%23d%0D%0AX%3A%20y");
  EXPECT_EQ(object_path(kKind<Pod>, {"ä", "%"}), "/api/v1/namespaces/%C3%A4/pods/%25");
}

TEST(ApiRequest, WritesCarryManagerValidationAndDryRun) {
  const WriteOptions real{"berth-mig", false};
  const WriteOptions dry{"berth-mig", true};
  EXPECT_EQ(line(create_request(kKind<ConfigMap>, "berth", "{}", dry)),
            "POST /api/v1/namespaces/berth/configmaps?fieldManager=berth-mig&fieldValidation=Warn"
            "&dryRun=All\napplication/json\n{}");
  EXPECT_EQ(line(apply_request(kKind<Node>, {"", "n1"}, "{}", false, real)),
            "PATCH /api/v1/nodes/n1?fieldManager=berth-mig&fieldValidation=Warn\n"
            "application/apply-patch+yaml\n{}");
  EXPECT_EQ(line(apply_request(kKind<Node>, {"", "n1"}, "{}", true, dry)),
            "PATCH /api/v1/nodes/n1?fieldManager=berth-mig&fieldValidation=Warn&dryRun=All"
            "&force=true\napplication/apply-patch+yaml\n{}");
  EXPECT_EQ(line(json_patch_request(kKind<Node>, {"", "n1"}, "[]", real)),
            "PATCH /api/v1/nodes/n1?fieldManager=berth-mig&fieldValidation=Warn\n"
            "application/json-patch+json\n[]");
  EXPECT_EQ(line(status_merge_patch_request(kKind<MIGLayout>, {"", "l"}, "{}", real)),
            "PATCH /apis/gpu.berth.dev/v1alpha1/miglayouts/l/status?fieldManager=berth-mig"
            "&fieldValidation=Warn\napplication/merge-patch+json\n{}");
  EXPECT_EQ(line(merge_patch_request(kKind<Lease>, {"berth", "l"}, "{}", {"a&b=c", false})),
            "PATCH /apis/coordination.k8s.io/v1/namespaces/berth/leases/l?fieldManager=a%26b%3Dc"
            "&fieldValidation=Warn\napplication/merge-patch+json\n{}");
}

// The server ignores a DELETE's query if the request has a body: a dry run only in the query would
// delete.
TEST(ApiRequest, DeletePutsEverythingIntoItsBody) {
  EXPECT_EQ(
      line(delete_request(kKind<Pod>, {"a", "p"},
                          {.uid = "u", .resource_version = "7", .grace_period_seconds = 30},
                          {"m", true})),
      "DELETE /api/v1/namespaces/a/pods/p\napplication/json\n"
      R"({"apiVersion":"v1","dryRun":["All"],"gracePeriodSeconds":30,"kind":"DeleteOptions",)"
      R"("preconditions":{"resourceVersion":"7","uid":"u"},"propagationPolicy":"Background"})");
}

TEST(ApiRequest, EvictionNamesThePodAndItsUid) {
  EXPECT_EQ(line(evict_request({"a", "p"}, {.uid = "u"}, {"m", false})),
            "POST /api/v1/namespaces/a/pods/p/eviction\napplication/json\n"
            R"({"apiVersion":"policy/v1","deleteOptions":{"preconditions":{"uid":"u"}},)"
            R"("kind":"Eviction","metadata":{"name":"p","namespace":"a"}})");
  EXPECT_EQ(
      line(evict_request({"a", "p"}, {.grace_period_seconds = 5}, {"m", true})),
      "POST /api/v1/namespaces/a/pods/p/eviction?dryRun=All\napplication/json\n"
      R"({"apiVersion":"policy/v1","deleteOptions":{"dryRun":["All"],"gracePeriodSeconds":5},)"
      R"("kind":"Eviction","metadata":{"name":"p","namespace":"a"}})");
}

TEST(ApiRequest, BytesThatAreNotUtf8DoNotThrow) {
  EXPECT_NO_THROW(evict_request({"a", "\xff\xfe"}, {.uid = "\xc3"}, {}));
}

TEST(ApiRequest, ListsAndWatchesSayFromWhere) {
  EXPECT_EQ(line(list_request(kKind<Pod>, {})), "GET /api/v1/pods?limit=500");
  EXPECT_EQ(line(list_request(kKind<Pod>, {.limit = 0, .resource_version_match = "NotOlderThan"})),
            "GET /api/v1/pods");
  EXPECT_EQ(line(list_request(kKind<Pod>, {.namespace_ = "a",
                                           .continue_token = "x/y=",
                                           .resource_version = "0",
                                           .resource_version_match = "NotOlderThan",
                                           .field_selector = "spec.nodeName=n1"})),
            "GET /api/v1/namespaces/a/pods?limit=500&continue=x%2Fy%3D&resourceVersion=0"
            "&resourceVersionMatch=NotOlderThan&fieldSelector=spec.nodeName%3Dn1");
  EXPECT_EQ(line(watch_request(kKind<Node>, {.send_initial_events = true})),
            "GET /api/v1/nodes?watch=true&allowWatchBookmarks=true&sendInitialEvents=true"
            "&resourceVersionMatch=NotOlderThan&timeoutSeconds=300");
}

TEST(Reply, FindsTheObjectsOwnResourceVersion) {
  struct {
    const char* sentence;
    const char* json;
    const char* expected;
  } cases[] = {
      {"compact", R"({"kind":"Pod","metadata":{"name":"p","resourceVersion":"12"}})", "12"},
      {"spaced", "{ \"metadata\" : {\n \"resourceVersion\" : \"12\" } }", "12"},
      {"after a nested object",
       R"({"metadata":{"labels":{"resourceVersion":"no"},"resourceVersion":"12"}})", "12"},
      {"not that of an owner", R"({"spec":{"metadata":{"resourceVersion":"no"}}})", ""},
      {"not that of a list's item",
       R"({"metadata":{},"items":[{"metadata":{"resourceVersion":"no"}}]})", ""},
      {"not from a value that looks like a key",
       R"({"metadata":{"annotations":{"a":"\"resourceVersion\":\"no\""}}})", ""},
      {"a second key named metadata below",
       R"({"spec":{"metadata":1},"metadata":{"resourceVersion":"12"}})", "12"},
      {"cut short", R"({"metadata":{"resourceVersion":"1)", "1"},
      {"not JSON", "<html>\"metadata\":{\"resourceVersion\"", ""},
      {"nothing", "", ""},
      {"a backslash at the end", "{\"metadata\":{\"a\\", ""},
  };
  for (const auto& c : cases) EXPECT_EQ(scan_resource_version(c.json), c.expected) << c.sentence;
}

TEST(Reply, ReadsWarnings) {
  EXPECT_THAT(parse_warnings({{"Warning", R"(299 - "one, two", 299 - "three" "Sat, 21 Nov")"},
                              {"X", "299 - \"no\""},
                              {"WARNING", R"(299 - "one, two")"}}),
              ElementsAre("one, two", "three"));
  EXPECT_THAT(parse_warnings({{"Warning", "299 - \"open"},
                              {"Warning", "299 -"},
                              {"Warning", ""},
                              {"Warning", "299 - \"a\" \""}}),
              ElementsAre("open", "a"));
}

TEST(Reply, ReadsRetryAfterInSeconds) {
  EXPECT_EQ(parse_retry_after({{"retry-after", "10"}}), std::chrono::seconds(10));
  for (const char* bad :
       {"", "-1", "1.5", "Sat, 21 Nov 2026 14:00:00 GMT", "99999999999999999999"}) {
    EXPECT_EQ(parse_retry_after({{"Retry-After", bad}}), std::nullopt) << bad;
  }
}

TEST(EvictionOutcome, TellsRepliesApart) {
  using std::chrono::seconds;
  const std::vector<ErrorCause> budget = {{"DisruptionBudget", "needs 2 healthy pods", ""}};
  const std::vector<ErrorCause> terminating = {{"NamespaceTerminating", "", ""}};
  struct {
    const char* sentence;
    Error error;
    EvictionOutcome expected;
  } cases[] = {
      {"gone", {.http_code = 404}, EvictionOutcome::kGone},
      {"another pod of that name", {.http_code = 409}, EvictionOutcome::kOtherPod},
      {"the budget is used up",
       {.http_code = 429, .causes = budget},
       EvictionOutcome::kBudgetExhausted},
      {"the budget's status is behind",
       {.http_code = 429, .causes = budget, .retry_after = seconds(10)},
       EvictionOutcome::kBudgetLagging},
      {"a Retry-After of zero says nothing",
       {.http_code = 429, .causes = budget, .retry_after = seconds(0)},
       EvictionOutcome::kBudgetExhausted},
      {"the server's fairness limit",
       {.http_code = 429, .retry_after = seconds(1)},
       EvictionOutcome::kThrottled},
      {"two budgets",
       {.message = "This pod has more than one PodDisruptionBudget, which the eviction subresource "
                   "does not support.",
        .http_code = 500},
       EvictionOutcome::kTwoBudgets},
      {"another 500", {.message = "boom", .http_code = 500}, EvictionOutcome::kUnknown},
      {"conflicts on the budget", {.http_code = 504}, EvictionOutcome::kUnknown},
      {"no reply", {.kind = ErrorKind::kTimeout}, EvictionOutcome::kUnknown},
      {"stopped by us", {.kind = ErrorKind::kCancelled}, EvictionOutcome::kCancelled},
      {"namespace on its way out",
       {.http_code = 403, .causes = terminating},
       EvictionOutcome::kNamespaceTerminating},
      {"the budget's bookkeeping is full",
       {.message = "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
        .http_code = 403},
       EvictionOutcome::kBudgetController},
      {"RBAC", {.http_code = 403}, EvictionOutcome::kForbidden},
      {"malformed", {.http_code = 422}, EvictionOutcome::kRefused},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.sentence);
    const EvictionOutcome got = classify_eviction(c.error);
    EXPECT_STREQ(to_string(got), to_string(c.expected));
  }
}

}  // namespace
}  // namespace berth
