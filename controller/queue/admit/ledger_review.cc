// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/admit/ledger_review.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <utility>

#include "apis/base/names.h"
#include "controller/core/refused_write.h"
#include "controller/core/seeded_bugs.h"
#include "controller/queue/admit/recall_review.h"
#include "controller/queue/admit/restart_review.h"
#include "controller/queue/cycle/early_starts.h"
#include "controller/queue/facts/leaving.h"
#include "controller/queue/facts/record_cover.h"
#include "controller/queue/index/facts_from.h"
#include "controller/queue/index/named.h"
#include "controller/queue/recall/displaced.h"
#include "controller/queue/recall/idle_work.h"
#include "controller/queue/recall/lost_places.h"

namespace berth::queue {
namespace {

// How long the API server has to refuse a release before berth withdraws the admission. A write
// that was sent before the first refusal takes effect within this time or never.
constexpr Duration kRefusedFor = kRequestTimeout;
constexpr Duration kTriedAgainAfter = std::chrono::minutes(5);
// The ledger is for admissions in flight. Beyond this many refused entries, berth drops those that
// are due first, so that they are tried again.
constexpr std::size_t kMostRefused = 64;

Time time_of(std::int64_t microseconds) { return Time(std::chrono::microseconds(microseconds)); }
std::int64_t microseconds_of(Time time) { return time.time_since_epoch().count(); }

std::optional<RefusedWrite> refusal_of(const Snapshot& snapshot, const ClusterIndex& index,
                                       const Workload& workload) {
  if (workload.job) {
    const berth::Job* job = find_named(snapshot.cluster.jobs(), *workload.name);
    if (job == nullptr) return std::nullopt;
    return refused_write(snapshot, ref_of(*job), names::kManagerQueue);
  }
  for (const berth::Pod* pod : pods_of(snapshot.cluster, index, *workload.name)) {
    if (!is_gated(*pod)) continue;
    if (auto refused = refused_write(snapshot, ref_of(*pod), names::kManagerQueue)) return refused;
  }
  return std::nullopt;
}

class Reviewer {
 public:
  Reviewer(const Snapshot& snapshot, const ClusterIndex& index)
      : snapshot_(snapshot), index_(index) {
    if (seeded(SeededBug::kAwaitAllLeaving)) return;
    const auto any_ahead = [&](const Workload& workload, auto is) {
      return std::ranges::any_of(workload.in_flight->ahead, [&](const AheadFact& ahead) {
        return is(ahead) && still_holds(index_.facts(), ahead);
      });
    };
    std::vector<const Workload*> waiting;
    for (const Workload* workload : index_.facts().waiting_for_others())
      if (any_ahead(*workload, [](const AheadFact&) { return true; })) waiting.push_back(workload);
    const auto displaces = [&](const Workload& workload) {
      return any_ahead(workload, [](const AheadFact& ahead) { return ahead.evicted; });
    };
    early_starts_ =
        find_early_starts(index_.facts(), waiting, displaces, microseconds_of(snapshot_.now));
  }
  void take(const std::string& uid, const LedgerFact& entry) {
    if (seeded(SeededBug::kKeepInFlight)) return;
    if (is_newer(entry.admission)) {
      ++out_.open;
      out_.bytes += encode_entry(entry).size();
      return;
    }
    const Workload* workload = index_.facts().find(entry.workload);
    const AdmissionFact* open = workload == nullptr ? nullptr : open_entry(*workload);
    if (open != nullptr && *open == entry.admission && !seeded(SeededBug::kForgetInFlight))
      return take_open(uid, entry, *workload);
    const bool waits = workload != nullptr && refused_entry(*workload) != nullptr;
    if (waits && time_of(entry.until) > snapshot_.now) return keep_refused(uid, entry);
    drop(uid);
    out_.last = std::max(out_.last, entry.admission.since);
    if (workload == nullptr || (!workload->job && !workload->pods)) out_.at_once = true;
  }
  void drop(const std::string& uid) { out_.changes[uid] = std::nullopt; }
  LedgerReview finish() {
    for (auto due = refused_.begin(); refused_.size() > kMostRefused; due = refused_.erase(due))
      drop(due->second);
    return std::move(out_);
  }

 private:
  void take_open(const std::string& uid, const LedgerFact& entry, const Workload& workload) {
    if (!entry.ahead.empty()) return take_waiting(uid, entry, workload);
    if (entry.until != 0 || has_lost_its_place(snapshot_.cluster, workload, entry.admission))
      return give_up(uid, entry);
    const Time decided = time_of(entry.admission.since);
    look_again(std::max(decided, snapshot_.now) + kRefusedFor);
    // berth releases most workloads at once. So it looks for a refusal only after kRefusedFor,
    // because there are many answers to search.
    const auto refused = snapshot_.now < decided + kRefusedFor
                             ? std::nullopt
                             : refusal_of(snapshot_, index_, workload);
    const Time at = refused ? std::max(refused->since, decided) + kRefusedFor : Time::max();
    if (snapshot_.now < at) {
      if (refused) look_again(at);
      ++out_.open;
      out_.bytes += encode_entry(entry).size();
      return;
    }
    LedgerFact withdrawn = entry;
    withdrawn.refused = refused->message;
    withdrawn.until = microseconds_of(snapshot_.now + kTriedAgainAfter);
    keep_refused(uid, withdrawn);
    out_.changes[uid] = encode_entry(withdrawn);
    out_.at_once = true;
  }
  // berth has released nothing of this entry yet, so it can withdraw it at any time. The entry
  // starts once all workloads ahead of it are gone. berth decides it again if one of these does not
  // begin to leave or hangs, or if the entry would fit without waiting.
  void take_waiting(const std::string& uid, LedgerFact entry, const Workload& workload) {
    const FactsIndex& facts = index_.facts();
    const auto stays = [&](const AheadFact& ahead) { return still_holds(facts, ahead); };
    // A workload ahead may be leaving for another entry. If that entry is gone, the workload stays.
    const auto is_to_go = [&](const AheadFact& ahead) {
      return !ahead.evicted && facts.find(ahead.workload)->taken_back.contains(ahead.since);
    };
    const auto is_stuck = [&](const AheadFact& ahead) {
      return stays(ahead) && !is_leaving(facts, ahead) && !is_to_go(ahead) &&
             (ahead.evicted || !seeded(SeededBug::kAwaitSpared));
    };
    const auto works_again = [&](const AheadFact& ahead) {
      return ahead.evicted && ahead.idle && stays(ahead) && !is_leaving(facts, ahead) &&
             !is_idle_still(snapshot_, *facts.find(ahead.workload));
    };
    const auto is_hanging = [&](const AheadFact& ahead) {
      return stays(ahead) && hangs(*facts.find(ahead.workload), microseconds_of(snapshot_.now));
    };
    const std::optional<Time> given_up = gives_up(entry, is_stuck);
    if ((given_up && *given_up <= snapshot_.now) || std::ranges::any_of(entry.ahead, works_again) ||
        std::ranges::any_of(entry.ahead, is_hanging) ||
        std::ranges::find(early_starts_, &workload) != early_starts_.end() ||
        has_lost_its_place(snapshot_.cluster, workload, entry.admission)) {
      drop(uid);
      out_.at_once = true;
      return;
    }
    if (given_up) look_again(*given_up);
    for (const AheadFact& ahead : entry.ahead)
      if (stays(ahead)) look_again_at(facts.find(ahead.workload)->standing.hangs_from);
    look_again_at(entry.admission.since + kWaitsAtLeast);
    if (std::ranges::none_of(entry.ahead, stays) && !seeded(SeededBug::kWaitForEver)) {
      entry.ahead.clear();
      entry.admission.since = microseconds_of(snapshot_.now);
      out_.changes[uid] = encode_entry(entry);
      out_.at_once = true;
      ++out_.open;
    } else {
      ++out_.waiting;
    }
    out_.bytes += encode_entry(entry).size();
  }
  // Returns when to decide again because a workload ahead does not begin to leave; nothing if all
  // leave.
  template <class Stuck>
  std::optional<Time> gives_up(const LedgerFact& entry, Stuck is_stuck) const {
    std::optional<Time> first;
    for (const AheadFact& ahead : entry.ahead) {
      if (!is_stuck(ahead)) continue;
      const Workload& workload = *index_.facts().find(ahead.workload);
      const Time at = kRefusedFor + (ahead.evicted ? keeps_until(snapshot_, workload, entry)
                                                   : notice_ends(snapshot_, entry));
      first = first ? std::min(*first, at) : at;
    }
    return first;
  }
  // berth releases nothing more of this entry. It stays charged until writes that were already sent
  // have arrived or have timed out.
  void give_up(const std::string& uid, LedgerFact entry) {
    if (entry.until == 0) {
      entry.until = microseconds_of(snapshot_.now + kRefusedFor);
      out_.changes[uid] = encode_entry(entry);
      out_.at_once = true;
    }
    if (time_of(entry.until) <= snapshot_.now) {
      drop(uid);
      out_.at_once = true;
      return;
    }
    look_again(time_of(entry.until));
    ++out_.open;
    out_.bytes += encode_entry(entry).size();
  }
  void keep_refused(const std::string& uid, const LedgerFact& entry) {
    out_.bytes += encode_entry(entry).size();
    refused_.emplace(entry.until, uid);
    look_again(time_of(entry.until));
  }
  void look_again_at(std::int64_t microseconds) {
    if (time_of(microseconds) > snapshot_.now) look_again(time_of(microseconds));
  }
  void look_again(Time at) { out_.again = out_.again ? std::min(*out_.again, at) : at; }

  const Snapshot& snapshot_;
  const ClusterIndex& index_;
  LedgerReview out_;
  std::vector<const Workload*> early_starts_;
  std::set<std::pair<std::int64_t, std::string>> refused_;  // by the time of the next try
};

}  // namespace

LedgerReview review_ledger(const Snapshot& snapshot, const AdmissionLedger& ledger,
                           const ClusterIndex& index) {
  Reviewer reviewer(snapshot, index);
  for (const auto& [uid, entry] : ledger.entries) reviewer.take(uid, entry);
  for (const std::string& uid : ledger.unreadable) reviewer.drop(uid);
  LedgerReview review = reviewer.finish();
  review_recalls(snapshot, ledger, index, review);
  review_restarts(snapshot, ledger, index, review);
  return review;
}

}  // namespace berth::queue
