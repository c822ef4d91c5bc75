// SPDX-License-Identifier: Apache-2.0
// Pods with fields that berth does not read: it must not mistake them for others.
#include <gtest/gtest.h>

#include <string>

#include "tests/apis/protobuf_writer.h"
#include "tests/apis/wire_objects.h"

namespace berth::test {
namespace {

// With any first letter: a newer Kubernetes has fields that berth does not know.
TEST(DecodePod, FieldsOfTheSpecThatBerthDoesNotKnowAreSkipped) {
  for (char first = 'a'; first <= 'z'; ++first)
    for (const char* value :
         {R"([{"name":"x","resources":{"requests":{"cpu":"1"}},"emptyDir":{},"key":"k"}])",
          R"({"podAffinity":{},"requests":{"cpu":"1"},"a":"1"})", R"("text")", "7", "true"}) {
      const std::string field = std::string(1, first) + "Unheard";
      const Result<Pod> pod = decode<Pod>(R"({"spec":{")" + field + "\":" + value + "}}");
      ASSERT_TRUE(pod.has_value()) << field << ": " << describe(pod.error());
      EXPECT_EQ(*pod, Pod()) << field << ": " << value;
    }
  EXPECT_EQ(*decode<Pod>(R"({"spec":{"":[{}]}})"), Pod());
}

TEST(DecodePod, FieldsOfTheStatusThatBerthDoesNotKnowAreSkipped) {
  const Result<Pod> pod = decode<Pod>(R"({"status":{"phase":"Pending","qosClass":"Burstable",
      "conditions":[{"type":"Ready","status":"True","lastProbeTime":"never","reason":7,
                     "lastTransitionTime":"2026-11-21T14:24:00Z"}],
      "startTime":"2026-11-21T14:23:00Z","hostIPs":[{"ip":"10.0.0.1"}],
      "containerStatuses":[{"name":"a","ready":false,"imageID":"",
          "lastState":{"waiting":{"reason":"CrashLoopBackOff"}},
          "state":{"running":{"startedAt":"never"},"waiting":{"message":7,"reason":"ErrImagePull"}}}],
      "ephemeralContainerStatuses":[{"state":{"waiting":{"reason":"Other"}}}]}})");
  ASSERT_TRUE(pod.has_value()) << describe(pod.error());
  EXPECT_EQ(pod->phase, PodPhase::kPending);
  EXPECT_EQ(pod->trouble, "ErrImagePull");
  EXPECT_TRUE(pod->has_been_ready);
}

// One at a time: next to another volume, a mistake would be hidden.
TEST(DecodePod, OnlyAnEmptyDirIsOneInBothEncodings) {
  for (const char* source : {"emptyDir", "configMap", "persistentVolumeClaim", "csi"}) {
    const bool is_empty_dir = std::string_view(source) == "emptyDir";
    const std::string object =
        std::string(R"({"spec":{"volumes":[{"name":"a",")") + source + R"(":{}}]}})";
    EXPECT_EQ(decode<Pod>(object)->has_empty_dir, is_empty_dir) << source;
    std::string event = protobuf_event("ADDED", "Pod", object);
    EXPECT_EQ(decode_watch_event<Pod>(event, Encoding::kProtobuf)->object.has_empty_dir,
              is_empty_dir)
        << source << ", in protobuf";
  }
}

}  // namespace
}  // namespace berth::test
