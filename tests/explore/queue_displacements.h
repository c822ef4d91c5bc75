// SPDX-License-Identifier: Apache-2.0
// QueueDisplacements: what must hold of those who are stopped so that others can run (rule 9 of
// docs/queue-rules.md), judged like the rest (invariants.h) on the store's truth:
//   Named     whoever is stopped for another is named in that one's entry of the ledger, which
//             stands, and the other waits for it
//   Due       nobody is named whose work is funded, but for one of higher priority in its own queue
//             that will be; who reclaims stays within its nominal quota
//   Early     nobody is named before its minimum run time, or stopped before its notice is over
//   Twice     nobody is stopped twice for one workload
//   Whole     a gang is not stopped by halves and left so
//   Ahead     nothing is let go while one of those that were ahead of it still runs
//   Owed      in the end, for whom others were stopped has started
//   Ledger    in the end nothing is in flight but what waits for those who are still there
//   Reclaim   in the end nobody waits for what is its own while others have borrowed it
//   Lent      of what could not be given back no more is let go than its queue's nominal quota
// Who is funded is reckoned once more, from the API server's objects (queue_accounts.h).
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
  // `news_takes`: how long ago a change may be that berth has not heard of.
  void take(const sim::Change& change, bool by_berth, Time wall,
            std::chrono::nanoseconds news_takes);

  const std::vector<std::string>& broken() const { return broken_; }
  // As of the last change that it has taken.
  const QueueAccounts& accounts() const { return accounts_; }
  // What is not in order now that berth is at rest. Empty: nothing.
  std::string unstill(Time wall) const;
  // The Jobs that wait, by uid, and would fit into their queues' own quotas if all that others have
  // borrowed were gone.
  std::map<std::string, std::string> owed(Time wall) const;
  // Whether the entry waits for somebody who is still there.
  bool waits(const queue::LedgerFact& entry) const;

 private:
  using Holder = QueueAccounts::Holder;
  struct Stop {  // of whom, for whom
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
  // Entries as they were while somebody was ahead of them, until they go; by uid. When they went.
  std::map<std::string, queue::LedgerFact> ahead_;
  std::map<std::string, std::pair<queue::LedgerFact, Time>> withdrawn_;
  std::map<std::string, Time> stopped_waiting_;  // by uid: when it was edited, held, let go or gone
  std::vector<Stop> stops_;
  Time nodes_moved_{};
  std::vector<std::string> broken_;
};

}  // namespace berth::explore
