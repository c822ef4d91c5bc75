// SPDX-License-Identifier: Apache-2.0
#include "controller/server/loop_share.h"

#include <algorithm>

namespace berth {
namespace {

using namespace std::chrono_literals;

constexpr LoopShare::Moment kGivenUpAfter = 2s;

}  // namespace

bool LoopShare::begin(const void* who, Moment now) {
  std::erase_if(waiting_, [&](const auto& wait) { return now - wait.second.last > kGivenUpAfter; });
  Wait& mine = waiting_.try_emplace(who, Wait{now, now}).first->second;
  mine.last = now;
  const bool others_first = std::any_of(waiting_.begin(), waiting_.end(), [&](const auto& wait) {
    return wait.second.first < mine.first;
  });
  if (now < next_ || others_first) return false;
  waiting_.erase(who);
  return true;
}

void LoopShare::end(Moment began, Moment now) { next_ = now + rest_ * (now - began); }

}  // namespace berth
