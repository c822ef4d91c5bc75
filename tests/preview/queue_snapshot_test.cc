// SPDX-License-Identifier: Apache-2.0
// What the queues are decided from is in a snapshot: the objects as the API server writes them give
// the same facts, whether they were read as they are or went through a snapshot.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apis/codec/decode.h"
#include "controller/dump/dump.h"
#include "controller/preview/queue_picture.h"
#include "controller/queue/index/facts_from.h"
#include "tests/preview/cases.h"

namespace berth {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::Key;
using testing::Not;

const Time kNow = Time(std::chrono::seconds(1'800'000'000));

// Beside what the case holds: Jobs in every state that a fact tells of, and what belongs to them.
constexpr char kMore[] = R"([
 {"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"again","namespace":"vision","uid":"j1",
   "creationTimestamp":"2026-11-21T08:00:00Z","annotations":{"kubectl.kubernetes.io/x":"y",
   "gpu.berth.dev/admitted":"{\"queue\":\"vision\",\"cohort\":\"research\",\"pool\":\"training\",\"pods\":2,\"amounts\":{\"nvidia.com/gpu\":\"4\"}}"}},
  "spec":{"suspend":true,"parallelism":3,"completions":5,"completionMode":"Indexed",
   "template":{"metadata":{"labels":{"a":"b"}},"spec":{"priorityClassName":"deadline",
    "containers":[{"image":"x","resources":{"requests":{"nvidia.com/gpu":"2","cpu":"1500m"}}}]}}},
  "status":{"succeeded":1,"active":1,"startTime":"2026-11-21T08:30:00Z",
   "conditions":[{"type":"Suspended","status":"True","message":"m"}]}},
 {"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"by-hand","namespace":"vision","uid":"j2",
   "annotations":{"gpu.berth.dev/hold":""}},
  "spec":{"suspend":true,"template":{"spec":{"containers":[{"resources":{"requests":{"nvidia.com/gpu":"1"}}}]}}}},
 {"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"launcher","namespace":"vision","uid":"j3",
   "labels":{"gpu.berth.dev/queue":"vision"}},
  "spec":{"suspend":true,"template":{"spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}]}}}},
 {"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"ended","namespace":"vision","uid":"j4"},
  "spec":{"template":{"spec":{"containers":[{"resources":{"requests":{"nvidia.com/gpu":"1"}}}]}}},
  "status":{"conditions":[{"type":"Complete","status":"True"}]}},
 {"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"sums","namespace":"vision","uid":"j5"},
  "spec":{"suspend":true,"template":{"spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}]}}}},
 {"kind":"PriorityClass","apiVersion":"scheduling.k8s.io/v1","metadata":{"name":"deadline"},"value":1000},
 {"kind":"PriorityClass","apiVersion":"scheduling.k8s.io/v1","metadata":{"name":"usual"},"value":5,"globalDefault":true},
 {"kind":"Pod","apiVersion":"v1","metadata":{"name":"lead-0","namespace":"speech","uid":"p1",
   "labels":{"gpu.berth.dev/pod-group":"ring"},"annotations":{"gpu.berth.dev/pod-group-size":"3"}},
  "spec":{"schedulingGates":[{"name":"gpu.berth.dev/queue"}],
   "containers":[{"resources":{"requests":{"cpu":"1"}}}]},"status":{"phase":"Pending"}}])";

template <class T>
void put(const json& object, ClusterState& cluster) {
  std::string text = object.dump();
  Result<T> read = decode_object<T>(text);
  ASSERT_TRUE(read.has_value()) << describe(read.error());
  cluster.upsert(*std::move(read), kNow);
}

class QueueSnapshot : public testing::Test {
 protected:
  void SetUp() override {
    objects_ = json::parse(read_text(kGoldens / "queues-edited/cluster.json"))["items"];
    for (const json& object : json::parse(kMore)) objects_.push_back(object);
    Watched::each([&]<class T>() {
      for (const json& object : objects_)
        if (object["kind"] == kKind<T>.kind) {
          put<T>(object, live_);
          EXPECT_TRUE(writer_.add_object(kKind<T>, object.dump()).has_value());
        }
    });
    Result<Dump> dump = load_dump(writer_.str(kNow));
    ASSERT_TRUE(dump.has_value()) << describe(dump.error());
    kept_ = std::move(dump->cluster);
  }

  json objects_;
  DumpWriter writer_;
  ClusterState live_, kept_;
};

TEST_F(QueueSnapshot, HoldsEveryFactOfWhatWaitsAndRuns) {
  std::size_t jobs = 0, pods = 0;
  for (const auto& job : live_.jobs()) {
    if (job->meta.name == "ended" || job->meta.name == "sums") continue;
    const Job* kept = kept_.jobs().find(job->meta.namespace_.view(), job->meta.name);
    ASSERT_NE(kept, nullptr) << job->meta.name;
    EXPECT_EQ(queue::job_fact(*kept, "q", 7), queue::job_fact(*job, "q", 7)) << job->meta.name;
    EXPECT_EQ(kept->priority_class_name, job->priority_class_name);
    ++jobs;
  }
  for (const auto& pod : live_.pods()) {
    const Pod* kept = kept_.pods().find(pod->meta.namespace_.view(), pod->meta.name);
    ASSERT_NE(kept, nullptr) << pod->meta.name;
    EXPECT_EQ(queue::pod_fact(*kept, "q", 7), queue::pod_fact(*pod, "q", 7)) << pod->meta.name;
    ++pods;
  }
  for (const auto& queue : live_.store<GPUQueue>())
    EXPECT_EQ(queue::queue_fact(*kept_.store<GPUQueue>().find(queue->meta.name)),
              queue::queue_fact(*queue));
  for (const auto& node : live_.nodes())
    EXPECT_EQ(queue::node_fact(*kept_.nodes().find(node->meta.name), "p"),
              queue::node_fact(*node, "p"));
  EXPECT_GE(jobs, 10u);
  EXPECT_GE(pods, 4u);
}

TEST_F(QueueSnapshot, TellsEachWorkloadWhatTheClusterTells) {
  const QueuePicture live(live_), kept(kept_);
  ASSERT_THAT(live.waiting(), Contains(Key("Job/vision/again")));
  ASSERT_THAT(live.waiting(), Contains(Key("Job/vision/launcher")));
  EXPECT_THAT(live.waiting(), Not(Contains(Key("Job/vision/by-hand"))));
  ASSERT_EQ(kept.waiting().size(), live.waiting().size());
  for (const auto& [workload, verdict] : live.waiting()) {
    const QueueVerdict* same = kept.find(workload);
    ASSERT_NE(same, nullptr) << workload;
    EXPECT_EQ(same->queue, verdict.queue) << workload;
    EXPECT_EQ(same->reason, verdict.reason) << workload;
    EXPECT_EQ(same->message, verdict.message) << workload;
    EXPECT_EQ(same->position, verdict.position) << workload;
  }
}

TEST_F(QueueSnapshot, LeavesOutJobsThatNoQueueHolds) {
  EXPECT_EQ(kept_.jobs().find("vision", "ended"), nullptr);
  EXPECT_EQ(kept_.jobs().find("vision", "sums"), nullptr);
}

}  // namespace
}  // namespace berth
