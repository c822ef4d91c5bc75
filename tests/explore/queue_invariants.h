// SPDX-License-Identifier: Apache-2.0
// QueueInvariants: what must hold for workloads in queues, checked like the others (invariants.h)
// on the store's truth, change by change:
//   Entry     berth releases only what has an entry in the ledger, or whose gang has one
//   Record    a released workload has a record with owner, amounts and place, and its pool is one
//             where it may run
//   Gates     other clients' gates stay
//   Covered   what a gang's admission releases does not request more than the record says
//   Held      at a release, the use of the cohort is within the cohort's quotas
//   Reason    a released workload no longer has its pending reason
//   Deleted   berth releases nothing that is being deleted
//   Requeue   berth evicts no pod of a Job that its queue would requeue, and requeues no Job if a
//             budget then has fewer pods than it requires
//   Flight    berth claims no node that an admission is on its way to
//   Bounds    berth writes no foreign ResourceQuota; in the end each namespace with a limit of a
//             queue has the queue's quota, and no other has one
//   Gang      in the end a gang waits whole or not at all; no gang waits for members that have
//             succeeded
//   Restart   releases leave their GPUs to gangs whose controllers re-create all of their pods
// This file counts on its own what is held, from pods and Jobs alone, in nvidia.com/gpu. Workloads
// that a user ungated or resumed count where they are bound, once berth can know of them. A cohort
// with limits on lending may then exceed its quotas, because the protected workloads may still
// start. Members that a user ungated do not count for their gang.
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
  // `news_takes`: berth may not know of a change that is younger than this.
  void take(const sim::Change& change, bool by_berth, Time wall,
            std::chrono::nanoseconds news_takes);

  const std::vector<std::string>& broken() const { return broken_; }
  // The fault in the state once berth is at rest. Empty: none.
  std::string unstill() const;

 private:
  struct Quota {
    std::string cohort;
    std::int64_t nominal = 0;
    bool is_default = false;
    bool keeps = false;  // it does not lend all of its quota
    bool held = false;
    std::vector<std::string> pools;  // in its quotas
    nlohmann::json selected;         // the labels of its namespaces
    nlohmann::json hard;             // the limits for them; null: none
  };
  void take_queue(const sim::Change& change, Time wall);
  void judge_release(const sim::Change& change, Time wall, std::chrono::nanoseconds news_takes);
  // The GPUs of a gang, as its pods come and go.
  struct Round {
    std::string cohort, owner;
    std::map<std::string, std::int64_t> live;  // released pods, by uid: their GPUs
    std::int64_t gpus = 0;                     // the maximum of their sum
    Time leaves{};                             // when the deletion of the last one began
    bool taken_back = false;                   // by berth
    std::optional<Time> gone;                  // the last pod is gone, as berth can expect
  };
  void judge_cover(const std::string& name, const nlohmann::json& pod,
                   const queue::AdmissionFact& record);
  void take_round(const sim::Change& change, bool by_berth, Time wall,
                  std::chrono::nanoseconds news_takes);
  // GPUs of gangs between two rounds.
  std::int64_t awaited(const std::string& cohort, const std::string& but, Time wall) const;
  std::string gang_left_behind() const;
  void take_ledger(const sim::Change& change);
  void take_bounds(const sim::Change& change, bool by_berth);
  void take_workload(const sim::Change& change, bool by_berth, Time wall,
                     std::chrono::nanoseconds news_takes);
  void take_binding(const sim::Change& change, Time wall);
  // False: they are wrong, and this has complained.
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
  // GPUs bound until then without an admission.
  std::int64_t came_past(const std::string& cohort, Time by) const;
  // The queue that is charged for the pod where it runs; null: none.
  const Quota* host_of(const nlohmann::json& pod) const;
  std::string cohort_of(const queue::AdmissionFact& record) const;
  void complain(std::string_view invariant, const std::string& what);

  std::map<std::string, sim::ObjectPtr> pods_;  // by NAMESPACE/NAME
  std::map<std::string, sim::ObjectPtr> jobs_;
  std::map<std::string, Quota> queues_;
  std::map<std::string, sim::ObjectPtr> namespaces_;
  std::map<std::string, sim::ObjectPtr> bounds_;  // ResourceQuotas, by NAMESPACE/NAME
  // PodDisruptionBudgets by NAMESPACE/NAME, and since when they are unchanged.
  std::map<std::string, std::pair<sim::ObjectPtr, Time>> budgets_;
  std::map<std::string, Time> ran_;                // gangs: when a released member left
  std::map<std::string, Round> rounds_;            // by gang
  std::map<std::string, Time> bound_;              // pods, by NAMESPACE/NAME: since they are
                                                   // bound
  std::map<std::string, sim::ObjectPtr> nodes_;    // by name, including deleted nodes
  std::map<std::string, std::string> node_pools_;  // by the node's name
  std::set<std::string> opened_;                   // uids of pods that a user ungated
  // Uids of objects with a record that a user wrote: it is unknown which pin was berth's.
  std::set<std::string> forged_;
  sim::ObjectPtr ledger_;
  // Admissions that waited for others: when they began, and when they were decided.
  std::map<std::int64_t, std::int64_t> begun_;
  Time edited_{};                      // when a user last changed what may be held
  std::optional<Time> ledger_edited_;  // when another client last changed the ledger
  std::vector<std::string> broken_;
};

}  // namespace berth::explore
