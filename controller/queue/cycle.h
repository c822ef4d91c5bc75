// SPDX-License-Identifier: Apache-2.0
// Cycle: one round of decisions over all queues (docs/queue-rules.md, rules 1 to 7). It derives
// from the index alone, which must not change while the cycle stands, and leaves nothing behind.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "controller/queue/facts_index.h"
#include "controller/queue/preemption.h"
#include "controller/queue/quota_table.h"
#include "controller/queue/reservation.h"
#include "controller/queue/room_left.h"
#include "controller/queue/route.h"
#include "controller/queue/share.h"
#include "controller/queue/verdict.h"

namespace berth::queue {

// How a cycle goes on through time that is yet to come (start_projection.h): others come, nobody is
// displaced, nothing is kept for heads, and it tells nobody why he waits.
struct LookingAhead {
  // Of workloads, at the most. A queue that is offered again is one more, and so are several that
  // fail as they have no quota.
  std::size_t tries = 0;
};

class Cycle {
 public:
  // Without terms nobody is displaced. `now`, microseconds since the epoch: by default as they say;
  // without a time a workload that is not ready is its StrictFIFO queue's head for ever.
  explicit Cycle(const FactsIndex& index, std::optional<PreemptionTerms> terms = std::nullopt,
                 std::optional<std::int64_t> now = std::nullopt);
  Cycle(const FactsIndex& index, LookingAhead ahead);

  // Admits until nothing fits, or as many as the window has place for. Once.
  void run(std::size_t window);

  const std::vector<Admission>& admissions() const { return admissions_; }  // as they were decided

  // Why a pending workload was not admitted, after run().
  Verdict why(const Workload& workload) const;

  // Running workloads that a waiting one could have displaced, but for the terms' may_go.
  const std::vector<const Workload*>& kept() const { return all_kept_; }

  // When somebody may be displaced, for whom one waits that could not be admitted.
  std::optional<std::int64_t> again() const;

  // What is used and free now, with what this cycle admitted.
  QuotaTable& quotas() { return quotas_; }

  // Looking ahead, after run(). What ran has ended, or what was admitted here, by its place in
  // admissions(); what was admitted here has been bound; all that waits is offered again.
  void end(const Workload& running);
  void end(const Pod& alone) { room_.think_away(alone, +1); }
  void end(std::size_t admitted);
  void bind(std::size_t admitted);
  void run_again();
  // Somebody who comes later waits too, from the next run_again() on.
  void arrive(const Workload& workload);
  bool has_more() const;  // that waits still, and may be tried
  bool may_try() const { return *tries_left_ > 0; }
  std::size_t tries_left() const { return *tries_left_; }
  // Whatever costs as much as to try a workload counts as one; false: that was the last.
  bool spend_try();

 private:
  static std::uint64_t name_of(QueueId queue, ClassId workloads);
  using Place = InOrder::const_iterator;
  struct Head {  // the first of a class that has not been decided yet
    Turn turn;
    Place at;
    Place end;
    ClassId workloads;
    bool arrived = false;  // of those that came later
    bool operator<(const Head& other) const { return other.turn < turn; }  // for a heap
  };
  struct Offer {  // what one queue puts forward
    QueueQuotas* queue = nullptr;
    const PendingOfQueue* pending = nullptr;  // null: only others wait, who came later
    std::map<ClassId, InOrder> arrived;       // who came later and waits, looking ahead
    // Likewise: of classes that failed when they were tried last, where they could go.
    std::map<ClassId, std::vector<Route>> failed;
    bool for_room = false;    // likewise: for some of them there was quota, and no room
    bool has_come = false;    // likewise: somebody who may be tried before them
    std::vector<Head> heads;  // a heap, rule 5's first on top
    const Workload* unready_head = nullptr;  // of a StrictFIFO queue
    Routes routes;                           // of the top's class
    ClassId routed = 0;
    bool is_routed = false;
    bool has_failed = false;             // one that comes before the top
    const Route* heading_for = nullptr;  // where it would go; the first open one if nowhere
    bool fits = false;                   // there
    bool to_come = false;                // on nodes that the pool is yet to get
    Share share;
    std::uint32_t edition = 0;  // entries of other editions are stale
  };
  struct Entry {
    Share share;
    Turn turn;
    Offer* offer;
    std::uint32_t edition;
    bool operator<(const Entry& other) const {  // for a heap
      const auto order = share <=> other.share;
      return order != 0 ? order > 0 : other.turn < turn;
    }
  };

  void decide(std::size_t window);
  void note_failed(Offer& offer);
  Offer& new_offer(QueueQuotas& queue);
  void open_offer(QueueQuotas& queue, const PendingOfQueue& pending);
  const Workload* unready_head(const PendingOfQueue& pending);
  bool is_passed(const Workload& unready) const;
  void put_forward(Offer& offer);
  void enter(Offer& offer);
  void drop_class(Offer& offer);
  void set_aside(Offer& offer);
  void note_failed_ahead(Offer& offer);
  bool may_begin(Offer& offer) const;
  bool has_quota_somewhere(const Offer& offer, const std::vector<Route>& routes) const;
  bool may_fit(const Offer& offer, const std::vector<Route>& routes) const;
  bool still_fails(const Offer& offer) const;
  bool fails_at_a_look(const Offer& offer) const;
  bool spend_look();
  void forget_growth();
  Wanted wanted(const Offer& offer, const Route& route) const;
  bool has_quota(const Offer& offer, const Route& route) const;
  bool fits(const Offer& offer, const Route& route);
  const Route* first_that_fits(Offer& offer);
  void watch(Offer& offer);
  Share share_of(const Offer& offer, const Route& route) const;
  Verdict explain(const Offer& offer);
  void admit(Offer& offer, const Route& route);
  Admission& begin_admission(Offer& offer, const Route& route);
  void advance(Offer& offer);
  bool preempt(Offer& offer);
  bool pass_over(Offer& offer);
  Preemptor preemptor(const Offer& offer, const Route& route) const;
  Preemption& preemption();
  void admit_after(Offer& offer, const Preemptor& preemptor, const std::vector<Ahead>& displaced);
  void reopen(const std::string& queue, const std::string& cohort);
  void list_nodes(const std::vector<Stand>& stands, Admission& admission) const;
  void list_heads(Offer& offer);
  void list_pending(Offer& offer);
  void list_arrived(Offer& offer);
  void reserve(const Offer& offer);
  const Reservation* reservation_of(const Workload& workload) const;
  void hold(const Reservation& reservation, std::int64_t sign);
  bool backfill(Offer& offer);
  std::optional<Verdict> kept_for_another(Offer& offer);
  void look_again(const Offer& taker, const std::vector<std::pair<ShapeId, NodeId>>& nodes);
  bool may_turn(const Offer& offer) const;
  void turn(Offer& offer);
  void look_again_on(const std::vector<std::pair<ShapeId, NodeId>>& nodes);

  const FactsIndex& index_;
  QuotaTable quotas_;
  RoomLeft room_;
  std::deque<Offer> offers_;
  std::vector<Entry> entries_;                            // a heap, rule 6's first on top
  std::vector<Offer*> several_pools_;                     // those whose queues have a choice
  std::map<std::string, std::vector<Offer*>> of_cohort_;  // of those
  std::vector<std::vector<std::pair<Offer*, std::uint32_t>>> on_node_;  // who of these watches it
  std::vector<NodeId> witnesses_;
  std::vector<Admission> admissions_;
  struct Taken {  // what an admission took
    QueueId queue;
    Wanted wanted;
    std::vector<Stand> stands;
  };
  std::optional<PreemptionTerms> terms_;
  std::optional<std::int64_t> now_;
  std::optional<std::size_t> tries_left_;  // of one that looks ahead
  std::size_t looks_ = 0;                  // that are no tries
  std::optional<Preemption> preemption_;   // made when the first asks
  std::vector<Taken> taken_;               // before that
  const Workload* kept_ = nullptr;  // can't be taken back for the workload that was offered last
  std::vector<const Workload*> all_kept_;
  std::vector<Reservation> reservations_;
  std::optional<std::int64_t> again_;                  // when somebody has waited for long enough
  std::unordered_map<std::uint64_t, Place> next_;      // by queue and class; none: the first of all
  std::unordered_map<std::uint64_t, Verdict> failed_;  // by queue and class
  std::unordered_map<const Workload*, Verdict> passed_over_;  // that yield, and found no room
  std::unordered_map<QueueId, const Workload*> blocked_;      // StrictFIFO queues, by their heads
};

}  // namespace berth::queue
