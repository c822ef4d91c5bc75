// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/controller_lease.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"

namespace berth {
namespace {

Clues led_by(const char* version) {
  Clues clues;
  clues.lease.emplace();
  if (*version != '\0') clues.lease->meta.annotations = {{names::kVersionAnnotation, version}};
  return clues;
}

TEST(ControllerLease, TellsThatAnotherVersionLeads) {
  EXPECT_EQ(told_other_version(led_by("0.2.0"), "0.1.0"),
            "the leading controller is berth 0.2.0 and this command is berth 0.1.0; the controller "
            "decides by its own rules, so this answer may differ from what it does");
  EXPECT_EQ(told_other_version(led_by("0.1.0"), "0.1.0"), "");
}

TEST(ControllerLease, TellsNothingWhereTheVersionIsNotKnown) {
  EXPECT_EQ(told_other_version(led_by(""), "0.1.0"), "");
  EXPECT_EQ(told_other_version(Clues(), "0.1.0"), "");
}

TEST(ControllerLease, PatienceCountsFromTheTimeAtWhichItsHolderTookIt) {
  Clues clues = led_by("");
  EXPECT_EQ(leader_attention(clues).since, Time()) << "all time counts where it is not known";
  clues.lease->acquire_time = *parse_time("2026-11-21T12:10:00Z");
  EXPECT_EQ(leader_attention(clues).since, *parse_time("2026-11-21T12:10:00Z"));
  EXPECT_EQ(leader_attention(Clues()).since, Time());
}

}  // namespace
}  // namespace berth
