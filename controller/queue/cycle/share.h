// SPDX-License-Identifier: Apache-2.0
// Share: how much a queue would borrow, as a part of what its cohort lends, divided by its weight
// (rule 6). It is an exact fraction, so that rounding makes no two shares equal.
#pragma once

#include <compare>
#include <cstdint>

namespace berth::queue {

class Share {
 public:
  Share() = default;  // within nominal

  // `over` is the use beyond nominal, `lent` what the cohort lends. For several resources, the
  // queue's share is the greatest.
  static Share of(std::int64_t over, std::int64_t lent, std::int64_t weight_thousandths);

  std::strong_ordering operator<=>(const Share& other) const;
  bool operator==(const Share& other) const { return (*this <=> other) == 0; }

 private:
  __extension__ typedef unsigned __int128 Wide;
  // From the lowest: nothing borrowed; a weighted fraction; weight 0, which borrows after all
  // others; beyond nominal where the cohort lends nothing.
  enum class Rank : std::uint8_t { kWithinNominal, kWeighted, kWeightless, kNothingLent };
  Rank rank_ = Rank::kWithinNominal;
  std::int64_t over_ = 0;
  Wide of_ = 1;
};

}  // namespace berth::queue
