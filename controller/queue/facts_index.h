// SPDX-License-Identifier: Apache-2.0
// FactsIndex: everything the queue's decisions derive from, kept as facts come and go, each at the
// cost of what it changes. It is a function of the facts it holds: their order leaves no trace, and
// an index built anew from the same facts says the same.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "controller/queue/facts.h"
#include "controller/queue/node_room.h"
#include "controller/queue/pending.h"
#include "controller/queue/usage.h"
#include "controller/queue/workload.h"

namespace berth::queue {

struct ByName {
  bool operator()(const Workload* a, const Workload* b) const { return *a->name < *b->name; }
};

// Who holds a queue's nominal quota first: by priority, then by admission.
struct ByPrecedence {
  bool operator()(const Workload* a, const Workload* b) const;
};
using Running = std::set<const Workload*, ByPrecedence>;

class FactsIndex {
 public:
  FactsIndex() : room_(catalog_) {}
  FactsIndex(const FactsIndex&) = delete;
  FactsIndex& operator=(const FactsIndex&) = delete;

  // A fact replaces the one of its name; removing what is not there does nothing.
  void put(const NodeFact& fact);
  void put(const PodFact& fact);
  void put(const JobFact& fact);
  void put(const QueueFact& fact);
  void put(const LedgerFact& fact);
  void put(const RecallFact& fact);
  void put(const RestartFact& fact);
  void put(const TopologyFact& fact) { room_.put(fact); }
  void put(const ElasticFact& fact) { room_.put(fact); }
  // Whether a node keeps pods with these rules away; until it is said, it does not.
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
  // Whether it runs in a queue that takes back what it has admitted.
  bool is_drained(const Workload& workload) const;
  // Those of which some pods are pinned, let go and on no node, by name.
  const std::set<const Workload*, ByName>& with_unbound_pins() const { return with_unbound_pins_; }
  // Those that any quota is charged for.
  const std::unordered_set<const Workload*>& charged() const { return charged_; }
  // What is charged for an admission, by the queue that admitted it.
  const std::map<QueueId, Running>& running() const { return running_; }
  const std::set<Workload*>& past_webhook() const { return past_webhook_; }
  // Of which all that they hold is going away, and pods of no workload that are.
  const std::set<const Workload*, ByName>& leaving() const { return leaving_; }
  const std::set<const Pod*>& leaving_alone() const { return leaving_alone_; }
  // Those whose entry in the ledger names others that have to be gone first, by name.
  const std::set<const Workload*, ByName>& waiting_for_others() const {
    return waiting_for_others_;
  }
  // Admitted gangs of which some gated members are not covered by the record, by name.
  const std::set<const Workload*, ByName>& with_uncovered() const { return with_uncovered_; }
  // Those that a later berth has admitted, by name.
  const std::set<const Workload*, ByName>& with_newer_record() const { return with_newer_record_; }
  // Running gangs that lose pods, whose controllers may be re-creating all of them.
  const std::set<const Workload*, ByName>& losing_pods() const { return losing_pods_; }
  // How many workloads of the queue are admitted, and wait for no others to go.
  std::int64_t admitted_of(QueueId queue) const;

 private:
  struct Member {
    Pod pod;
    std::string workload;  // empty: it takes room alone
  };
  // Takes the workload out of what is derived, lets `change` at it and puts it back.
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
  std::set<Workload*> charged_as_is_;  // what these are charged depends on nodes and queues
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
