// SPDX-License-Identifier: Apache-2.0
// QueueInvariants: what must hold of what queues hold back, judged like the rest (invariants.h) on
// the store's truth, change by change:
//   Entry     berth lets nothing go that has no entry in the ledger, or a gang that it is of
//   Record    what it lets go says as whose, with what and where, and its pool is where it may run
//   Gates     gates of others stay
//   Covered   what it lets go by a gang's admission asks together no more than that says
//   Held      when it lets something go, what its cohort holds is within the cohort's quotas
//   Reason    what it lets go says no more what it waited for
//   Deleted   it lets nothing go that is being deleted
//   Requeue   it evicts no pod of a Job that its queue would take back, and takes none back with
//   whom
//             a budget would be left with less than it keeps
//   Flight    it takes no node that an admission is on its way to
//   Bounds    it writes no ResourceQuota that is not its own; in the end each namespace that a
//             queue bounds has the queue's, and no other has one
//   Gang      in the end a gang waits whole, or none of it does; no gang waits for members that
//   have
//             succeeded
//   Restart   a release leaves their GPUs to gangs whose controllers re-create all of their pods
// What is held is counted here once more, from pods and Jobs alone, in nvidia.com/gpu. What came
// past the queue, for somebody took its gate away or resumed it, counts where it is bound, once
// berth can have heard of it; a cohort that keeps something from being lent may then exceed its
// quotas, as those who are kept something may still start. A gang is judged without the members
// that a person let go.
#pragma once

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apis/base/time.h"
#include "controller/io/loop.h"
#include "controller/queue/facts/facts.h"
#include "controller/sim/world/store.h"

namespace berth::explore {

class QueueInvariants {
 public:
  // `news_takes`: how long ago a change may be that berth has not heard of.
  void take(const sim::Change& change, bool by_berth, Time wall,
            std::chrono::nanoseconds news_takes);

  const std::vector<std::string>& broken() const { return broken_; }
  // What is not in order now that berth is at rest. Empty: nothing.
  std::string unstill() const;

 private:
  struct Quota {
    std::string cohort;
    std::int64_t nominal = 0;
    bool is_default = false;
    bool keeps = false;  // not all that it has is lent
    bool held = false;
    std::vector<std::string> pools;  // of its quotas
    nlohmann::json selected;         // the labels of its namespaces
    nlohmann::json hard;             // what it bounds them to; null: it doesn't
  };
  void take_queue(const sim::Change& change, Time wall);
  void judge_release(const sim::Change& change, Time wall, std::chrono::nanoseconds news_takes);
  // The GPUs that a gang had, as its pods come and go.
  struct Round {
    std::string cohort, owner;
    std::map<std::string, std::int64_t> live;  // released pods, by uid: their GPUs
    std::int64_t gpus = 0;                     // of all of them, at the most
    Time leaves{};                             // when the last began to be deleted
    bool taken_back = false;                   // by berth
    std::optional<Time> gone;                  // the last of them, as berth can have foreseen
  };
  void judge_cover(const std::string& name, const nlohmann::json& pod,
                   const queue::AdmissionFact& record);
  void take_round(const sim::Change& change, bool by_berth, Time wall,
                  std::chrono::nanoseconds news_takes);
  // GPUs of gangs that are between two rounds.
  std::int64_t awaited(const std::string& cohort, const std::string& but, Time wall) const;
  std::string gang_left_behind() const;
  void take_ledger(const sim::Change& change);
  void take_bounds(const sim::Change& change, bool by_berth);
  void take_workload(const sim::Change& change, bool by_berth, Time wall,
                     std::chrono::nanoseconds news_takes);
  void take_binding(const sim::Change& change, Time wall);
  // False: something is wrong with them, and said.
  bool judge_pins(const std::string& name, const nlohmann::json* spec,
                  const queue::AdmissionFact& record);
  bool replaces_a_lost_pod(const nlohmann::json& pod, const queue::AdmissionFact& record) const;
  void judge_domain(const nlohmann::json& pod, const std::string& node);
  std::string domain_of(const std::string& node, const std::string& level) const;
  void judge_removal(const sim::Change& change, Time heard_of);
  void judge_requeue(const sim::Change& change, Time heard_of);
  void judge_claims(const sim::Change& change, Time heard_of);
  const Quota* takes_back(const nlohmann::json& job) const;
  std::string unbounded() const;
  bool may_go(const nlohmann::json& object, const queue::AdmissionFact& record,
              Time heard_of) const;
  std::int64_t held(const std::string& cohort) const;
  std::int64_t held_for_members(const std::string& cohort) const;
  std::int64_t promised(const std::string& cohort) const;
  // What was bound by then without having been admitted.
  std::int64_t came_past(const std::string& cohort, Time by) const;
  // Whose it is charged to where it runs; null: nobody's.
  const Quota* host_of(const nlohmann::json& pod) const;
  std::string cohort_of(const queue::AdmissionFact& record) const;
  void complain(std::string_view invariant, const std::string& what);

  std::map<std::string, sim::ObjectPtr> pods_;  // by NAMESPACE/NAME
  std::map<std::string, sim::ObjectPtr> jobs_;
  std::map<std::string, Quota> queues_;
  std::map<std::string, sim::ObjectPtr> namespaces_;
  std::map<std::string, sim::ObjectPtr> bounds_;  // ResourceQuotas, by NAMESPACE/NAME
  // PodDisruptionBudgets, by NAMESPACE/NAME, and since when they are as they are.
  std::map<std::string, std::pair<sim::ObjectPtr, Time>> budgets_;
  std::map<std::string, Time> ran_;                // gangs: when one of it that was let go left
  std::map<std::string, Round> rounds_;            // by gang
  std::map<std::string, Time> bound_;              // pods, by NAMESPACE/NAME: since when
  std::map<std::string, sim::ObjectPtr> nodes_;    // by name, also those that are gone
  std::map<std::string, std::string> node_pools_;  // by the node's name
  std::set<std::string> opened_;                   // uids of pods whose gate a person took away
  // Uids of what a person wrote a record on: which pin was berth's, nothing says any more.
  std::set<std::string> forged_;
  sim::ObjectPtr ledger_;
  // What begins once others have gone: when it did, and when it had been decided on.
  std::map<std::int64_t, std::int64_t> begun_;
  Time edited_{};                      // when somebody last changed what may be held
  std::optional<Time> ledger_edited_;  // when somebody else than berth last changed the ledger
  std::vector<std::string> broken_;
};

}  // namespace berth::explore
