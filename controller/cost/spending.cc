// SPDX-License-Identifier: Apache-2.0
#include "controller/cost/spending.h"

#include <algorithm>

namespace berth::cost {

Micros Spending::total() const {
  Micros sum = 0;
  for (const auto part : kParts) sum = capped_sum(sum, this->*part);
  return sum;
}

Micros Spending::waste() const {
  return capped_sum(capped_sum(idle, free), capped_sum(lost, fragments));
}

void Spending::add(const Spending& other, Micros times) {
  for (const auto part : kParts)
    this->*part = capped_sum(this->*part, capped_product(other.*part, times));
}

void Spendings::add(const Spendings& other, Micros times) {
  for (const auto names :
       {&Spendings::pools, &Spendings::namespaces, &Spendings::queues, &Spendings::owners})
    for (const auto& [name, spending] : other.*names) (this->*names)[name].add(spending, times);
  for (const auto most : {&Spendings::memory, &Spendings::peaks})
    for (const auto& [name, value] : other.*most) {
      std::int64_t& highest = (this->*most)[name];
      highest = std::max(highest, value);
    }
}

}  // namespace berth::cost
