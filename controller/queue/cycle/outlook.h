// SPDX-License-Identifier: Apache-2.0
// Outlook: the cluster as it will be once all leaving workloads that do not hang are gone (rule 9):
// the usage and the room at that time.
#pragma once

#include <vector>

#include "controller/queue/cycle/quota_table.h"
#include "controller/queue/cycle/room_left.h"

namespace berth::queue {

class Outlook {
 public:
  Outlook(const FactsIndex& index, std::int64_t now);

  // Frees all that a running workload holds, or takes it again.
  void think_away(const Workload& workload) { move(workload, +1); }
  void put_back(const Workload& workload) { move(workload, -1); }

  QuotaTable& quotas() { return quotas_; }
  RoomLeft& room() { return room_; }

 private:
  void move(const Workload& workload, std::int64_t sign);

  QuotaTable quotas_;
  RoomLeft room_;
};

}  // namespace berth::queue
