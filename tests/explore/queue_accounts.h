// SPDX-License-Identifier: Apache-2.0
// QueueAccounts: what each workload holds of its queue, computed only from the API server's
// objects, in nvidia.com/gpu; and which workloads are within the nominal quota, and which borrow.
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
  struct Holder {  // a workload that is admitted, or about to be released
    std::string workload;
    std::string uid;  // of the admitted object
    std::string queue;
    std::string pool;
    std::int64_t priority = 0;
    std::int64_t since = 0;  // microseconds since the epoch
    std::int64_t gpus = 0;
    bool in_flight = false;       // only the ledger shows it
    bool holds_too_much = false;  // more than its admission says
    bool bare = false;            // one of its pods has no controller, so it can't be reclaimed
    bool remade = false;          // ReplicaSets or StatefulSets create all of its pods
  };
  void take(const sim::Change& change, Time wall);

  // Null: there is no such queue.
  const GPUQueue* queue(const std::string& name) const;
  std::string cohort_of(const std::string& queue) const;
  std::int64_t nominal(const std::string& queue, const std::string& pool) const;
  std::int64_t priority_of(const std::string& workload) const;
  // Without leaving workloads; ordered by their claim to their queue's quota.
  std::vector<Holder> holders() const;
  // The names of those that their queues' nominal quotas cover.
  std::set<std::string> funded(const std::vector<Holder>& holders) const;
  // When any of these objects last changed; and since when a queue has its present spec.
  Time moved() const { return moved_; }
  Time queue_since(const std::string& name) const;
  // Whether a pod runs without admission: it holds quota that is not counted here.
  bool somebody_came_past() const;

  const std::map<std::string, sim::ObjectPtr>& pods() const { return pods_; }
  const std::map<std::string, sim::ObjectPtr>& jobs() const { return jobs_; }
  const std::map<std::string, sim::ObjectPtr>& nodes() const { return nodes_; }
  const std::map<std::string, sim::ObjectPtr>& budgets() const { return budgets_; }
  // By the uid of the admitted object.
  const std::map<std::string, queue::LedgerFact>& ledger() const { return ledger_; }
  // The queue of a pending workload; empty: none, or it is not clear.
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

  std::map<std::string, sim::ObjectPtr> pods_;  // by NAMESPACE/NAME, like Jobs and budgets
  std::map<std::string, sim::ObjectPtr> jobs_;
  std::map<std::string, sim::ObjectPtr> budgets_;
  std::map<std::string, sim::ObjectPtr> nodes_;
  std::map<std::string, sim::ObjectPtr> namespaces_;
  std::map<std::string, std::int64_t> priorities_;  // by the PriorityClass's name
  std::set<std::string> policy_classes_;            // created by the policy
  std::map<std::string, std::pair<GPUQueue, Time>> queues_;
  std::map<std::string, queue::LedgerFact> ledger_;
  std::set<std::pair<std::string, std::int64_t>> recalls_;  // requeued gangs, and since their
                                                            // admission
  Time moved_{};
};

// Facts that decide about an object's part here, to detect relevant changes.
bool is_suspended(const nlohmann::json& job);
bool has_job_ended(const nlohmann::json& job);

}  // namespace berth::explore
