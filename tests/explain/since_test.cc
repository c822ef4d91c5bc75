// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/since.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth {
namespace {

const Time kAsked = *parse_time("2026-11-21T12:00:00Z");

std::string since(const char* text) {
  const Result<Time> read = parse_since(text, kAsked);
  return read.has_value() ? format_time(*read) : describe(read.error());
}

TEST(Since, IsDaysADurationADateOrAMoment) {
  EXPECT_EQ(since("7d"), "2026-11-14T12:00:00Z");
  EXPECT_EQ(since("732d"), "2024-11-19T12:00:00Z");
  EXPECT_EQ(since("24h"), "2026-11-20T12:00:00Z");
  EXPECT_EQ(since("0s"), "2026-11-21T12:00:00Z");
  EXPECT_EQ(since("2026-11-01"), "2026-11-01T00:00:00Z");
  EXPECT_EQ(since("2026-11-01T10:30:00Z"), "2026-11-01T10:30:00Z");
}

TEST(Since, IsRefusedWhereItIsNoneOfThemOrYetToCome) {
  for (const char* text : {"", "soon", "d", "0d", "-1d", "733d", "1.5d", "7dd", "2026-13-01"})
    EXPECT_EQ(since(text), "--since: is " + std::string(text) +
                               "; write a duration or a date, as 7d, 24h or 2026-11-01");
  EXPECT_EQ(since("2026-11-22"), "--since: is 2026-11-22, which is yet to come");
}

}  // namespace
}  // namespace berth
