// SPDX-License-Identifier: Apache-2.0
// Quantity: an exact resource.Quantity, in billionths. The API server keeps nothing finer (it
// rounds up). 128 bits are enough: the largest quantity that it admits is 2^63-1 whole units.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apis/base/flat_map.h"
#include "apis/base/result.h"

namespace berth {

__extension__ typedef __int128 int128_t;

class Quantity {
 public:
  Quantity() = default;
  static Quantity whole(std::int64_t units) {
    return Quantity(static_cast<int128_t>(units) * kNano);
  }

  // Kubernetes' grammar: "4", "500m", "1Gi", "1E3", "0.5", "-1". The error says what is wrong and
  // what is accepted.
  static Result<Quantity> parse(std::string_view text);

  // The value if it is a whole number that fits, else nullopt: 500m is no number of GPUs.
  std::optional<std::int64_t> as_whole() const;
  // Rounded up like Quantity.Value(); too large values become int64's maximum.
  std::int64_t rounded_up() const;
  // In thousandths, rounded and limited in the same way, like Quantity.MilliValue().
  std::int64_t thousandths_rounded_up() const;
  bool is_zero() const { return nanos_ == 0; }

  // Decimal: "4", "500m", "1500u", "1n". Binary suffixes are lost.
  std::string str() const;

  Quantity& operator+=(const Quantity& other) {
    nanos_ += other.nanos_;
    return *this;
  }
  Quantity& operator-=(const Quantity& other) {
    nanos_ -= other.nanos_;
    return *this;
  }
  friend Quantity operator+(Quantity a, const Quantity& b) { return a += b; }
  friend Quantity operator-(Quantity a, const Quantity& b) { return a -= b; }
  auto operator<=>(const Quantity&) const = default;

 private:
  static constexpr std::int64_t kNano = 1'000'000'000;
  explicit Quantity(int128_t nanos) : nanos_(nanos) {}
  int128_t nanos_ = 0;
};

using ResourceList = FlatMap<Quantity>;

}  // namespace berth
