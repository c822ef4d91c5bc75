// SPDX-License-Identifier: Apache-2.0
// While berth is stopped, `berth why` reports so for every pending workload.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/reasons.h"
#include "controller/explain/explain.h"
#include "tests/queue/queue_objects.h"

namespace berth {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::Not;

class StoppedWhy : public ::testing::Test {
 protected:
  StoppedWhy() {
    GPUClusterPolicy policy = queue::policy_with("training");
    policy.spec.operations = Operations::kStopped;
    policy.meta.annotations.set(names::kStopAnnotation, "incident 4711");
    cluster.upsert(std::move(policy), now);
    cluster.upsert(queue::node_of("n1", 8), now);
  }
  Explanation why(int gpus, const char* node = "") {
    Pod pod;
    pod.meta.name = pod.meta.uid = "train", pod.meta.namespace_ = "ns";
    pod.shape.edit()->requests = {{"nvidia.com/gpu", Quantity::whole(gpus)}};
    pod.node_name = node;
    if (*node != '\0') pod.phase = PodPhase::kRunning;
    cluster.upsert(std::move(pod), now);
    return explain(Snapshot{cluster, answers, settings, now},
                   {.pod = cluster.pods().find("ns", "train")}, no_clues());
  }

  ClusterState cluster;
  Answers answers;
  Settings settings;
  Time now = *parse_time("2026-11-28T09:00:00Z");
};

const auto kSaysSo = Contains(Field(&Explanation::Fact::reason, reasons::kOperationsStopped));

TEST_F(StoppedWhy, IsToldOfWhatWaitsAlone) {
  EXPECT_THAT(why(9).facts, kSaysSo);
  EXPECT_EQ(why(1, "n1").reason, "");
  EXPECT_THAT(why(1, "n1").facts, Not(kSaysSo));
}

}  // namespace
}  // namespace berth
