// SPDX-License-Identifier: Apache-2.0
// QueueAccounts: who holds what of which queue, reckoned from the API server's objects alone, in
// nvidia.com/gpu: which work of a queue its nominal quota pays for, and which it has borrowed.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apis/base/time.h"
#include "apis/kinds/gpu_queue.h"
#include "controller/queue/facts/facts.h"
#include "controller/sim/world/store.h"

namespace berth::explore {

class QueueAccounts {
 public:
  struct Holder {  // work that is admitted, or is about to go
    std::string workload;
    std::string uid;  // of what was admitted
    std::string queue;
    std::string pool;
    std::int64_t priority = 0;
    std::int64_t since = 0;  // microseconds since the epoch
    std::int64_t gpus = 0;
    bool in_flight = false;       // nothing but the ledger shows it
    bool holds_too_much = false;  // more than its admission says
    bool bare = false;            // one of its pods has no controller: it can't be given back
    bool remade = false;          // ReplicaSets or StatefulSets make all of its pods
  };
  void take(const sim::Change& change, Time wall);

  // Null: there is no such queue.
  const GPUQueue* queue(const std::string& name) const;
  std::string cohort_of(const std::string& queue) const;
  std::int64_t nominal(const std::string& queue, const std::string& pool) const;
  std::int64_t priority_of(const std::string& workload) const;
  // Without what is leaving; those first that hold their queue's quota first.
  std::vector<Holder> holders() const;
  // Of these, the names of what their queues' nominal quotas pay for.
  std::set<std::string> funded(const std::vector<Holder>& holders) const;
  // When something last changed that this goes by; and since when a queue says what it says.
  Time moved() const { return moved_; }
  Time queue_since(const std::string& name) const;
  // Whether something runs that nobody admitted: it holds quota that is not counted here.
  bool somebody_came_past() const;

  const std::map<std::string, sim::ObjectPtr>& pods() const { return pods_; }
  const std::map<std::string, sim::ObjectPtr>& jobs() const { return jobs_; }
  const std::map<std::string, sim::ObjectPtr>& nodes() const { return nodes_; }
  const std::map<std::string, sim::ObjectPtr>& budgets() const { return budgets_; }
  // By the uid of what is admitted.
  const std::map<std::string, queue::LedgerFact>& ledger() const { return ledger_; }
  // The queue that a pending workload would go to; empty: none, or not clear.
  std::string queue_for(const nlohmann::json& object) const;

 private:
  void add_jobs(std::vector<Holder>& holders) const;
  void add_pods(std::vector<Holder>& holders) const;
  void add_in_flight(std::vector<Holder>& holders) const;
  void look_at_makers(Holder& holder) const;
  bool is_taken_back(const std::string& workload, std::int64_t since) const;
  bool accepts(const nlohmann::json& object, const std::string& priority_class) const;
  std::int64_t living_gpus(const std::string& job_uid) const;
  std::int64_t priority_on(const nlohmann::json& object, const nlohmann::json* spec) const;

  std::map<std::string, sim::ObjectPtr> pods_;  // by NAMESPACE/NAME, as Jobs and budgets
  std::map<std::string, sim::ObjectPtr> jobs_;
  std::map<std::string, sim::ObjectPtr> budgets_;
  std::map<std::string, sim::ObjectPtr> nodes_;
  std::map<std::string, sim::ObjectPtr> namespaces_;
  std::map<std::string, std::int64_t> priorities_;  // by the PriorityClass's name
  std::set<std::string> policy_classes_;            // that the policy makes
  std::map<std::string, std::pair<GPUQueue, Time>> queues_;
  std::map<std::string, queue::LedgerFact> ledger_;
  std::set<std::pair<std::string, std::int64_t>> recalls_;  // gangs that are taken back, and since
  Time moved_{};
};

// What decides about an object's part in this: told from before, whether a change matters.
bool is_suspended(const nlohmann::json& job);
bool has_job_ended(const nlohmann::json& job);

}  // namespace berth::explore
