// SPDX-License-Identifier: Apache-2.0
// `berth top --cost`: the ledger of ConfigMap berth-costs as a table that adds up.
#include "controller/explain/top_costs.h"

#include <gtest/gtest.h>

#include "apis/base/names.h"
#include "controller/cost/cost_meter.h"
#include "tests/cost/written_costs.h"

namespace berth {
namespace {

class TopCosts : public ::testing::Test {
 protected:
  // A GPU at 1 an hour with these millionths of each hour of a day.
  static cost::Spending gpu(cost::Micros used, cost::Micros idle, cost::Micros unmeasured = 0) {
    return {.used = used, .idle = idle, .unmeasured = unmeasured};
  }
  TopCosts() {
    cost::SpendingsByCurrency hourly;
    cost::Spendings& usd = hourly["USD"];
    usd.pools["a"] = {.used = 750'000, .idle = 250'000, .free = 500'000, .fragments = 500'000};
    usd.pools["b"] = gpu(0, 0, 1'000'000);
    usd.namespaces = {{"nlp", gpu(700'000, 0)}, {"vision", gpu(50'000, 250'000, 1'000'000)}};
    usd.queues = {{"", gpu(0, 0, 1'000'000)}, {"q", gpu(750'000, 250'000)}};
    usd.owners = {{"nlp/Job/t", gpu(700'000, 0)},
                  {"vision/Deployment/d", gpu(50'000, 250'000, 1'000'000)}};
    hourly["EUR"].pools["c"] = {.lost = 10'000};
    cost::CostLedger ledger;
    cost::spend_until(parse_time("2026-11-24T00:00:00Z").value(), {}, ledger);
    cost::spend_until(now_, hourly, ledger);
    cluster_.upsert(test::written_costs(ledger, settings_), now_);
  }
  std::string told(CostBy by, const std::string& since) const {
    const Snapshot snapshot{cluster_, answers_, settings_, now_};
    return print_text(top_costs(snapshot, by, parse_since(since, now_).value()));
  }

  Time now_ = parse_time("2026-11-25T12:00:00Z").value();
  ClusterState cluster_;
  Answers answers_;
  Settings settings_;
};

TEST_F(TopCosts, ByPoolWithWhatNobodyHolds) {
  EXPECT_EQ(
      told(CostBy::kPool, "7d"),
      "POOL   USED   IDLE  NOTMEASURED  FREE   LOST  FRAGMENTS  TOTAL   CURRENCY  WASTE   SINCE\n"
      "c      0.00   0.00  0.00         0.00   0.36  0.00       0.36    EUR       100.0%  "
      "2026-11-24\n"
      "(all)  0.00   0.00  0.00         0.00   0.36  0.00       0.36    EUR       100.0%  "
      "2026-11-24\n"
      "a      27.00  9.00  0.00         18.00  0.00  18.00      72.00   USD       62.5%   "
      "2026-11-24\n"
      "b      0.00   0.00  36.00        0.00   0.00  0.00       36.00   USD       0.0%    "
      "2026-11-24\n"
      "(all)  27.00  9.00  36.00        18.00  0.00  18.00      108.00  USD       41.7%   "
      "2026-11-24\n");
}

TEST_F(TopCosts, ByWhoeverHolds) {
  EXPECT_EQ(told(CostBy::kNamespace, "3h"),
            "NAMESPACE  USED  IDLE  NOTMEASURED  TOTAL  CURRENCY  WASTE  SINCE\n"
            "vision     0.60  3.00  12.00        15.60  USD       19.2%  2026-11-25\n"
            "nlp        8.40  0.00  0.00         8.40   USD       0.0%   2026-11-25\n"
            "(all)      9.00  3.00  12.00        24.00  USD       12.5%  2026-11-25\n");
  EXPECT_NE(told(CostBy::kQueue, "3h").find("(none)"), std::string::npos);
  EXPECT_NE(told(CostBy::kOwner, "3h").find("vision/Deployment/d"), std::string::npos);
}

TEST_F(TopCosts, NothingIsATableWithoutRows) {
  cluster_.erase<ConfigMap>(settings_.berth_namespace, names::kCostsConfigMap);
  EXPECT_EQ(told(CostBy::kPool, "7d").find('\n'), told(CostBy::kPool, "7d").size() - 1);
}

}  // namespace
}  // namespace berth
