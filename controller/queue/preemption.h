// SPDX-License-Identifier: Apache-2.0
// Preemption: whose room and quota a workload gets that fits nowhere (rule 9). First it is asked
// whether it fits once all that leaves has gone; if not, who has to be taken back for it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/queue/funding.h"
#include "controller/queue/outlook.h"
#include "controller/queue/route.h"

namespace berth::queue {

struct IdleWork {  // running work whose GPUs nobody uses
  const Workload* workload = nullptr;
  std::int64_t since = 0;  // microseconds since the epoch
  std::int64_t due = 0;    // when it may be taken back, likewise
};

struct PreemptionTerms {
  std::int64_t now = 0;  // microseconds since the epoch
  // Whether a running workload can be taken back at all, and the API server would let it go. Empty:
  // each can.
  std::function<bool(const Workload&)> may_go;
  // Of those that may not: whether budgets alone keep it, which who reclaims need not wait for in
  // the end (displaced.h). Empty: nobody is such.
  std::function<bool(const Workload&)> goes_late;
  // Of those that could stay (Standing::stays): whether it does, whatever is done. Empty: each.
  std::function<bool(const Workload&)> stays;
  // What a Job takes to begin and to end, beside the time that it says: for those that go before a
  // reservation (reservation.h).
  std::int64_t slack = 60'000'000;
  // What may be taken back for being idle. Asked once, when somebody fits nowhere. Empty: nothing.
  std::function<std::vector<IdleWork>()> idle;
  // Whether nobody is taken back for one that waits (yielding.h). Empty: each may displace.
  std::function<bool(const Workload&)> yields;
};

struct Preemptor {
  QueueId queue = Catalog::kNoQueue;
  const Route* route = nullptr;
  Wanted wanted;
  std::int32_t priority = 0;
};

class Preemption {
 public:
  Preemption(const FactsIndex& index, const PreemptionTerms& terms);

  // Whether it fits once all that leaves has gone.
  bool fits(const Preemptor& preemptor);
  // Whom it displaces, those first that are the least loss; nobody if nobody suffices. They count
  // as gone from then on.
  std::vector<Ahead> displace(const Preemptor& preemptor);
  // Likewise of work that is idle, in any queue or in none: the fewest GPUs that suffice.
  std::vector<Ahead> take_idle(const Preemptor& preemptor);
  // The preemptor takes its quota and room. The leaving workloads without which it does not fit are
  // added to admission.ahead. Returns the places of a workload that is pinned.
  std::vector<Stand> take(const Preemptor& preemptor, Admission& admission);
  // Of one that was admitted to what is free now.
  void take_at(const Admission& admission, QueueId queue, const Wanted& wanted,
               const std::vector<Stand>& stands);

  Outlook& outlook() { return outlook_; }
  // Of what fits, and is pinned: where.
  std::vector<Stand> places(const Preemptor& preemptor);
  // Whether what fits also does where more is free.
  bool grows_with_room(const Preemptor& preemptor) const;
  // What runs and is not leaving, nor displaced in this cycle.
  bool is_gone(const Workload& workload) const { return funding_.is_gone(workload); }

  // When somebody has run for as long as he may at least, for whom a preemptor waits.
  const std::optional<std::int64_t>& again() const { return again_; }
  // The first by name that could have been taken back last time, if it could be given back; null:
  // none.
  const Workload* kept() const { return kept_; }

 private:
  struct Victim {
    const Workload* workload = nullptr;
    bool other = false;  // of another queue
    bool late = false;   // budgets keep it for a time
    std::int32_t priority = 0;
    __extension__ typedef __int128 Wide;
    Wide lost = 0;  // work since the last checkpoint, millionths of a GPU × microseconds
    std::int64_t since = 0;
    bool operator<(const Victim& other) const;
  };
  using Victims = std::vector<Victim>;
  QueueQuotas& quotas_of(const Preemptor& preemptor);
  bool is_within_nominal(const Preemptor& preemptor);
  bool suffices(const Preemptor& preemptor, bool reclaims);
  void add_own(const Preemptor& preemptor, Victims& victims);
  void add_others(const Preemptor& preemptor, Victims& victims);
  void consider(const Runner& runner, bool other, std::int64_t after, Victims& victims);
  bool may_go(const Workload& workload);
  void note_kept(const Workload& workload);
  Victim victim(const Runner& runner, bool other, bool late) const;
  void think_away(const Victims& victims);
  void put_back(const Victims& victims);
  bool add_those_that_suffice(const Preemptor& preemptor, Victims& victims);
  void consider_idle(const Preemptor& preemptor, const IdleWork& idle, Victims& victims);
  void keep_lightest(const Preemptor& preemptor, Victims& victims);
  void spare(const Preemptor& preemptor, Victims& victims);
  void spare(const Preemptor& preemptor, bool beside, Victims& among);
  // Whether it suffices with so many of those that are spared still away.
  using Suffices = std::function<bool(std::size_t away)>;
  template <class Item>
  void spare(std::vector<Item>& among, bool several, const Suffices& suffices);
  std::vector<const Workload*> leaving_beside(const Admission& admission) const;
  void use(const Admission& admission, QueueId queue);

  const FactsIndex& index_;
  const PreemptionTerms& terms_;
  Outlook outlook_;
  Funding funding_;
  std::optional<std::vector<IdleWork>> idle_;  // once it was asked for
  Victims late_;  // others' that go late, for the preemptor that is looked at
  std::optional<std::int64_t> again_;
  const Workload* kept_ = nullptr;
};

}  // namespace berth::queue
