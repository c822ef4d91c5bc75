// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/cycle/share.h"

namespace berth::queue {

Share Share::of(std::int64_t over, std::int64_t lent, std::int64_t weight_thousandths) {
  Share share;
  if (over <= 0) return share;
  if (lent <= 0) {
    share.rank_ = Rank::kNothingLent;
    return share;
  }
  share.over_ = over;
  share.of_ = static_cast<Wide>(lent);
  share.rank_ = weight_thousandths > 0 ? Rank::kWeighted : Rank::kWeightless;
  if (weight_thousandths > 0) share.of_ *= static_cast<Wide>(weight_thousandths);
  return share;
}

std::strong_ordering Share::operator<=>(const Share& other) const {
  if (rank_ != other.rank_) return rank_ <=> other.rank_;
  const Wide mine = static_cast<Wide>(over_) * other.of_;
  const Wide theirs = static_cast<Wide>(other.over_) * of_;
  if (mine == theirs) return std::strong_ordering::equal;
  return mine < theirs ? std::strong_ordering::less : std::strong_ordering::greater;
}

}  // namespace berth::queue
