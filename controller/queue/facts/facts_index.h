// SPDX-License-Identifier: Apache-2.0
// FactsIndex: everything that the queue's decisions are based on. It is updated fact by fact, and
// each fact costs only what it changes. The result depends on the facts alone, not on their order:
// a new index of the same facts decides the same.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "controller/queue/facts/facts.h"
#include "controller/queue/facts/node_room.h"
#include "controller/queue/facts/pending.h"
#include "controller/queue/facts/usage.h"
#include "controller/queue/facts/workload.h"

namespace berth::queue {

struct ByName {
  bool operator()(const Workload* a, const Workload* b) const { return *a->name < *b->name; }
};

// The order in which workloads hold a queue's nominal quota: by priority, then by time of
// admission.
struct ByPrecedence {
  bool operator()(const Workload* a, const Workload* b) const;
};
using Running = std::set<const Workload*, ByPrecedence>;

class FactsIndex {
 public:
  FactsIndex() : room_(catalog_) {}
  FactsIndex(const FactsIndex&) = delete;
  FactsIndex& operator=(const FactsIndex&) = delete;

  // A fact replaces the fact of the same name. Removing an unknown name does nothing.
  void put(const NodeFact& fact);
  void put(const PodFact& fact);
  void put(const JobFact& fact);
  void put(const QueueFact& fact);
  void put(const LedgerFact& fact);
  void put(const RecallFact& fact);
  void put(const RestartFact& fact);
  void put(const TopologyFact& fact) { room_.put(fact); }
  void put(const ElasticFact& fact) { room_.put(fact); }
  // Whether a node refuses pods with these rules. The default is that it does not.
  void refuse(const std::string& rules, const std::string& node, bool refused);
  void remove_node(const std::string& name);
  void remove_pod(const std::string& uid);
  void remove_job(const std::string& workload);
  void remove_queue(const std::string& name);
  void remove_ledger(const std::string& workload);
  void remove_recall(const std::string& workload);
  void remove_restart(const std::string& workload);

  const Catalog& catalog() const { return catalog_; }
  const NodeRoom& room() const { return room_; }
  const Pending& pending() const { return pending_; }
  const Usage& usage() const { return usage_; }
  const std::map<std::string, QueueFact>& queues() const { return queues_; }
  const std::unordered_map<std::string, Workload>& workloads() const { return workloads_; }
  const Workload* find(const std::string& workload) const;
  // Whether the workload runs in a queue that takes back its admitted workloads.
  bool is_drained(const Workload& workload) const;
  // Workloads with released, pinned pods that are on no node, by name.
  const std::set<const Workload*, ByName>& with_unbound_pins() const { return with_unbound_pins_; }
  // Workloads that are charged to any quota.
  const std::unordered_set<const Workload*>& charged() const { return charged_; }
  // Workloads with an admission that are charged, by the queue that admitted them.
  const std::map<QueueId, Running>& running() const { return running_; }
  const std::set<Workload*>& past_webhook() const { return past_webhook_; }
  // Workloads that are leaving with all that they hold; and leaving pods of no workload.
  const std::set<const Workload*, ByName>& leaving() const { return leaving_; }
  const std::set<const Pod*>& leaving_alone() const { return leaving_alone_; }
  // Workloads whose ledger entry names others that have to be gone first, by name.
  const std::set<const Workload*, ByName>& waiting_for_others() const {
    return waiting_for_others_;
  }
  // Admitted gangs with gated members that the record does not cover, by name.
  const std::set<const Workload*, ByName>& with_uncovered() const { return with_uncovered_; }
  // Workloads that a later berth has admitted, by name.
  const std::set<const Workload*, ByName>& with_newer_record() const { return with_newer_record_; }
  // Running gangs that lose pods and whose controllers may be re-creating all of them.
  const std::set<const Workload*, ByName>& losing_pods() const { return losing_pods_; }
  // Returns the number of admitted workloads of the queue, without those that wait for others to
  // go.
  std::int64_t admitted_of(QueueId queue) const;

 private:
  struct Member {
    Pod pod;
    std::string workload;  // empty: the pod takes room and belongs to no workload
  };
  // Removes the workload from all sums and sets, applies `change`, and adds it again.
  template <class Change>
  void edit(const std::string& name, Change change);
  void enter(Workload& workload);
  void leave(Workload& workload);
  void count_admitted(const Standing& standing, std::int64_t by);
  void list(const Workload& workload);
  void unlist(const Workload& workload);
  void mark_ahead(const LedgerFact* old, const LedgerFact* now);
  void charge_past_webhook(const Workload& workload, std::vector<Charge>& charges);
  void charge_beyond(Standing& standing);
  void recharge(bool worth_changed);
  std::vector<std::int64_t> worths() const;
  void claim(const Standing& standing, std::int64_t sign);

  Catalog catalog_;
  NodeRoom room_;
  Pending pending_;
  Usage usage_;
  std::map<std::string, QueueFact> queues_;
  std::unordered_map<std::string, Member> pods_;
  std::unordered_map<std::string, Workload> workloads_;
  std::set<Workload*> past_webhook_;
  std::set<Workload*> charged_as_is_;  // their charges depend on nodes and queues
  std::set<const Workload*, ByName> with_uncovered_;
  std::set<const Workload*, ByName> with_newer_record_;
  std::set<const Workload*, ByName> with_unbound_pins_;
  std::map<QueueId, std::int64_t> admitted_;
  std::unordered_set<const Workload*> charged_;
  std::map<QueueId, Running> running_;
  std::set<const Workload*, ByName> leaving_;
  std::set<const Pod*> leaving_alone_;
  std::set<const Workload*, ByName> waiting_for_others_;
  std::set<const Workload*, ByName> losing_pods_;
};

}  // namespace berth::queue
