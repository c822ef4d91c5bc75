// SPDX-License-Identifier: Apache-2.0
// Pods and nodes in protobuf give the same slices as in JSON, and foreign bytes give errors.
#define PROTOZERO_USE_VIEW std::string_view
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <protozero/pbf_writer.hpp>
#include <string>

#include "tests/apis/protobuf_writer.h"
#include "tests/apis/wire_objects.h"

namespace berth::test {
namespace {

using protozero::pbf_writer;
using ::testing::HasSubstr;

template <class T>
Result<WatchEvent<T>> decode_event(std::string event) {
  return decode_watch_event<T>(event, Encoding::kProtobuf);
}

// An event with these bytes as its pod.
std::string event_with(const std::string& pod) {
  std::string unknown("k8s\0", 4), raw, event;
  pbf_writer(unknown).add_bytes(2, pod);
  pbf_writer(raw).add_bytes(1, unknown);
  pbf_writer(event).add_string(1, "ADDED");
  pbf_writer(event).add_message(2, raw);
  return event;
}

std::string message_in(std::uint32_t number, const std::string& message) {
  std::string out;
  pbf_writer(out).add_message(number, message);
  return out;
}

TEST(Protobuf, APodAndANodeAreWhatTheyAreInJson) {
  Result<WatchEvent<Pod>> pod = decode_event<Pod>(protobuf_event("MODIFIED", "Pod", kPod));
  ASSERT_TRUE(pod.has_value()) << describe(pod.error());
  EXPECT_EQ(pod->type, WatchEvent<Pod>::Type::kModified);
  EXPECT_EQ(pod->object, *decode<Pod>(kPod));
  EXPECT_EQ(pod->object.meta.resource_version, "4711") << "which == leaves out";

  Result<WatchEvent<Node>> node = decode_event<Node>(protobuf_event("DELETED", "Node", kNode));
  ASSERT_TRUE(node.has_value()) << describe(node.error());
  EXPECT_EQ(node->type, WatchEvent<Node>::Type::kDeleted);
  EXPECT_EQ(node->object, *decode<Node>(kNode));
}

TEST(Protobuf, AListIsKnownByItsFirstBytes) {
  const std::string list = R"({"metadata":{"resourceVersion":"50","continue":"abc"},"items":[)" +
                           std::string(kPod) + "," + kPod + "]}";
  std::string as_protobuf = protobuf_body("PodList", list), as_json = list;
  Result<ListPage<Pod>> page = decode_list<Pod>(as_protobuf);
  ASSERT_TRUE(page.has_value()) << describe(page.error());
  EXPECT_EQ(page->resource_version, "50");
  EXPECT_EQ(page->continue_token, "abc");
  EXPECT_EQ(page->items, decode_list<Pod>(as_json)->items);
  as_protobuf = protobuf_body("PodList", "{}");
  EXPECT_TRUE(decode_list<Pod>(as_protobuf)->items.empty());
}

TEST(Protobuf, BookmarksAndErrorsAreRead) {
  Result<WatchEvent<Pod>> event = decode_event<Pod>(protobuf_event(
      "BOOKMARK", "Pod",
      R"({"metadata":{"resourceVersion":"99","annotations":{"k8s.io/initial-events-end":"true"}}})"));
  ASSERT_TRUE(event.has_value()) << describe(event.error());
  EXPECT_EQ(event->type, WatchEvent<Pod>::Type::kBookmark);
  EXPECT_EQ(event->object.meta.resource_version, "99");
  EXPECT_TRUE(event->initial_events_end);
  event = decode_event<Pod>(
      protobuf_event("BOOKMARK", "Pod", R"({"metadata":{"resourceVersion":"100"}})"));
  EXPECT_FALSE(event->initial_events_end);

  event = decode_event<Pod>(protobuf_event(
      "ERROR", "Status",
      R"({"status":"Failure","message":"too old resource version","reason":"Expired","code":410})"));
  ASSERT_TRUE(event.has_value()) << describe(event.error());
  EXPECT_EQ(event->type, WatchEvent<Pod>::Type::kError);
  EXPECT_EQ(event->error.kind, ErrorKind::kGone);
  EXPECT_EQ(event->error.http_code, 410);
  EXPECT_EQ(event->error.message, "too old resource version");
}

TEST(Protobuf, ARefusalIsWhatItIsInJson) {
  for (
      const char* status :
      {R"({"kind":"Status","message":"wait","reason":"Timeout","details":{"causes":[{"reason":"ResourceVersionTooLarge",
"message":"Too large","field":"f"}],"retryAfterSeconds":1},"code":504})",
       R"({"kind":"Status","reason":"Forbidden","code":403})", R"({"kind":"Status"})"}) {
    const Error json = decode_status(504, status);
    const Error protobuf = decode_status(504, protobuf_body("Status", status));
    EXPECT_EQ(protobuf.kind, json.kind) << status;
    EXPECT_EQ(protobuf.reason, json.reason) << status;
    EXPECT_EQ(protobuf.message, json.message) << status;
    EXPECT_EQ(protobuf.causes, json.causes) << status;
    EXPECT_EQ(protobuf.retry_after, json.retry_after) << status;
    EXPECT_EQ(protobuf.http_code, 504) << status;
  }
  EXPECT_EQ(decode_status(503, std::string("k8s\0\xff", 5)).kind, ErrorKind::kUnavailable);
}

// Protobuf contains zero values that JSON leaves out.
TEST(Protobuf, ZerosAreAbsent) {
  const Result<WatchEvent<Node>> node = decode_event<Node>(
      protobuf_event("ADDED", "Node", R"({"metadata":{},"spec":{"unschedulable":false}})"));
  ASSERT_TRUE(node.has_value());
  EXPECT_FALSE(node->object.unschedulable.has_value()) << "a JSON patch could not test for false";
  std::string meta;
  pbf_writer(meta).add_message(8, std::string());  // the zero value of metav1.Time
  pbf_writer(meta).add_message(9, std::string());
  const Result<WatchEvent<Pod>> pod = decode_event<Pod>(event_with(message_in(1, meta)));
  ASSERT_TRUE(pod.has_value());
  EXPECT_EQ(pod->object, Pod());
}

TEST(Protobuf, BytesThatAreNoUtf8AreReplaced) {
  std::string annotation, meta;
  pbf_writer(annotation).add_string(1, "gpu.berth.dev/hold");
  pbf_writer(annotation).add_string(2, "caf\xe9 \u2713");
  pbf_writer(meta).add_message(12, annotation);
  const Result<WatchEvent<Pod>> pod = decode_event<Pod>(event_with(message_in(1, meta)));
  ASSERT_TRUE(pod.has_value());
  EXPECT_EQ(pod->object.meta.annotations.get("gpu.berth.dev/hold"), "caf\uFFFD \u2713");
}

TEST(Protobuf, WhatCannotBeIsAnErrorThatSaysSo) {
  std::string late, text_for_number, number_for_text;
  pbf_writer(late).add_int64(1, 253'402'300'800);  // the year 10000
  pbf_writer(text_for_number).add_string(25, "high");
  pbf_writer(number_for_text).add_int64(10, 7);
  const std::string quantity = protobuf_message("Pod", R"({"spec":{"overhead":{"cpu":"many"}}})");
  const std::string wide = protobuf_message("Pod", R"({"spec":{"priority":4294967296}})");
  const std::string op = protobuf_message(
      "Pod",
      R"({"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Near"}]}]}}}}})");
  struct {
    std::string pod;
    const char* says;
  } cases[] = {{message_in(1, message_in(8, late)), "no time"},
               {message_in(2, text_for_number), "field 25 is no number"},
               {message_in(2, number_for_text), "field 10 is no string"},
               {quantity, "many"},
               {wide, "does not fit in 32 bits"},
               {op, "\"Near\""},
               {"\xff\xff", "protobuf"}};
  for (const auto& c : cases) {
    const Result<WatchEvent<Pod>> event = decode_event<Pod>(event_with(c.pod));
    ASSERT_FALSE(event.has_value()) << c.says;
    EXPECT_EQ(event.error().kind, ErrorKind::kDecode);
    EXPECT_THAT(event.error().message, HasSubstr(c.says));
  }
  EXPECT_THAT(decode_event<Pod>(protobuf_event("MOVED", "Pod", "{}")).error().message,
              HasSubstr("type"));
  std::string bare, event;
  pbf_writer(bare).add_bytes(1, protobuf_message("Pod", kPod));
  pbf_writer(event).add_string(1, "ADDED");
  pbf_writer(event).add_message(2, bare);
  EXPECT_THAT(decode_event<Pod>(event).error().message, HasSubstr("envelope"));
  EXPECT_FALSE(decode_event<Job>(protobuf_event("ADDED", "Pod", kPod)).has_value());
}

TEST(Protobuf, SurvivesTruncationAtEveryByte) {
  const std::string whole = protobuf_event("ADDED", "Pod", kPod);
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(decode_event<Pod>(whole.substr(0, size)).has_value()) << "cut after " << size;
}

}  // namespace
}  // namespace berth::test
