// SPDX-License-Identifier: Apache-2.0
// Spending: costs, split by how the GPUs are used. It is per hour for a moment, or a total for a
// period. In either unit, the parts sum up to exactly the cost of the whole.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "controller/cost/money.h"

namespace berth::cost {

struct Spending {
  Micros used = 0;        // held and at work
  Micros idle = 0;        // held and not at work
  Micros unmeasured = 0;  // held and not measured
  Micros free = 0;        // a pod could get it
  Micros lost = 0;        // on nodes that take no pods
  Micros fragments = 0;   // what no resource offers
  bool operator==(const Spending&) const = default;

  static constexpr std::array kParts = {&Spending::used, &Spending::idle, &Spending::unmeasured,
                                        &Spending::free, &Spending::lost, &Spending::fragments};
  Micros total() const;
  // The cost of GPUs that did no work. Unmeasured GPUs do not count as waste.
  Micros waste() const;
  void add(const Spending& other, Micros times = 1);
};

using SpendingByName = std::map<std::string, Spending>;

// The highest value, by owner.
using MostByName = std::map<std::string, std::int64_t>;

// The same costs, by pool, namespace, queue and owner.
struct Spendings {
  SpendingByName pools;
  SpendingByName namespaces, queues, owners;  // only of what pods hold; queue "": none
  // Values of one GPU that a pod of the owner had for itself: MiB in use, and percent at work in
  // one round.
  MostByName memory, peaks;
  bool operator==(const Spendings&) const = default;
  // Adds the other costs `times` times. If both have a peak, the higher one stays.
  void add(const Spendings& other, Micros times);
};
using SpendingsByCurrency = std::map<std::string, Spendings>;

}  // namespace berth::cost
