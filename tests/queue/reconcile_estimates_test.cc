// SPDX-License-Identifier: Apache-2.0
// The expected starts in a GPUQueue's status: for which workloads, how often they are written, and
// that the other writer of the status keeps them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apis/codec/decode.h"
#include "controller/queue/starts/start_teller.h"
#include "controller/queue/status/reconcile.h"
#include "tests/queue/queue_objects.h"

namespace berth::queue {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

class ReconcileEstimates : public ::testing::Test {
 protected:
  ReconcileEstimates() {
    add(policy_with("training")), add(node_of("n1", 8));
    add(namespace_of("a", "vision")), add(queue_of("vision", 8));
    berth::Job runs = job_of("a", "runs", 8);
    runs.suspended = false;
    runs.active_deadline_seconds = 3600;
    runs.start_time = now;
    note_admission(runs.meta, "vision", {{"nvidia.com/gpu", 8}});
    add(runs);
    submit("train");
  }
  template <class T>
  void add(T object) {
    object.meta.resource_version = std::to_string(++version);
    cluster.upsert(std::move(object), now);
  }
  void submit(const std::string& name, Duration ago = Duration(0)) {
    berth::Job job = job_of("a", name, 8);
    job.meta.creation_timestamp = now - ago;
    job.active_deadline_seconds = 3600;
    add(job);
  }
  Snapshot snapshot() const { return {cluster, answers, settings, now}; }
  // Returns whether a status differed.
  bool write(const Plan& plan) {
    bool wrote = false;
    for (const StatusUpdate& update : plan.statuses) {
      if (!update.differs) continue;
      wrote = true;
      auto body = nlohmann::json::parse(update.body);
      const GPUQueue& stands = *cluster.gpu_queues().find("vision");
      EXPECT_EQ(body["metadata"]["resourceVersion"], stands.meta.resource_version);
      body["metadata"]["name"] = "vision";
      GPUQueue next = stands;
      std::string text = body.dump();
      next.status = decode_object<GPUQueue>(text)->status;
      add(next);
    }
    return wrote;
  }
  bool tell() { return write(StartTeller().reconcile(snapshot())); }
  // More than is played in one turn; nobody came within a day who would tell of others.
  void submit_many() {
    cluster.erase<berth::Job>("a", "train");
    for (int i = 0; i < 600; ++i) submit(fmt::format("many-{:03}", i), 48h);
    write(reconcile_queues(snapshot()));
  }
  // The number of turns, one second apart, until it writes something.
  int turns_of(StartTeller& teller, Plan& plan) {
    for (int turns = 1; turns < 100; ++turns, now += 1s) {
      plan = teller.reconcile(snapshot());
      if (!plan.statuses.empty()) return turns;
      EXPECT_EQ(plan.requeue_after, 1s);
    }
    return 0;
  }
  PendingWorkload told() { return cluster.gpu_queues().find("vision")->status.pending.front(); }

  ClusterState cluster;
  Answers answers;
  Settings settings;
  Time now = *parse_time("2026-11-21T12:00:00Z");
  int version = 0;
};

TEST_F(ReconcileEstimates, WhatHasWaitedForAMinuteIsToldWhenItBegins) {
  EXPECT_TRUE(write(reconcile_queues(snapshot())));
  EXPECT_FALSE(tell()) << "most of what waits begins within a minute";
  EXPECT_EQ(StartTeller().reconcile(snapshot()).requeue_after, 1min);
  now += 1min;
  EXPECT_TRUE(tell());
  EXPECT_EQ(told().latest_start, *parse_time("2026-11-21T13:00:00Z"));
  EXPECT_EQ(told().earliest_start, *parse_time("2026-11-21T12:00:00Z"));
}

TEST_F(ReconcileEstimates, WhatStillHoldsIsNotWrittenAnew) {
  write(reconcile_queues(snapshot()));
  now += 1min;
  EXPECT_TRUE(tell());
  int writes = 0;
  for (int minute = 2; minute < 58; ++minute) {
    now += 1min;
    writes += tell() ? 1 : 0;
    EXPECT_GE(told().latest_start, *parse_time("2026-11-21T13:00:00Z"));
  }
  EXPECT_LE(writes, 6) << "each time with half of the width";
  EXPECT_GT(writes, 0);
}

TEST_F(ReconcileEstimates, OtherNewsOfTheStatusLeaveItAlone) {
  write(reconcile_queues(snapshot()));
  now += 1min;
  tell();
  submit("second");
  EXPECT_TRUE(write(reconcile_queues(snapshot())));
  ASSERT_THAT(cluster.gpu_queues().find("vision")->status.pending, SizeIs(2));
  EXPECT_EQ(told().latest_start, *parse_time("2026-11-21T13:00:00Z"));
  // A new Job with an old name is another workload.
  cluster.erase<berth::Job>("a", "train");
  submit("train");
  write(reconcile_queues(snapshot()));
  for (const PendingWorkload& each : cluster.gpu_queues().find("vision")->status.pending)
    EXPECT_FALSE(each.latest_start) << each.workload;
}

TEST_F(ReconcileEstimates, ForWhomAPlaceIsKeptIsToldFromWhenOn) {
  GPUQueue queue = *cluster.gpu_queues().find("vision");
  queue.spec.reserve_after = 1min;
  add(queue);
  write(reconcile_queues(snapshot()));
  EXPECT_FALSE(told().reserved_from) << "it has not waited for long enough";
  now += 1min;
  submit("second");
  EXPECT_TRUE(write(reconcile_queues(snapshot())));
  EXPECT_EQ(told().reserved_from, *parse_time("2026-11-21T13:00:00Z"));
  EXPECT_THAT(told().message, HasSubstr("from 2026-11-21T13:00:00Z at the latest"));
  const auto& pending = cluster.gpu_queues().find("vision")->status.pending;
  ASSERT_THAT(pending, SizeIs(2));
  EXPECT_FALSE(pending.back().reserved_from) << "it is not kept for whoever waits behind";
  tell();
  EXPECT_TRUE(told().reserved_from) << "who tells of starts leaves it alone";
}

TEST_F(ReconcileEstimates, WithoutDeclaredTimesNothingIsWritten) {
  berth::Job runs = *cluster.jobs().find("a", "runs");
  runs.active_deadline_seconds.reset();
  add(runs);
  write(reconcile_queues(snapshot()));
  now += 10min;
  EXPECT_FALSE(tell());
}

TEST_F(ReconcileEstimates, WhatRunsOnBeyondItsDeadlineIsWaitedForWithoutARange) {
  write(reconcile_queues(snapshot()));
  now += 64min;
  EXPECT_TRUE(tell());
  EXPECT_TRUE(told().latest_start) << "whoever ends it takes a while";
  now += 2min;
  EXPECT_TRUE(tell());
  EXPECT_FALSE(told().earliest_start);
  for (int minute = 0; minute < 60; ++minute) {
    now += 1min;
    EXPECT_FALSE(tell()) << "nothing happens";
  }
}

TEST_F(ReconcileEstimates, WhoCanNoMoreBeToldIsToldNothing) {
  write(reconcile_queues(snapshot()));
  now += 1min;
  EXPECT_TRUE(tell());
  berth::Job runs = *cluster.jobs().find("a", "runs");
  runs.active_deadline_seconds.reset();
  add(runs);
  EXPECT_TRUE(tell());
  EXPECT_FALSE(told().earliest_start);
}

TEST_F(ReconcileEstimates, WhereMuchWaitsARoundTakesSeveralTurns) {
  submit_many();
  EXPECT_FALSE(tell()) << "one is not enough";
  StartTeller teller;
  Plan plan;
  const int turns = turns_of(teller, plan);
  EXPECT_GT(turns, 2);
  EXPECT_EQ(plan.requeue_after, 61s - turns * 1s) << "a minute after it was begun";
  EXPECT_TRUE(write(plan));
  EXPECT_EQ(told().latest_start, *parse_time("2026-11-21T13:00:00Z"));
  EXPECT_FALSE(write(teller.reconcile(snapshot()))) << "the next is not due yet";
}

TEST_F(ReconcileEstimates, ARoundOfLongAgoIsBegunAnew) {
  submit_many();
  StartTeller teller;
  EXPECT_THAT(teller.reconcile(snapshot()).statuses, IsEmpty());
  now += 10min;
  submit("late", 72h);
  write(reconcile_queues(snapshot()));
  Plan plan;
  EXPECT_GT(turns_of(teller, plan), 2);
  EXPECT_TRUE(write(plan));
  EXPECT_EQ(told().workload, "a/late");
  EXPECT_TRUE(told().latest_start) << "else it was not there all the time";
}

TEST_F(ReconcileEstimates, WhereNothingWaitsItIsNotDueAgain) {
  cluster.erase<berth::Job>("a", "train");
  write(reconcile_queues(snapshot()));
  EXPECT_FALSE(tell());
  EXPECT_FALSE(StartTeller().reconcile(snapshot()).requeue_after);
}

}  // namespace
}  // namespace berth::queue
