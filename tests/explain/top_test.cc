// SPDX-License-Identifier: Apache-2.0
// `berth top`: each table of a small cluster, as printed.
#include "controller/explain/top.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "tests/queue/queue_objects.h"

namespace berth {
namespace {

using queue::job_of;

class Top : public ::testing::Test {
 protected:
  Top() {
    add(queue::policy_with("training"));
    add(queue::namespace_of("a", "vision")), add(queue::namespace_of("b", "nlp"));
    Node node = queue::node_of("n1", 8);
    node.meta.labels.set(names::kPoolLabel, "training");
    add(node);
    node.meta.name = node.meta.uid = "n2";
    node.unschedulable = true;
    add(node);
    GPUQueue vision = queue::queue_of("vision", 4);
    vision.status.totals = {.admitted = 1, .pending = 1, .used = "6/4", .borrowed = 2};
    vision.status.totals.oldest_pending = now - std::chrono::minutes(90);
    vision.status.usage.push_back({"nvidia.com/gpu", "training", "4", "6", "2", "8"});
    add(vision);
    GPUQueue alone = queue::queue_of("nlp", 12);
    alone.spec.cohort_name.clear();
    alone.status.usage.push_back({"nvidia.com/gpu", "training", "12", "0", "0", "0"});
    add(alone);
    Job runs = job_of("a", "runs", 6);
    runs.suspended = false;
    queue::note_admission(runs.meta, "vision", {{"nvidia.com/gpu", 6}});
    add(runs);
    Job waits = job_of("a", "waits", 8);
    waits.meta.creation_timestamp = now - std::chrono::minutes(90);
    add(waits);
    add(job_of("b", "other", 1));
  }
  template <class T>
  void add(T object) {
    cluster.upsert(std::move(object), now);
  }
  Snapshot snapshot() const { return {cluster, answers, settings, now}; }

  ClusterState cluster;
  Answers answers;
  Settings settings;
  Time now = *parse_time("2026-11-21T12:00:00Z");
};

TEST_F(Top, QueuesAreToldFromTheirStatuses) {
  EXPECT_EQ(print_text(top_queues(snapshot())),
            "QUEUE   COHORT    POOL      RESOURCE        NOMINAL  USED  BORROWED  ASKED  ADMITTED  "
            "PENDING  OLDEST\n"
            "nlp     -         training  nvidia.com/gpu  12       0     0         0      0         "
            "0        -\n"
            "vision  research  training  nvidia.com/gpu  4        6     2         8      1         "
            "1        1h30m\n");
}

TEST_F(Top, NamespacesHoldWhatTheirWorkloadsAreCharged) {
  EXPECT_EQ(print_text(top_namespaces(snapshot(), "a")),
            "NAMESPACE  QUEUE   HOLDS             ADMITTED  PENDING  OLDEST\n"
            "a          vision  6 nvidia.com/gpu  1         1        1h30m\n");
  EXPECT_EQ(top_namespaces(snapshot(), "").rows.size(), 2U);
  EXPECT_EQ(print_text(top_namespaces(snapshot(), "none")), "Nothing to tell.\n");
}

TEST_F(Top, PoolsOfferWhatTheirNodesInServiceDo) {
  EXPECT_EQ(print_text(top_pools(snapshot())),
            "POOL      RESOURCE        NODES  OUT  OFFERED  NOMINAL  USED\n"
            "training  nvidia.com/gpu  2      1    8        16       6\n");
}

TEST_F(Top, ProgramsGetTheRowsAsObjects) {
  const auto json = nlohmann::json::parse(print_json(top_pools(snapshot())));
  EXPECT_EQ(json["kind"], "PoolTop");
  EXPECT_EQ(json["items"][0]["offered"], "8");
}

// Names of queues are restricted; the fields of other clients may hold anything.
TEST_F(Top, WhatOthersWroteIsPrintedHarmlessly) {
  GPUQueue forged = queue::queue_of("forged", 1);
  forged.spec.cohort_name = "\x1b[31mred";
  forged.status.usage.push_back({"nvidia.com/gpu", "training", "1", "0", "0", "0"});
  add(forged);
  EXPECT_EQ(print_text(top_queues(snapshot())).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace berth
