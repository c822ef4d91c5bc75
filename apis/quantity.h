// SPDX-License-Identifier: Apache-2.0
// Quantity: resource.Quantity, exact. Counted in billionths, which is the finest the API server
// keeps (it rounds anything finer up), in 128 bits: the largest quantity the API admits, 2^63-1
// whole units, fits.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apis/flat_map.h"
#include "apis/result.h"

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

  // The value if it is a whole number that fits, else nothing: 500m GPUs is not a number of GPUs.
  std::optional<std::int64_t> as_whole() const;
  // Rounded up, as Quantity.Value() does, saturating at int64.
  std::int64_t rounded_up() const;
  // In thousandths, likewise, as Quantity.MilliValue() does.
  std::int64_t thousandths_rounded_up() const;
  bool is_zero() const { return nanos_ == 0; }

  // Decimal: "4", "500m", "1500u", "1n". Binary suffixes are not kept.
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
