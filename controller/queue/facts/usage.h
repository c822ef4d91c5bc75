// SPDX-License-Identifier: Apache-2.0
// Usage: what is charged, by holder and quota key.
#pragma once

#include <map>
#include <vector>

#include "controller/queue/facts/workload.h"

namespace berth::queue {

struct Used {
  std::int64_t total = 0;
  std::int64_t leaving = 0;  // the part of total that is leaving
  bool operator==(const Used&) const = default;
};

class Usage {
 public:
  void add(const Charge& charge, std::int64_t sign);

  using ByKey = std::map<KeyId, Used>;  // keys with usage only
  const std::map<HolderId, ByKey>& by_holder() const { return by_holder_; }

 private:
  std::map<HolderId, ByKey> by_holder_;
};

}  // namespace berth::queue
