// SPDX-License-Identifier: Apache-2.0
// QueueDisplacements: what must hold for workloads that are stopped for others (rule 9 of
// docs/queue-rules.md), checked like the others (invariants.h) on the store's truth:
//   Named     a stopped workload is named in the ledger entry of the workload that it is stopped
//             for, which exists and still waits
//   Due       no entry names work within its nominal quota, except for work with a higher priority
//             in its own queue that will be within it; a reclaim stays within the nominal quota
//   Early     no entry names work before its minimum run time, or stops it before its notice is
//             over
//   Twice     no workload is stopped twice for the same one
//   Whole     a gang is never left stopped by halves
//   Ahead     nothing is released while a workload ahead of it still runs
//   Owed      in the end, a workload for which others were stopped has started
//   Ledger    in the end, only entries that wait for workloads which still exist are in flight
//   Reclaim   in the end, no workload waits for its own quota while others borrow it
//   Lent      work that can't be reclaimed is not released beyond its queue's nominal quota
// The accounts compute independently what is within the nominal quota (queue_accounts.h).
#pragma once

#include <chrono>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apis/base/time.h"
#include "controller/queue/facts/facts.h"
#include "controller/sim/world/store.h"
#include "tests/explore/queue_accounts.h"

namespace berth::explore {

class QueueDisplacements {
 public:
  // `news_takes`: berth may not know of a change that is younger than this.
  void take(const sim::Change& change, bool by_berth, Time wall,
            std::chrono::nanoseconds news_takes);

  const std::vector<std::string>& broken() const { return broken_; }
  // After the last change taken.
  const QueueAccounts& accounts() const { return accounts_; }
  // The fault in the state once berth is at rest. Empty: none.
  std::string unstill(Time wall) const;
  // The pending Jobs, by uid, that would fit into their queues' own quotas if all borrowing work
  // were gone.
  std::map<std::string, std::string> owed(Time wall) const;
  // Whether the entry waits for a workload that still exists.
  bool waits(const queue::LedgerFact& entry) const;

 private:
  using Holder = QueueAccounts::Holder;
  struct Stop {  // victim and preemptor
    std::string victim;
    std::string preemptor;
    std::string uid;  // of the preemptor
    Time at{};
  };
  void judge_entries(const sim::Change& change, Time heard_of);
  void judge_entry(const queue::LedgerFact& entry, const std::vector<Holder>& holders,
                   Time heard_of);
  void judge_rights(const queue::LedgerFact& entry, const std::vector<Holder>& holders,
                    const std::vector<const Holder*>& victims);
  void judge_age(const queue::LedgerFact& entry, const Holder& victim);
  void judge_job(const sim::Change& change, Time wall, Time heard_of);
  void judge_pod(const sim::Change& change, Time wall, Time heard_of);
  void judge_stop(const std::string& workload, std::int64_t since, Time wall, Time heard_of);
  void judge_loan(const nlohmann::json& pod, const std::string& workload);
  void judge_whole(const queue::LedgerFact& entry);
  void judge_start(const std::string& uid, const std::string& workload);
  void follow_waiting(const sim::Change& change, Time wall);
  bool runs(const queue::AheadFact& ahead) const;
  bool is_waiting(const std::string& uid) const;
  std::string unpaid() const;
  std::string unreclaimed(Time wall) const;
  bool has_room(const nlohmann::json& job, const std::string& queue, Time wall) const;
  void complain(std::string_view invariant, const std::string& what);

  QueueAccounts accounts_;
  // By uid: entries that waited for others, until they go; and when they went.
  std::map<std::string, queue::LedgerFact> ahead_;
  std::map<std::string, std::pair<queue::LedgerFact, Time>> withdrawn_;
  std::map<std::string, Time> stopped_waiting_;  // by uid: when edited, held or gone, released or
                                                 // deleted
  std::vector<Stop> stops_;
  Time nodes_moved_{};
  std::vector<std::string> broken_;
};

}  // namespace berth::explore
