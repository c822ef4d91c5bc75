// SPDX-License-Identifier: Apache-2.0
// Cycle: one round of decisions over all queues (docs/queue-rules.md, rules 1 to 7). It reads only
// the index, which must not change while the cycle exists. It keeps nothing for the next cycle.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "controller/queue/cycle/preemption.h"
#include "controller/queue/cycle/quota_table.h"
#include "controller/queue/cycle/reservation.h"
#include "controller/queue/cycle/room_left.h"
#include "controller/queue/cycle/route.h"
#include "controller/queue/cycle/share.h"
#include "controller/queue/cycle/verdict.h"
#include "controller/queue/facts/facts_index.h"

namespace berth::queue {

// Settings of a cycle that looks ahead (start_projection.h). New workloads arrive, and berth
// displaces no workload, keeps no reservation and gives no reasons.
struct LookingAhead {
  // The most tries of workloads. A queue that is offered again counts as one try. Several workloads
  // that fail for lack of quota count together as one.
  std::size_t tries = 0;
};

class Cycle {
 public:
  // Without terms, berth displaces no workload. `now` is in microseconds since the epoch; the
  // default is the terms' time. Without a time, a workload that is not ready stays the head of its
  // StrictFIFO queue.
  explicit Cycle(const FactsIndex& index, std::optional<PreemptionTerms> terms = std::nullopt,
                 std::optional<std::int64_t> now = std::nullopt);
  Cycle(const FactsIndex& index, LookingAhead ahead);

  // Admits until nothing fits or `window` admissions are made. Call it once.
  void run(std::size_t window);

  // In the order of decisions.
  const std::vector<Admission>& admissions() const { return admissions_; }

  // Returns why a pending workload was not admitted. Valid after run().
  Verdict why(const Workload& workload) const;

  // Running workloads that a waiting workload could have displaced, if may_go of the terms allowed
  // it.
  const std::vector<const Workload*>& kept() const { return all_kept_; }

  // When a workload that was not admitted may displace another one or get past its queue's head, in
  // microseconds since the epoch.
  std::optional<std::int64_t> again() const;

  // Usage and free quota now, including the admissions of this cycle.
  QuotaTable& quotas() { return quotas_; }

  // Looking ahead, after run(): a running workload, a pod of no workload, or an admission of this
  // cycle has ended. `admitted` is the index in admissions(). bind() says that all pods of an
  // admission are bound. run_again() offers all waiting workloads again.
  void end(const Workload& running);
  void end(const Pod& alone) { room_.think_away(alone, +1); }
  void end(std::size_t admitted);
  void bind(std::size_t admitted);
  void run_again();
  // A new workload waits too, from the next run_again() on.
  void arrive(const Workload& workload);
  bool has_more() const;  // whether workloads wait and tries are left
  bool may_try() const { return *tries_left_ > 0; }
  std::size_t tries_left() const { return *tries_left_; }
  // Call it for work that costs as much as a try. Returns false if that was the last try.
  bool spend_try();

 private:
  static std::uint64_t name_of(QueueId queue, ClassId workloads);
  using Place = InOrder::const_iterator;
  struct Head {  // the first workload of a class that is not decided yet
    Turn turn;
    Place at;
    Place end;
    ClassId workloads;
    bool arrived = false;  // it arrived while looking ahead
    bool operator<(const Head& other) const { return other.turn < turn; }  // for a heap
  };
  struct Offer {  // the workload that one queue offers
    QueueQuotas* queue = nullptr;
    const PendingOfQueue* pending = nullptr;  // null: only workloads that arrived later wait
    // Looking ahead: workloads that arrived later and wait.
    std::map<ClassId, InOrder> arrived;
    // Looking ahead: the routes of each class that failed at its last try.
    std::map<ClassId, std::vector<Route>> failed;
    bool for_room = false;    // looking ahead: some of these had quota and no room
    bool has_come = false;    // looking ahead: a workload arrived that may be tried before them
    std::vector<Head> heads;  // a heap; the first by rule 5 is on top
    const Workload* unready_head = nullptr;  // of a StrictFIFO queue
    Routes routes;                           // of the top's class
    ClassId routed = 0;
    bool is_routed = false;
    bool has_failed = false;  // a workload before the top has failed
    // Where it would go; its first open route if it fits nowhere.
    const Route* heading_for = nullptr;
    bool fits = false;     // it fits on heading_for
    bool to_come = false;  // it fits only on nodes that the autoscaler may add
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
  std::vector<Entry> entries_;                            // a heap; the first by rule 6 is on top
  std::vector<Offer*> several_pools_;                     // offers of queues with several pools
  std::map<std::string, std::vector<Offer*>> of_cohort_;  // these offers, by cohort
  // By node, the offers whose fit depends on it.
  std::vector<std::vector<std::pair<Offer*, std::uint32_t>>> on_node_;
  std::vector<NodeId> witnesses_;
  std::vector<Admission> admissions_;
  struct Taken {  // what an admission of this cycle took
    QueueId queue;
    Wanted wanted;
    std::vector<Stand> stands;
  };
  std::optional<PreemptionTerms> terms_;
  std::optional<std::int64_t> now_;
  std::optional<std::size_t> tries_left_;  // set only when looking ahead
  std::size_t looks_ = 0;                  // looks that did not count as a try yet
  std::optional<Preemption> preemption_;   // created when the first workload needs it
  std::vector<Taken> taken_;               // admissions before preemption_ existed
  const Workload* kept_ = nullptr;  // berth can't take this one back for the workload offered last
  std::vector<const Workload*> all_kept_;
  std::vector<Reservation> reservations_;
  std::optional<std::int64_t> again_;  // when to decide again
  // By queue and class; absent: the first workload.
  std::unordered_map<std::uint64_t, Place> next_;
  std::unordered_map<std::uint64_t, Verdict> failed_;  // by queue and class
  // They yield, and found no free capacity.
  std::unordered_map<const Workload*, Verdict> passed_over_;
  // By StrictFIFO queue, the head that blocks it.
  std::unordered_map<QueueId, const Workload*> blocked_;
};

}  // namespace berth::queue
