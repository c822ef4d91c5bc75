// SPDX-License-Identifier: Apache-2.0
// A peak counts only if no day hides a higher one: a day on which the owner was measured, but
// without a recorded peak.
#include <gtest/gtest.h>

#include "controller/advise/right_size.h"
#include "controller/cost/cost_meter.h"
#include "tests/cost/written_costs.h"
#include "tests/support/builders.h"

namespace berth::advise {
namespace {

constexpr char kSteady[] = "a/StatefulSet/steady";

class HiddenPeak : public ::testing::Test {
 protected:
  HiddenPeak() {
    policy_.meta.name = limits::kPolicyName;
    PoolSpec& pool = policy_.spec.pools.emplace_back();
    pool.name = "all";
    pool.price = PriceSpec{"3.06", "USD"};
    cluster_.upsert<Node>(test::node("n1").a100_80(1), now_);
    cluster_.upsert<Pod>(
        test::pod("steady-0").gpu(1).in("a").owner("StatefulSet", "steady").on("n1"), now_);
  }
  // The reported peak if the day before the one with a peak of 45 has these measurements.
  std::optional<std::int64_t> peak_after(const cost::Spending& before) {
    cost::CostLedger ledger;
    ledger.at = now_;
    ledger.days["2026-11-23"]["USD"].owners[kSteady] = before;
    cost::Spendings& known = ledger.days["2026-11-24"]["USD"];
    known.owners[kSteady] = {.used = 2'000'000'000, .idle = 3'000'000'000};
    known.peaks[kSteady] = 45;
    cluster_.upsert(test::written_costs(ledger, settings_), now_);
    for (const OwnerAdvice& advice : advise_owners({cluster_, answers_, settings_, now_}, policy_))
      if (advice.owner == kSteady) return advice.peak;
    ADD_FAILURE() << "it is not advised";
    return {};
  }

  Time now_ = parse_time("2026-11-25T12:00:00Z").value();
  GPUClusterPolicy policy_;
  ClusterState cluster_;
  Answers answers_;
  Settings settings_;
};

TEST_F(HiddenPeak, IsWhereItWasMeasured) {
  EXPECT_FALSE(peak_after({.used = 1'000'000'000})) << "at work all the time";
  EXPECT_FALSE(peak_after({.idle = 1'000'000'000})) << "its means are 0, which hides a burst";
  EXPECT_FALSE(peak_after({.used = 1'000'000'000, .idle = 1'000'000'000}));
}

TEST_F(HiddenPeak, IsNoneWhereNothingWasMeasured) {
  EXPECT_EQ(peak_after({.unmeasured = 1'000'000'000}), 45);
}

}  // namespace
}  // namespace berth::advise
