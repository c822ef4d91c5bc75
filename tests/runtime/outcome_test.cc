// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

const ObjectRef kN1{"Node", "", "n1", "u1"};
const ObjectRef kN2{"Node", "", "n2", "u2"};

Verdict failed_with(Fate fate, std::string message,
                    std::optional<std::chrono::seconds> retry_after = {}) {
  Error error{.kind = ErrorKind::kServer, .message = std::move(message)};
  error.retry_after = retry_after;
  return {fate, std::move(error)};
}

TEST(Fates, OfAnErrorGoByItsKind) {
  struct Case {
    ErrorKind kind;
    Fate fate;
  };
  for (const Case& c : {
           Case{ErrorKind::kConflict, Fate::kConflict},
           Case{ErrorKind::kAlreadyExists, Fate::kConflict},
           Case{ErrorKind::kNotFound, Fate::kConflict},
           Case{ErrorKind::kGone, Fate::kConflict},
           Case{ErrorKind::kInvalid, Fate::kRejected},
           Case{ErrorKind::kForbidden, Fate::kRejected},
           Case{ErrorKind::kBadRequest, Fate::kRejected},
           Case{ErrorKind::kCancelled, Fate::kStopped},
           Case{ErrorKind::kUnauthorized, Fate::kRetry},
           Case{ErrorKind::kThrottled, Fate::kRetry},
           Case{ErrorKind::kTimeout, Fate::kRetry},
           Case{ErrorKind::kUnavailable, Fate::kRetry},
           Case{ErrorKind::kServer, Fate::kRetry},
           Case{ErrorKind::kDecode, Fate::kRetry},
       })
    EXPECT_STREQ(to_string(fate_of(Error{.kind = c.kind})), to_string(c.fate))
        << static_cast<int>(c.kind);
  EXPECT_EQ(fate_of(not_leading()), Fate::kStopped);
}

TEST(Outcomes, TheWorstOfSeveralCountsWithItsError) {
  Outcome outcome;
  EXPECT_EQ(outcome.fate, Fate::kNothing);
  outcome.settle(kN1, {Fate::kDone, Error()});
  EXPECT_EQ(outcome.fate, Fate::kDone);
  EXPECT_EQ(outcome.error, "");
  outcome.settle(kN1, failed_with(Fate::kRetry, "slow"), /*has_line=*/true);
  outcome.settle(kN2, failed_with(Fate::kRefused, "pods are there"));
  EXPECT_EQ(outcome.fate, Fate::kRetry);
  EXPECT_THAT(outcome.error, HasSubstr("slow"));
  EXPECT_TRUE(outcome.logged);
  outcome.settle(kN2, failed_with(Fate::kRejected, "never"));
  EXPECT_EQ(outcome.fate, Fate::kRejected);
  EXPECT_FALSE(outcome.logged);
}

TEST(Outcomes, EachObjectThatTheCacheIsBehindOnIsNamed) {
  Outcome outcome;
  outcome.settle(kN1, failed_with(Fate::kConflict, "moved"));
  outcome.settle(kN2, failed_with(Fate::kRejected, "never"));
  outcome.settle(kN2, failed_with(Fate::kConflict, "moved"));
  outcome.settle(kN1, failed_with(Fate::kRefused, "a guard saw otherwise"));
  EXPECT_THAT(outcome.conflicts, ElementsAre(kN1, kN2, kN1));
}

TEST(Outcomes, TheServersLongestWaitCountsUpToAMinute) {
  Outcome outcome;
  outcome.settle(kN1, failed_with(Fate::kRetry, "busy", 2s));
  outcome.settle(kN1, failed_with(Fate::kRetry, "busy", 1s));
  EXPECT_THAT(outcome.retry_after, Optional(std::chrono::nanoseconds(2s)));
  outcome.settle(kN2, failed_with(Fate::kAnswered, "a budget's wait", 50s));
  EXPECT_THAT(outcome.retry_after, Optional(std::chrono::nanoseconds(2s)));
  outcome.settle(kN1, failed_with(Fate::kRetry, "busy", 10min));
  EXPECT_THAT(outcome.retry_after, Optional(std::chrono::nanoseconds(60s)));
}

TEST(EvictionResults, TellWhatBecameOfThePod) {
  const Error gone{.kind = ErrorKind::kNotFound, .http_code = 404};
  const Error forbidden{.kind = ErrorKind::kForbidden, .http_code = 403};
  const Error late{.kind = ErrorKind::kTimeout};
  EXPECT_STREQ(eviction_result(false, nullptr), "evicted");
  EXPECT_STREQ(eviction_result(true, nullptr), "deleted");
  EXPECT_STREQ(eviction_result(false, &gone), "gone");
  EXPECT_STREQ(eviction_result(false, &forbidden), "refused");
  EXPECT_STREQ(eviction_result(true, &late), "retry");
}

TEST(LogLevels, ConflictsAndAnswersAreHowABusyClusterTalks) {
  for (const Fate fate : {Fate::kDone, Fate::kAnswered, Fate::kConflict})
    EXPECT_EQ(level_of(fate), LogLevel::kInfo) << to_string(fate);
  for (const Fate fate : {Fate::kRefused, Fate::kRetry, Fate::kRejected})
    EXPECT_EQ(level_of(fate), LogLevel::kWarn) << to_string(fate);
}

}  // namespace
}  // namespace berth
