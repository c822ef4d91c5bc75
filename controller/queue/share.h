// SPDX-License-Identifier: Apache-2.0
// Share: how much a queue would borrow of what its cohort lends, for its weight (rule 6). An exact
// fraction: no two shares are equal by rounding.
#pragma once

#include <compare>
#include <cstdint>

namespace berth::queue {

class Share {
 public:
  Share() = default;  // within nominal

  // `over` beyond nominal, of `lent` that the cohort lends; the greater one of several resources is
  // the queue's.
  static Share of(std::int64_t over, std::int64_t lent, std::int64_t weight_thousandths);

  std::strong_ordering operator<=>(const Share& other) const;
  bool operator==(const Share& other) const { return (*this <=> other) == 0; }

 private:
  __extension__ typedef unsigned __int128 Wide;
  // In this order: nothing borrowed; a weighted fraction; weight 0, which borrows after them; more
  // than nominal where nothing is lent.
  enum class Rank : std::uint8_t { kWithinNominal, kWeighted, kWeightless, kNothingLent };
  Rank rank_ = Rank::kWithinNominal;
  std::int64_t over_ = 0;
  Wide of_ = 1;
};

}  // namespace berth::queue
