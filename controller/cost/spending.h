// SPDX-License-Identifier: Apache-2.0
// Spending: what is paid for, told apart by what it is to whoever pays: of a moment per hour, of a
// time in all. In whichever unit, a sum of parts is exactly what the whole costs.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "controller/cost/money.h"

namespace berth::cost {

struct Spending {
  Micros used = 0;        // held, and at work
  Micros idle = 0;        // held, and not at work
  Micros unmeasured = 0;  // held, and nobody knows
  Micros free = 0;        // could be had
  Micros lost = 0;        // on nodes that take no pods
  Micros fragments = 0;   // what no resource offers
  bool operator==(const Spending&) const = default;

  static constexpr std::array kParts = {&Spending::used, &Spending::idle, &Spending::unmeasured,
                                        &Spending::free, &Spending::lost, &Spending::fragments};
  Micros total() const;
  // Paid for, and nobody had anything of it: what is not measured is not called waste.
  Micros waste() const;
  void add(const Spending& other, Micros times = 1);
};

using SpendingByName = std::map<std::string, Spending>;

// The most there was of something, by owner.
using MostByName = std::map<std::string, std::int64_t>;

// The same money, by whom it is asked of.
struct Spendings {
  SpendingByName pools;
  SpendingByName namespaces, queues, owners;  // of what is held; queue "": none
  // Of one GPU that a pod of the owner had for itself: MiB in use, and percent at work in a round
  // of measurements.
  MostByName memory, peaks;
  bool operator==(const Spendings&) const = default;
  // Of a time as long as `times`; a longer time has the higher of two peaks.
  void add(const Spendings& other, Micros times);
};
using SpendingsByCurrency = std::map<std::string, Spendings>;

}  // namespace berth::cost
