// SPDX-License-Identifier: Apache-2.0
// Watch lines and list pages: every type of event, and truncated, changed and nested bytes.
#include <gtest/gtest.h>

#include <string>

#include "tests/apis/wire_objects.h"

namespace berth::test {
namespace {

TEST(DecodeWatch, ReadsEveryTypeOfEvent) {
  auto event_of = [](const std::string& type, const std::string& object) {
    return R"({"type":")" + type + R"(","object":)" + object + "}";
  };
  std::string line = event_of("MODIFIED", kPod) + "\n";
  Result<WatchEvent<Pod>> event = decode_watch_event<Pod>(line);
  ASSERT_TRUE(event.has_value()) << describe(event.error());
  EXPECT_EQ(event->type, WatchEvent<Pod>::Type::kModified);
  EXPECT_EQ(event->object, *decode<Pod>(kPod));

  line = std::string(R"({"object":)") + kPod + R"(,"type":"DELETED"})";
  event = decode_watch_event<Pod>(line);
  ASSERT_TRUE(event.has_value()) << "the order of the fields does not matter: "
                                 << describe(event.error());
  EXPECT_EQ(event->type, WatchEvent<Pod>::Type::kDeleted);

  line = event_of(
      "BOOKMARK",
      R"({"kind":"Pod","metadata":{"resourceVersion":"99","annotations":{"k8s.io/initial-events-end":"true"}},"spec":{"containers":null}})");
  event = decode_watch_event<Pod>(line);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->type, WatchEvent<Pod>::Type::kBookmark);
  EXPECT_EQ(event->object.meta.resource_version, "99");
  EXPECT_TRUE(event->initial_events_end);

  line = event_of("BOOKMARK", R"({"metadata":{"resourceVersion":"100"}})");
  EXPECT_FALSE(decode_watch_event<Namespace>(line)->initial_events_end);

  line = event_of(
      "ERROR",
      R"({"kind":"Status","status":"Failure","message":"too old resource version","reason":"Expired","code":410})");
  event = decode_watch_event<Pod>(line);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->type, WatchEvent<Pod>::Type::kError);
  EXPECT_EQ(event->error.kind, ErrorKind::kGone);
  EXPECT_EQ(event->error.http_code, 410);

  for (const char* bad : {R"({"type":"ADDED"})", R"({"object":{}})",
                          R"({"type":"MOVED","object":{}})", R"({"type":7,"object":{}})",
                          R"({"type":"ADDED","object":[]})", R"({"type":"ERROR","object":7})",
                          R"({"type":"ADDED","object":{"metadata":{}})", "{}", ""}) {
    std::string pod_line = bad, namespace_line = bad;
    EXPECT_FALSE(decode_watch_event<Pod>(pod_line).has_value()) << bad;
    EXPECT_FALSE(decode_watch_event<Namespace>(namespace_line).has_value()) << bad;
  }
}

TEST(DecodeWatch, SurvivesTruncationAtEveryByte) {
  std::string whole = std::string(R"({"type":"ADDED","object":)") + kPod + "}";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::string line = whole.substr(0, size);
    line.shrink_to_fit();
    EXPECT_FALSE(decode_watch_event<Pod>(line).has_value()) << "cut after " << size;
  }
  std::string node = kNode;
  for (std::size_t size = 0; size < node.size(); ++size) {
    EXPECT_FALSE(decode<Node>(node.substr(0, size)).has_value()) << "cut after " << size;
  }
}

TEST(DecodeWatch, SurvivesAnyByteChanged) {
  std::string whole = std::string(R"({"type":"ADDED","object":)") + kPod + "}";
  for (std::size_t at = 0; at < whole.size(); at += 2) {
    for (char c : {'"', '}', ',', '\\', '\0'}) {
      std::string line = whole;
      line[at] = c;
      (void)decode_watch_event<Pod>(line).has_value();
    }
  }
}

TEST(DecodeWatch, NestingIsNoDanger) {
  for (const char* open : {"[", "{\"a\":"}) {
    std::string deep = R"({"type":"ADDED","object":{"metadata":{"managedFields":)";
    for (int i = 0; i < 50'000; ++i) deep += open;
    std::string again = deep;
    EXPECT_FALSE(decode_watch_event<Pod>(deep).has_value());
    EXPECT_FALSE(decode_watch_event<ConfigMap>(again).has_value());
  }
}

TEST(DecodeList, ReadsPagesAndNamesTheItem) {
  std::string body =
      std::string(
          R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"12","continue":"tok","remainingItemCount":5},"items":[)") +
      kPod + "," + kPod + "]}\n";
  Result<ListPage<Pod>> page = decode_list<Pod>(body);
  ASSERT_TRUE(page.has_value()) << describe(page.error());
  EXPECT_EQ(page->resource_version, "12");
  EXPECT_EQ(page->continue_token, "tok");
  ASSERT_EQ(page->items.size(), 2u);
  EXPECT_EQ(page->items[1], *decode<Pod>(kPod));

  body = R"({"metadata":{"resourceVersion":"1"},"items":null})";
  EXPECT_TRUE(decode_list<Pod>(body)->items.empty());
  body = R"({"metadata":{},"items":[{},{"spec":{"priority":"x"}}]})";
  EXPECT_EQ(decode_list<Pod>(body).error().where, "items[1].spec.priority");
  body = R"({"metadata":{},"items":[{},{"spec":{"backoffLimit":"x"}}]})";
  EXPECT_EQ(decode_list<Job>(body).error().where, "items[1].spec.backoffLimit");
  body = R"({"metadata":{},"items":[{},{"value":"x"}]})";
  EXPECT_EQ(decode_list<PriorityClass>(body).error().where, "items[1].value");

  body =
      R"({"metadata":{},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b","namespace":"x"},)"
      R"("status":{"disruptionsAllowed":"x"}},{"metadata":{"name":"c"}}]})";
  Result<ListPage<PodDisruptionBudget>> budgets = decode_list<PodDisruptionBudget>(body);
  ASSERT_TRUE(budgets.has_value()) << describe(budgets.error());
  EXPECT_EQ(budgets->items.size(), 2u) << "one that can't be read costs no other its place";
  ASSERT_EQ(budgets->unread.size(), 1u);
  EXPECT_EQ(budgets->unread[0].key.str(), "x/b");
  EXPECT_EQ(budgets->unread[0].error.where, "items[1].status.disruptionsAllowed");

  std::string large = R"({"metadata":{"resourceVersion":"1"},"items":[)";
  for (int i = 0; i < 300; ++i) large += std::string(i == 0 ? "" : ",") + kPod;
  large += "]}";
  EXPECT_EQ(decode_list<Pod>(large)->items.size(), 300u) << "beyond the event parser's size";
}

}  // namespace
}  // namespace berth::test
