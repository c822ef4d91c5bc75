// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/facts/usage.h"

namespace berth::queue {

void Usage::add(const Charge& charge, std::int64_t sign) {
  auto holder = by_holder_.try_emplace(charge.holder).first;
  auto used = holder->second.try_emplace(charge.key).first;
  used->second.total += sign * charge.total;
  used->second.leaving += sign * charge.leaving;
  if (used->second == Used{}) holder->second.erase(used);
  if (holder->second.empty()) by_holder_.erase(holder);
}

}  // namespace berth::queue
