// SPDX-License-Identifier: Apache-2.0
// RunShares: which part of its declared run time finished work took. It counts, by namespace, the
// Jobs that still exist, have finished and had an activeDeadlineSeconds. A view (core/view.h).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>

#include "apis/base/text.h"
#include "apis/kinds/core.h"
#include "controller/core/view.h"

namespace berth::queue {

class Shares {
 public:
  static constexpr std::size_t kSteps = 32;

  void count(double share, std::int64_t by);
  bool empty() const { return all_ == 0; }
  std::int64_t size() const { return all_; }
  // Looks at the Jobs that have run for at least the share `past`. Returns the share below which
  // the part `rank` (0 to 1) of them ended. One imaginary Job with an evenly distributed share
  // counts too. So there is an answer even if no Job has finished, or none ran that long.
  double at(double rank, double past) const;

 private:
  std::array<std::int32_t, kSteps> counts_{};
  std::int64_t all_ = 0;
};

class RunShares {
 public:
  void follow(const Change<berth::Job>& change);
  // Returns an empty object if no Job has finished.
  const Shares& in(std::string_view namespace_) const;

 private:
  std::map<Text, Shares> by_namespace_;
};

}  // namespace berth::queue
