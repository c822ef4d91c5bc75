// SPDX-License-Identifier: Apache-2.0
// Products and sums of numbers that users write. A parallelism of two thousand million times a
// petabyte each must not overflow into an amount that a pool can offer.
#pragma once

#include <algorithm>
#include <cstdint>

namespace berth::queue {

inline constexpr std::int64_t kMostOfAnything = 100'000'000'000'000'000;

inline std::int64_t capped_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return kMostOfAnything;
  return std::min(product, kMostOfAnything);
}

inline std::int64_t capped_sum(std::int64_t a, std::int64_t b) {
  // Cannot overflow, because each is at most kMostOfAnything.
  return std::min(a + b, kMostOfAnything);
}

// Returns the part of an amount for `of` pods that `pods` pods have, rounded up.
inline std::int64_t part_of(std::int64_t amount, std::int64_t pods, std::int64_t of) {
  __extension__ typedef __int128 Wide;
  const Wide product = static_cast<Wide>(amount) * pods;
  return static_cast<std::int64_t>(
      std::min<Wide>((product + of - 1) / of, static_cast<Wide>(kMostOfAnything)));
}

}  // namespace berth::queue
