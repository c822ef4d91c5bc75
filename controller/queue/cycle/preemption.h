// SPDX-License-Identifier: Apache-2.0
// Preemption: finds room and quota for a workload that fits nowhere (rule 9). First it checks
// whether the workload fits once all leaving workloads are gone. If not, it chooses the workloads
// to take back.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/queue/cycle/funding.h"
#include "controller/queue/cycle/outlook.h"
#include "controller/queue/cycle/route.h"

namespace berth::queue {

struct IdleWork {  // a running workload whose GPUs are idle
  const Workload* workload = nullptr;
  std::int64_t since = 0;  // microseconds since the epoch
  std::int64_t due = 0;    // when berth may take it back, microseconds since the epoch
};

struct PreemptionTerms {
  std::int64_t now = 0;  // microseconds since the epoch
  // Whether a running workload can be taken back and the API server would allow it. Empty: each one
  // can.
  std::function<bool(const Workload&)> may_go;
  // For workloads that may_go refuses: whether only budgets keep the workload. A reclaim need not
  // wait for these for ever (displaced.h). Empty: none.
  std::function<bool(const Workload&)> goes_late;
  // For workloads that could stay (Standing::stays): whether it does stay. Empty: each one does.
  std::function<bool(const Workload&)> stays;
  // How long a Job takes to start and to end, in addition to its declared time, in microseconds.
  // For Jobs that run before a reservation begins (reservation.h).
  std::int64_t slack = 60'000'000;
  // Returns the idle workloads that may be taken back. Called once, when a workload fits nowhere.
  // Empty: none.
  std::function<std::vector<IdleWork>()> idle;
  // Whether a waiting workload may displace no other (yielding.h). Empty: each one may.
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

  // Whether it fits once all leaving workloads are gone.
  bool fits(const Preemptor& preemptor);
  // Returns the workloads to displace, the least loss first; empty if no choice suffices. They
  // count as gone from then on.
  std::vector<Ahead> displace(const Preemptor& preemptor);
  // Does the same for idle workloads of any queue or of none: returns those with the fewest GPUs
  // that suffice.
  std::vector<Ahead> take_idle(const Preemptor& preemptor);
  // The preemptor takes its quota and room. The leaving workloads without which it does not fit are
  // added to admission.ahead. Returns the nodes of a pinned workload.
  std::vector<Stand> take(const Preemptor& preemptor, Admission& admission);
  // Takes quota and room for a workload that was admitted to what is free now.
  void take_at(const Admission& admission, QueueId queue, const Wanted& wanted,
               const std::vector<Stand>& stands);

  Outlook& outlook() { return outlook_; }
  // Returns the nodes for a pinned workload that fits.
  std::vector<Stand> places(const Preemptor& preemptor);
  // Whether a workload that fits also fits where more is free.
  bool grows_with_room(const Preemptor& preemptor) const;
  // Whether the workload is leaving or was displaced in this cycle.
  bool is_gone(const Workload& workload) const { return funding_.is_gone(workload); }

  // When a running workload has run for its minimum time or begins to hang, so that a preemptor may
  // be decided again. Microseconds since the epoch.
  const std::optional<std::int64_t>& again() const { return again_; }
  // Returns the first workload by name that the last search could have taken back, if it could be
  // given back; null if none.
  const Workload* kept() const { return kept_; }

 private:
  struct Victim {
    const Workload* workload = nullptr;
    bool other = false;  // of another queue
    bool late = false;   // budgets keep it for a time
    std::int32_t priority = 0;
    __extension__ typedef __int128 Wide;
    Wide lost = 0;  // work since the last checkpoint, in millionths of a GPU × microseconds
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
  // Whether it suffices if `away` of the remaining victims are still freed.
  using Suffices = std::function<bool(std::size_t away)>;
  template <class Item>
  void spare(std::vector<Item>& among, bool several, const Suffices& suffices);
  std::vector<const Workload*> leaving_beside(const Admission& admission) const;
  void use(const Admission& admission, QueueId queue);

  const FactsIndex& index_;
  const PreemptionTerms& terms_;
  Outlook outlook_;
  Funding funding_;
  std::optional<std::vector<IdleWork>> idle_;  // set once it was asked for
  Victims late_;  // victims of other queues that go late, for the current preemptor
  std::optional<std::int64_t> again_;
  const Workload* kept_ = nullptr;
};

}  // namespace berth::queue
