// SPDX-License-Identifier: Apache-2.0
// Which refusals count as permanent, for how long, and how the server's message is reported.
#include "controller/core/refused_write.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::test {
namespace {

using std::chrono::seconds;
using ::testing::EndsWith;
using ::testing::HasSubstr;

const ObjectRef kNode{"Node", "", "n3", "uid-n3"};

Error refusal(std::string message, ErrorKind kind = ErrorKind::kForbidden) {
  return {.kind = kind, .message = std::move(message), .where = {}, .http_code = 403};
}

struct RefusedWrites : ::testing::Test {
  void hear(Verb verb, const std::string& manager, bool yes,
            const Error& error = refusal("nodes \"n3\" is forbidden: no"),
            const ObjectRef& object = kNode) {
    const Step step = Write{.verb = verb, .object = object, .body = {}, .field_manager = manager};
    answers.put(question(step), {.yes = yes,
                                 .error = yes ? Error{} : error,
                                 .against = {},
                                 .at = now,
                                 .object = object.str(),
                                 .field_manager = manager,
                                 .reason = "cordon it"});
    now += seconds(1);
  }
  std::optional<RefusedWrite> refused(const std::string& manager = "mig") {
    return refused_write({cluster, answers, settings, now}, kNode, manager);
  }
  ClusterState cluster;
  Answers answers;
  Settings settings;
  Time now{seconds(1000)};
};

TEST_F(RefusedWrites, TheLastWriteOfTheObjectByTheManagerCounts) {
  EXPECT_FALSE(refused());
  hear(Verb::kMergePatch, "mig", false);
  ASSERT_TRUE(refused());
  EXPECT_FALSE(refused("policy"));
  hear(Verb::kJsonPatch, "policy", true);
  EXPECT_TRUE(refused()) << "another manager's success says nothing";
  hear(Verb::kJsonPatch, "mig", true);
  EXPECT_FALSE(refused());
}

TEST_F(RefusedWrites, TriesInARowAreCounted) {
  for (int times = 1; times <= 3; ++times) {
    hear(Verb::kJsonPatch, "mig", false);
    EXPECT_EQ(refused()->times, times);
    EXPECT_EQ(refused()->since, Time(seconds(1000)));
  }
  hear(Verb::kJsonPatch, "mig", true);
  hear(Verb::kJsonPatch, "mig", false);
  EXPECT_EQ(refused()->times, 1);
  EXPECT_EQ(refused()->since, Time(seconds(1004)));
}

TEST_F(RefusedWrites, ItCountsUntilItMustHaveBeenTriedAgain) {
  hear(Verb::kJsonPatch, "mig", false);
  now = Time(seconds(1000)) + kRequestTimeout + settings.answer_ttl;
  EXPECT_TRUE(refused());
  now += seconds(1);
  EXPECT_FALSE(refused());
}

TEST_F(RefusedWrites, ConflictsAndTroubleAreNoRefusals) {
  for (const ErrorKind kind :
       {ErrorKind::kConflict, ErrorKind::kNotFound, ErrorKind::kThrottled, ErrorKind::kTimeout,
        ErrorKind::kUnavailable, ErrorKind::kServer, ErrorKind::kUnauthorized})
    EXPECT_FALSE(is_refusal(refusal("x", kind))) << to_string(kind);
  for (const ErrorKind kind : {ErrorKind::kForbidden, ErrorKind::kInvalid, ErrorKind::kBadRequest})
    EXPECT_TRUE(is_refusal(refusal("x", kind))) << to_string(kind);
}

TEST_F(RefusedWrites, OfAllObjectsOfAManagerTheFirstIsTold) {
  const ObjectRef other{"ConfigMap", "gpu-operator", "plugin", "uid"};
  hear(Verb::kJsonPatch, "policy", false);
  hear(Verb::kMergePatch, "policy", false, refusal("is immutable"), other);
  const Snapshot snapshot{cluster, answers, settings, now};
  EXPECT_EQ(refused_write_by(snapshot, "policy")->object, "ConfigMap/gpu-operator/plugin");
  EXPECT_FALSE(refused_write_by(snapshot, "mig"));
}

// berth retries a conflict within seconds, so no object needs to report it.
TEST_F(RefusedWrites, WhatWillPassByItselfIsToldOfNoObject) {
  hear(Verb::kMergePatch, "policy", false, refusal("try again", ErrorKind::kConflict));
  EXPECT_FALSE(refused("policy"));
  EXPECT_FALSE(refused_write_by({cluster, answers, settings, now}, "policy"));
  hear(Verb::kMergePatch, "policy", false);
  EXPECT_TRUE(refused_write_by({cluster, answers, settings, now}, "policy"));
  hear(Verb::kJsonPatch, "policy", true);
  EXPECT_FALSE(refused_write_by({cluster, answers, settings, now}, "policy"))
      << "what the object was refused before, it was allowed then";
  hear(Verb::kJsonPatch, "policy", false);
  EXPECT_TRUE(refused_write_by({cluster, answers, settings, now}, "policy"));
  hear(Verb::kMergePatch, "policy", true);
  EXPECT_FALSE(refused_write_by({cluster, answers, settings, now}, "policy"));
}

TEST_F(RefusedWrites, TheServersWordsAreQuotedOnOneBoundedLine) {
  EXPECT_EQ(told_refusal("cordon it", refusal("nodes \"n3\" is forbidden: ask \"sre\"\nfirst")),
            "the API server refuses it (cordon it): \"ask 'sre' first\"; berth continues once the "
            "write is allowed");
  EXPECT_THAT(told_refusal("x", refusal("User \"berth\" cannot patch: it is forbidden: no")),
              HasSubstr("User 'berth' cannot patch"))
      << "only the server's own lead is left out";
  EXPECT_THAT(told_refusal("x", refusal("nodes \"n3\" is forbidden: ")),
              HasSubstr("\"nodes 'n3' is forbidden: \""))
      << "unless nothing follows it";
  const std::string longest = told_refusal(std::string(500, 'p'), refusal(std::string(9000, 'w')));
  EXPECT_LE(longest.size(), 300u);
  EXPECT_THAT(longest, EndsWith("; berth continues once the write is allowed"));
}

}  // namespace
}  // namespace berth::test
