// SPDX-License-Identifier: Apache-2.0
// The emergency stop: what sets it, how berth describes it, and which changes start and end it.
#include "controller/core/stop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"

namespace berth {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class StopTest : public ::testing::Test {
 protected:
  GPUClusterPolicy policy(Operations operations, const std::string& text = "") {
    GPUClusterPolicy made;
    made.meta.name = made.meta.uid = std::string(limits::kPolicyName);
    made.spec.operations = operations;
    if (!text.empty()) made.meta.annotations.set(names::kStopAnnotation, text);
    return made;
  }
  Namespace own(const std::string& text = "") {
    Namespace made;
    made.meta.name = settings.berth_namespace;
    if (!text.empty()) made.meta.annotations.set(names::kStopAnnotation, text);
    return made;
  }
  template <class T>
  void add(T object) {
    cluster.upsert(std::move(object), now);
  }
  std::optional<Stop> stop() const { return stop_of(cluster, settings); }
  std::string told() const {
    const Answers none;
    const Snapshot snapshot{.cluster = cluster, .answers = none, .settings = settings, .now = now};
    const std::optional<Cause> why = why_stopped(snapshot);
    return why ? why->reason + ": " + why->message : "";
  }

  ClusterState cluster;
  Settings settings;
  Time now = *parse_time("2026-11-28T09:00:00Z");
};

TEST_F(StopTest, TheFieldOfThePolicyStops) {
  EXPECT_EQ(told(), "");
  add(policy(Operations::kStopped));
  EXPECT_EQ(told(), "OperationsStopped: berth is stopped; `berth resume` ends the stop");
  add(policy(Operations::kNormal));
  EXPECT_FALSE(stop());
}

TEST_F(StopTest, TheAnnotationOfThePolicyOnlyDescribesTheStop) {
  const std::string text = encode_stop({"incident 4711", "alice", now});
  add(policy(Operations::kNormal, text));
  EXPECT_FALSE(stop());
  add(policy(Operations::kStopped, text));
  EXPECT_EQ(stop(), (Stop{"incident 4711", "alice", now}));
  EXPECT_EQ(told(),
            "OperationsStopped: berth is stopped since 2026-11-28T09:00:00Z by alice: incident "
            "4711; `berth resume` ends the stop");
}

TEST_F(StopTest, TheAnnotationOfBerthsNamespaceStopsWhateverThePolicySays) {
  add(own("words of an administrator"));
  EXPECT_EQ(stop(), Stop{.reason = "words of an administrator"});
  add(policy(Operations::kNormal));
  EXPECT_TRUE(stop());
  Namespace other = own("theirs");
  other.meta.name = "team-a";
  add(own()), add(other);
  EXPECT_FALSE(stop());
}

TEST_F(StopTest, ThePolicyStopsAlsoWhileItIsDeleted) {
  GPUClusterPolicy going = policy(Operations::kStopped);
  going.meta.deletion_timestamp = now;
  add(going);
  EXPECT_TRUE(stop());
}

TEST_F(StopTest, AnyTextThatIsNotBerthsIsTheReason) {
  EXPECT_EQ(decode_stop("why not"), Stop{.reason = "why not"});
  EXPECT_EQ(decode_stop(R"({"reason":7})"), Stop{.reason = R"({"reason":7})"});
  const Stop quoted{R"(a "quoted" word)", "", std::nullopt};
  EXPECT_EQ(decode_stop(encode_stop(quoted)), quoted);
}

TEST_F(StopTest, AReasonStaysOneLine) {
  add(own("one\ntwo"));
  EXPECT_EQ(told(),
            R"(OperationsStopped: berth is stopped: one\ntwo; `berth resume` ends the stop)");
}

TEST_F(StopTest, ALongReasonLeavesPlaceForTheAdvice) {
  add(own(std::string(1000, 'x')));
  EXPECT_LE(told().size(), limits::kMaxMessage);
  EXPECT_THAT(told(), ::testing::EndsWith("; `berth resume` ends the stop"));
}

TEST_F(StopTest, AConditionIsThereWhileItHolds) {
  const Answers none;
  const Snapshot snapshot{.cluster = cluster, .answers = none, .settings = settings, .now = now};
  std::vector<Condition> conditions;
  add_stopped(snapshot, 3, conditions);
  EXPECT_THAT(conditions, IsEmpty());
  add(own("x"));
  add_stopped(snapshot, 3, conditions);
  ASSERT_EQ(conditions.size(), 1u);
  EXPECT_EQ(conditions[0].type, "Stopped");
  EXPECT_EQ(conditions[0].status, "True");
  EXPECT_EQ(conditions[0].observed_generation, 3);
}

TEST_F(StopTest, TheFigureIsThereAlways) {
  const auto value = [&] { return stop_figures(cluster, settings).at(0).samples.at(0).value; };
  EXPECT_EQ(value(), 0);
  add(policy(Operations::kStopped));
  EXPECT_EQ(value(), 1);
}

TEST_F(StopTest, OnlyAChangeOfTheStopIsOne) {
  const auto changes = [&](const auto& old, const auto& next) {
    return changes_stop(settings, &old, &next);
  };
  const GPUClusterPolicy normal = policy(Operations::kNormal),
                         stopped = policy(Operations::kStopped, "why");
  EXPECT_TRUE(changes(normal, stopped));
  EXPECT_TRUE(changes(stopped, normal));
  EXPECT_FALSE(changes(stopped, stopped));
  EXPECT_TRUE(changes(stopped, policy(Operations::kStopped, "other")));
  EXPECT_FALSE(changes(normal, policy(Operations::kNormal, "other")));
  EXPECT_TRUE(changes_stop(settings, &stopped, static_cast<const GPUClusterPolicy*>(nullptr)));
  EXPECT_TRUE(changes(own(), own("why")));
  EXPECT_TRUE(changes(own("why"), own()));
  EXPECT_FALSE(changes(own("why"), own("why")));
  Namespace other = own("why"), before = own();
  other.meta.name = before.meta.name = "team-a";
  EXPECT_FALSE(changes(before, other));
}

}  // namespace
}  // namespace berth
