// SPDX-License-Identifier: Apache-2.0
// How sentences of verdicts name workloads.
#include "controller/queue/cycle/words.h"

#include <gtest/gtest.h>

namespace berth::queue {
namespace {

TEST(Words, NameEachWorkloadInFullWhereTheirReasonSaysSo) {
  Catalog catalog;
  const std::string name = "Job/b/secret";
  Workload other;
  other.name = &name;
  other.job = std::make_unique<Job>();
  other.in_flight = std::make_unique<LedgerFact>();
  other.in_flight->ahead.push_back({.workload = name});
  int named = 0;
  for (int i = 0; i <= static_cast<int>(Reason::kBehindInQueue); ++i) {
    const auto reason = static_cast<Reason>(i);
    if (reason == Reason::kReleaseRefused) continue;
    EXPECT_TRUE(names_in_full(to_string(reason))) << to_string(reason);
    const std::string told = describe(Verdict{.reason = reason, .behind = &other}, catalog);
    const std::size_t at = told.find("secret");
    if (at == std::string::npos) continue;
    ++named;
    EXPECT_EQ(told.find(name) + name.size(), at + 6) << told;
  }
  EXPECT_GE(named, 2);
  for (const char* reason : {"ReleaseRefused", "Admissible", "", "Unheard"})
    EXPECT_FALSE(names_in_full(reason)) << reason;
}

}  // namespace
}  // namespace berth::queue
