// SPDX-License-Identifier: Apache-2.0
// Events from a changed status of the policy, and the keys in its spec that berth may not write.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/reasons.h"
#include "controller/policy/forbidden_keys.h"
#include "controller/policy/policy_events.h"
#include "tests/policy/policy_yaml.h"

namespace berth::test {
namespace {

using namespace reasons;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

GPUClusterPolicyStatus with(const char* type, const char* reason, const char* message = "so",
                            std::int64_t generation = 1) {
  GPUClusterPolicyStatus status;
  status.conditions.push_back({type, "True", reason, message, generation, {}});
  return status;
}

std::vector<std::string> told(const GPUClusterPolicyStatus& before,
                              const GPUClusterPolicyStatus& next, bool labelled = false,
                              bool going = false) {
  GPUClusterPolicy of;
  of.meta.name = "cluster";
  of.status = before;
  if (going) of.meta.deletion_timestamp = Time{};
  std::vector<std::string> out;
  for (const EventNote& event : policy_events(of, next, labelled))
    out.push_back(
        fmt::format("{} {}: {}", event.warning ? "Warning" : "Normal", event.reason, event.note));
  return out;
}

TEST(PolicyNews, ItsStartToGoIsToldOnce) {
  EXPECT_THAT(told({}, with("Reconciling", kRetreating)), ElementsAre("Normal Deleting: so"));
  EXPECT_THAT(told(with("Reconciling", kRetreating), with("Reconciling", kRetreating, "less")),
              IsEmpty());
}

TEST(PolicyNews, LabelsAreToldOnceTheyArePutUnlessAllIsDoneOrItGoes) {
  const auto labelling = with("Reconciling", kLabelling),
             waits = with("Reconciling", kPluginRollout);
  const char* told_labels =
      "Normal PoolsLabelled: 0 nodes carry the labels and taints of their pools";
  EXPECT_THAT(told(labelling, waits, true), ElementsAre(told_labels));
  EXPECT_THAT(told(labelling, waits, false), IsEmpty());
  EXPECT_THAT(told(waits, waits, true), IsEmpty());
  EXPECT_THAT(told(labelling, waits, true, true), IsEmpty());
  EXPECT_THAT(told(labelling, with("Ready", kPoolsInPlace), true),
              ElementsAre("Normal PoolsInPlace: so"));
}

TEST(PolicyNews, WhatBlocksItIsToldForEachReasonAndAgainAfterAnEditWithOtherWords) {
  const auto stalled = with("Stalled", kPolicyInvalid);
  const char* news = "Warning PolicyBlocked: PolicyInvalid: so";
  EXPECT_THAT(told({}, stalled), ElementsAre(news));
  EXPECT_THAT(told(stalled, stalled), IsEmpty());
  EXPECT_THAT(told(with("Stalled", kKeyForbidden), stalled), ElementsAre(news));
  EXPECT_THAT(told(with("Stalled", kPolicyInvalid, "else"), stalled), IsEmpty())
      << "nobody has edited it";
  EXPECT_THAT(told(with("Stalled", kPolicyInvalid, "so", 0), stalled), IsEmpty())
      << "an edit has changed nothing";
  EXPECT_THAT(told(with("Stalled", kPolicyInvalid, "else", 0), stalled), ElementsAre(news));
}

TEST(PolicyNews, AWindowAndABudgetBlockItWithoutAWarning) {
  EXPECT_THAT(told({}, with("Reconciling", kDisruptionWindow)),
              ElementsAre("Normal PolicyBlocked: DisruptionWindow: so"));
  EXPECT_THAT(told({}, with("Reconciling", kPoolMaxUnavailable)),
              ElementsAre("Normal PolicyBlocked: PoolMaxUnavailable: so"));
  EXPECT_THAT(told({}, with("Reconciling", kPluginRollout)), IsEmpty());
}

TEST(PolicyNews, ItsEndIsToldOnce) {
  EXPECT_THAT(told({}, with("Ready", kPoolsInPlace)), ElementsAre("Normal PoolsInPlace: so"));
  EXPECT_THAT(told(with("Ready", kPoolsInPlace), with("Ready", kPoolsInPlace, "more")), IsEmpty());
}

// --- keys of the spec ---

TEST(ForbiddenKeysOfTheSpec, AreNamedByTheirFieldsEachOnce) {
  const GPUClusterPolicy of = policy(
      "pools: [{name: a, nodeSelector: {matchLabels: {tier: a}}, labels: {team: x, may: x}, "
      "taints: "
      "[{key: may, effect: NoSchedule}, {key: team, effect: NoSchedule}]}, {name: b, nodeSelector: "
      "{matchLabels: {tier: b}}, labels: {team: z}, taints: [{key: team, effect: "
      "PreferNoSchedule}]}]");
  const WritableKeys keys{.labels = read_key_list("may"), .taints = read_key_list("may")};
  std::vector<std::string> told;
  for (const ForbiddenKey& key : forbidden_by_spec(of, keys))
    told.push_back(fmt::format("{} {}", key.pool, key.field));
  EXPECT_THAT(told, ElementsAre("a spec.pools[0].labels[team]", "a spec.pools[0].taints[1]"));
  EXPECT_THAT(forbidden_by_spec(of, {}), IsEmpty());
}

TEST(ForbiddenKeysOfTheSpec, NodesThatWaitForOneAreCountedTogether) {
  ForbiddenKeys all;
  for (const char* pool : {"a", "b"})
    add_forbidden({.pool = pool, .field = {}, .item = {"team", {}}, .nodes = 2}, all);
  add_forbidden({.pool = "a", .field = {}, .item = {"team", "NoSchedule"}, .nodes = 1}, all);
  ASSERT_EQ(all.size(), 2u) << "a label and a taint of one key are two";
  EXPECT_EQ(all[0].pool, "a");
  EXPECT_EQ(all[0].nodes, 4);
  EXPECT_EQ(all[1].nodes, 1);
}

}  // namespace
}  // namespace berth::test
