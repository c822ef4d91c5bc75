// SPDX-License-Identifier: Apache-2.0
// berth's health record on a node is read back exactly, and edited ones are never trusted blindly.
#include "controller/disruption/health_record.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/core/ledger_epoch.h"
#include "controller/disruption/health_claims.h"
#include "tests/support/builders.h"

namespace berth::test {
namespace {

using ::testing::Optional;

HealthRecord all_of_it() {
  HealthRecord record;
  record.phase = HealthPhase::kCordoned;
  record.node_uid = "uid-n1";
  record.since = *parse_time("2026-11-21T12:00:05.5Z");
  record.last = *parse_time("2026-11-21T12:30:00Z");
  record.keys = "FatalXid/0,Hot/3";
  record.seen = "2026-11-21T12:20:00Z,2026-11-21T12:30:00Z";
  record.findings = "GPU 0 said \"Xid 79\" \\ and fell off the bus";
  record.cordons = 2;
  record.gpus = 8;
  record.proofs = 1;
  record.proof = "the Job has failed";
  return record;
}

TEST(HealthRecord, IsWrittenInAFixedOrderSincePatchesTestItsText) {
  EXPECT_EQ(encode_health(all_of_it()),
            R"({"uid":"uid-n1","phase":"Cordoned","since":"2026-11-21T12:00:05.500000Z",)"
            R"("last":"2026-11-21T12:30:00.000000Z","keys":"FatalXid/0,Hot/3",)"
            R"("seen":"2026-11-21T12:20:00Z,2026-11-21T12:30:00Z",)"
            R"("findings":"GPU 0 said \"Xid 79\" \\ and fell off the bus","cordons":2,"gpus":8,)"
            R"("proofs":1,"proof":"the Job has failed"})");
}

TEST(HealthRecord, IsReadBackAsItWasWritten) {
  EXPECT_THAT(decode_health(encode_health(all_of_it())), Optional(all_of_it()));
  for (const HealthPhase phase : {HealthPhase::kReported, HealthPhase::kCordoned,
                                  HealthPhase::kOverruled, HealthPhase::kRecovered}) {
    HealthRecord record;
    record.phase = phase;
    EXPECT_THAT(decode_health(encode_health(record)), Optional(record)) << to_string(phase);
  }
}

TEST(HealthRecord, WhatAPersonMadeOfItIsRefused) {
  const std::string times = R"("since":"2026-11-21T12:00:00Z","last":"2026-11-21T12:00:00Z")";
  ASSERT_TRUE(decode_health(R"({"phase":"Reported",)" + times + "}"));
  for (const std::string& bad :
       {std::string(), std::string("{"), std::string("null"), R"({"phase":"Asleep",)" + times + "}",
        "{" + times + "}",
        std::string(R"({"phase":"Reported","since":"2026-11-21T12:00:00Z","last":"soon"})"),
        std::string(R"({"phase":"Reported","since":"soon","last":"2026-11-21T12:00:00Z"})"),
        R"({"phase":"Reported","cordons":"2",)" + times + "}"})
    EXPECT_FALSE(decode_health(bad)) << bad;
  for (const char* counter : {"cordons", "gpus", "proofs"})
    for (const auto& [value, is_read] : {std::pair{std::int64_t{-1}, false},
                                         {0, true},
                                         {kMaxCounter - 1, true},
                                         {kMaxCounter, false}})
      EXPECT_EQ(
          decode_health(fmt::format(R"({{"phase":"Reported","{}":{},{}}})", counter, value, times))
              .has_value(),
          is_read)
          << counter << " " << value;
}

// A node that is created as a copy of a live one has its annotations.
TEST(HealthRecord, AnotherNodesIsNone) {
  const NodeBuilder made =
      node("n1").annotation(names::kHealthAnnotation, encode_health(all_of_it()));
  EXPECT_THAT(health_of(made), Optional(all_of_it()));
  EXPECT_EQ(health_of(NodeBuilder(made).uid("another")), std::nullopt);
  EXPECT_EQ(health_of(node("n1")), std::nullopt);
  EXPECT_EQ(health_of(node("n1").annotation(names::kHealthAnnotation, "well")), std::nullopt);
}

TEST(HealthClaims, NoMoreThanAnAnnotationHoldsAreReadAndWritten) {
  const Time now = *parse_time("2026-11-21T12:00:00Z");
  std::string text;
  for (std::size_t i = 0; i < kMostHealthClaims + 2; ++i)
    text += fmt::format("{}n{:04}={}", i == 0 ? "" : ",", i, format_time(now));
  ConfigMap map;
  map.meta.annotations.set(names::kHealthClaimsAnnotation, text);
  SlotLedger ledger;
  EXPECT_EQ(HealthClaims(ledger, now).size(), 0u) << "no ledger, no claims";
  ledger.config_map = &map;
  HealthClaims claims(ledger, now);
  EXPECT_EQ(claims.size(), kMostHealthClaims);
  EXPECT_TRUE(claims.contains("n0499"));
  EXPECT_FALSE(claims.contains("n0500"));
}

}  // namespace
}  // namespace berth::test
