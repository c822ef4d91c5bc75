// SPDX-License-Identifier: Apache-2.0
#include "controller/cost/money.h"

#include <gtest/gtest.h>

#include <limits>

namespace berth::cost {
namespace {

TEST(Money, PricesAreExact) {
  EXPECT_EQ(parse_price("3.06"), 3'060'000);
  EXPECT_EQ(parse_price("0.000001"), 1);
  EXPECT_EQ(parse_price("999999999.999999"), 999'999'999'999'999);
  EXPECT_EQ(parse_price("12"), 12'000'000);
  EXPECT_EQ(parse_price("0"), 0);
  EXPECT_EQ(parse_price("9223372036853.999999"), 9'223'372'036'853'999'999);
  EXPECT_FALSE(parse_price("9223372036854")) << "with a fraction it might be more than a number";
  for (const char* bad :
       {"", ".", "3.", ".5", "-1", "1e3", "1.0e3", "1.-1", "3.0600000", "3,06", "9999999999999999"})
    EXPECT_FALSE(parse_price(bad)) << bad;
}

TEST(Money, IsRoundedOnceAtTheEnd) {
  EXPECT_EQ(format_money(71'481'600'000, 2), "71481.60");
  EXPECT_EQ(format_money(71'481'600'000, 0), "71482");
  EXPECT_EQ(format_money(1'005'000, 2), "1.01");
  EXPECT_EQ(format_money(4'999, 2), "0.00");
  EXPECT_EQ(format_money(5'000, 2), "0.01");
  EXPECT_EQ(format_money(499'999, 0), "0");
  EXPECT_EQ(format_money(1'234'567, 6), "1.234567");
}

TEST(Money, StopsAtTheLargestNumber) {
  constexpr Micros kMost = std::numeric_limits<Micros>::max();
  EXPECT_EQ(capped_sum(kMost, 1), kMost);
  EXPECT_EQ(capped_product(kMost / 2, 3), kMost);
  EXPECT_EQ(share_of(kMost, 2, 1), kMost);
  EXPECT_EQ(share_of(999'999'999'999'999, 333'333, 1'000'000), 333'332'999'999'999);
}

}  // namespace
}  // namespace berth::cost
