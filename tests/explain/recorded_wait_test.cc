// SPDX-License-Identifier: Apache-2.0
// Which reasons of a pending workload count as recorded.
#include "controller/explain/recorded_wait.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"

namespace berth {
namespace {

const Time kAskedAt = *parse_time("2026-11-21T12:00:00Z");

ObjectMeta annotated(const std::string& text) {
  ObjectMeta meta;
  meta.annotations.set(names::kPendingReasonAnnotation, text);
  return meta;
}

GPUQueue listing(std::vector<PendingWorkload> pending) {
  GPUQueue queue;
  queue.status.totals.pending = 7;
  queue.status.pending = std::move(pending);
  return queue;
}

TEST(RecordedWait, IsTheStatusBeforeTheAnnotation) {
  const GPUQueue queue = listing(
      {{.workload = "a/train", .position = 3, .reason = "WaitingForRoom", .message = "needs 4"}});
  const ObjectMeta meta = annotated("WaitingForQuota: needs 8 (as of 2026-11-21T11:00:00Z)");
  const auto listed = recorded_wait(&queue, "Job/a/train", meta);
  ASSERT_TRUE(listed.has_value());
  EXPECT_EQ(listed->reason, "WaitingForRoom");
  EXPECT_EQ(listed->message, "needs 4");
  EXPECT_EQ(place_in_queue(*listed), "place 3 of 7");
  for (const GPUQueue* other : {static_cast<const GPUQueue*>(nullptr), &queue}) {
    const auto noted = recorded_wait(other, "Job/a/other", meta);
    ASSERT_TRUE(noted.has_value());
    EXPECT_EQ(noted->reason, "WaitingForQuota");
    EXPECT_EQ(noted->message, "needs 8 (as of 2026-11-21T11:00:00Z)");
    EXPECT_EQ(place_in_queue(*noted), "");
  }
}

TEST(RecordedWait, IsNotOfAnotherWithTheSameName) {
  const GPUQueue queue = listing({{.workload = "a/x", .position = 1, .reason = "WaitingForRoom"},
                                  {.workload = "a/x", .position = 2, .reason = "Fragmented"}});
  EXPECT_FALSE(recorded_wait(&queue, "Job/a/x", {}).has_value());
  EXPECT_EQ(recorded_wait(&queue, "Pod/a/x", annotated("NoQuota: none"))->reason, "NoQuota");
}

TEST(RecordedWait, TakesTheAnnotationsWordsWhereTheStatusHasNone) {
  const GPUQueue queue = listing({{.workload = "a/x", .position = 1, .reason = "Reserved"}});
  EXPECT_EQ(recorded_wait(&queue, "Job/a/x", annotated("Reserved: kept"))->message, "kept");
  EXPECT_EQ(recorded_wait(&queue, "Job/a/x", annotated("NoQuota: none"))->message, "");
}

TEST(RecordedWait, IsNoAnnotationThatBerthWouldNotWrite) {
  for (const char* text : {"", "waits", ": x", "not a reason: x", "lower: x", "Reason:x"})
    EXPECT_FALSE(recorded_wait(nullptr, "Job/a/x", annotated(text)).has_value()) << text;
}

TEST(RecordedWait, IsShownUpToTheClauseThatNamesWorkOfOthers) {
  const auto shown = [](const std::string& reason, const std::string& message) {
    return words_for(reason, message, [](std::string_view it) { return it == "a"; });
  };
  EXPECT_EQ(shown("WaitingForQuota", "needs 4, 2 free"), "needs 4, 2 free");
  EXPECT_EQ(shown("Reserved", "that is kept for Job/a/own"), "that is kept for Job/a/own");
  EXPECT_EQ(shown("Reserved", "that is kept for Job/b/other"), "");
  EXPECT_EQ(shown("WaitingForQuota", "needs 4; PodGroup/b/x stays; Pod/a/y"), "needs 4");
  EXPECT_EQ(shown("WaitingForQuota", "Job/"), "");
  EXPECT_EQ(shown("ReleaseRefused", "no"), "") << "the words of the API server";
  EXPECT_EQ(shown("Unheard", "no"), "");
}

TEST(RecordedWait, SaysWhenItBeginsAsFarAsTheStatusDoes) {
  RecordedWait wait;
  EXPECT_EQ(expected_start(wait, kAskedAt), "");
  wait.earliest = kAskedAt + std::chrono::hours(1);
  EXPECT_EQ(expected_start(wait, kAskedAt), "it begins at 2026-11-21T13:00:00Z or later");
  wait.latest = kAskedAt + std::chrono::hours(2);
  EXPECT_EQ(expected_start(wait, kAskedAt + std::chrono::hours(1)),
            "it begins between now and 2026-11-21T14:00:00Z, by declared run times and those of "
            "finished Jobs");
}

}  // namespace
}  // namespace berth
