// SPDX-License-Identifier: Apache-2.0
// RunShares: how much of the time that it had declared finished work took: of each namespace the
// Jobs that stand there still, have ended and had an activeDeadlineSeconds. A view (core/view.h).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>

#include "apis/core.h"
#include "apis/text.h"
#include "controller/core/view.h"

namespace berth::queue {

class Shares {
 public:
  static constexpr std::size_t kSteps = 32;

  void count(double share, std::int64_t by);
  bool empty() const { return all_ == 0; }
  std::int64_t size() const { return all_; }
  // The share below which `rank` (from 0 to 1) of those stay that have come to `past` already. One
  // more is thought in beside them, whose share is anybody's guess: it is all there is where
  // nothing has finished yet, or nothing that ran for so long.
  double at(double rank, double past) const;

 private:
  std::array<std::int32_t, kSteps> counts_{};
  std::int64_t all_ = 0;
};

class RunShares {
 public:
  void follow(const Change<berth::Job>& change);
  // Nothing where none has finished.
  const Shares& in(std::string_view namespace_) const;

 private:
  std::map<Text, Shares> by_namespace_;
};

}  // namespace berth::queue
