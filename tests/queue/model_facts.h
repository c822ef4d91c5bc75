// SPDX-License-Identifier: Apache-2.0
// The facts as the reference model needs them: free capacity on nodes, charges (rule 1), and the
// pending workloads.
#pragma once

#include <algorithm>
#include <tuple>

#include "tests/queue/cluster_facts.h"
#include "tests/queue/model_growth.h"
#include "tests/queue/model_places.h"

namespace berth::queue::test {

using Key = std::pair<std::string, std::string>;  // resource, pool
using Usage = std::map<std::pair<std::string, std::string>, std::map<Key, std::int64_t>>;

struct Pool {  // where a workload could run, and what it requests from the queue's quotas there
  std::string name;
  std::vector<std::pair<const QuotaFact*, std::int64_t>> asks;
};

struct Candidate {  // a pending workload
  std::string name, queue, uid;
  std::int32_t priority = 0;
  std::int64_t created = 0;
  std::map<Role, std::int64_t> roles;  // the number of pods of each role
  TopologyWish wish;
  std::int64_t lasts = 0;                             // 0: no declared end
  bool is_job = false, alone = false;                 // alone: a single pod
  std::vector<std::pair<std::string, Role>> waiting;  // its gated pods, by age
  std::string unready;                                // empty: ready
  bool stays = false;                                 // it could not be reclaimed
  std::int64_t heads_until = 0;  // while not ready: the end of its time as head
  bool left_out = false;         // and so blocks no other workload
  std::vector<Pool> open;        // in the queue's order
  std::string refusal;           // why no pool is open
  auto order() const { return std::tuple(-std::int64_t{priority}, created, uid); }
  Asks total() const {
    Asks total;
    for (const auto& [role, pods] : roles) {
      for (const auto& [resource, amount] : std::get<Amounts>(role))
        total[resource] += amount * pods;
    }
    return total;
  }
  bool may_run_in(const std::string& pool) const {
    for (const auto& [role, pods] : roles) {
      const PoolNames& only = std::get<PoolNames>(role);
      if (pool != "*" && !only.empty() && std::find(only.begin(), only.end(), pool) == only.end())
        return false;
    }
    return true;
  }
};

// "reason resource pool needs free most behind", the format of Outcome.
std::string say(const std::string& reason, const std::string& resource = "gpu",
                const std::string& pool = "*", std::int64_t needs = 0, std::int64_t free = 0,
                std::int64_t most = 0, const std::string& behind = "");
std::int64_t amount_of(const Amounts& amounts, const std::string& resource);

struct Holding {  // what a workload holds, pending or not
  std::string name, uid;
  std::string queue, cohort;  // the queue and cohort that are charged
  std::int32_t priority = 0;
  std::int64_t since = 0, checkpoint = 0;
  std::optional<std::int64_t> ends;
  bool runs = false;            // admitted and charged
  bool stays = false;           // it can't be reclaimed
  bool in_flight = false;       // and it is unknown whether it has been released
  bool leaves = false;          // all of its pods terminate
  bool holds_too_much = false;  // more than its admission says
  std::int64_t hangs_from = 0;  // if it leaves: when it counts as hanging; 0: unknown
  bool hangs(std::int64_t now) const { return leaves && hangs_from != 0 && hangs_from <= now; }
  std::map<Key, std::int64_t> used, staying;
  std::vector<std::tuple<std::string, Amounts, std::int64_t, bool>> on_nodes;  // bound or pinned
  std::vector<std::tuple<std::string, Role, std::int64_t>> in_pools;
};

struct ModelFacts {
  explicit ModelFacts(const ClusterFacts& cluster);

  // The charge to a quota of `resource` in `pool` for these requests.
  std::int64_t charged(const std::string& resource, const std::string& pool,
                       const Asks& asks) const;
  // A queue without a cohort is its own cohort; a deleted queue stays in its old one.
  std::string cohort_of(const std::string& queue, const std::string& old = "") const;
  std::int64_t& of(Usage& all, const std::string& queue, const Key& key);
  void take_room(const std::string& pool, const Role& role, std::int64_t pods);
  std::int64_t free_room(const std::string& resource, const std::string& pool);

  const ClusterFacts& facts;
  std::map<std::string, const QueueFact*> queues;
  std::map<Key, std::int64_t> offered_in, claimed_in, largest_in;
  ModelPlaces places;         // with the GPUs taken on each node
  ModelGrowth growth;         // with the workloads that wait for nodes that the autoscaler may add
  Usage used_by, staying_by;  // by cohort and queue; staying: without leaving work
  std::vector<Candidate> candidates;
  std::vector<Holding> holdings;
  void look_for_the_largest();

 private:
  struct Gathered {  // the facts of one workload
    const JobFact* job = nullptr;
    const LedgerFact* in_flight = nullptr;
    const RestartFact* restart = nullptr;
    std::vector<const PodFact*> pods;   // living pods, oldest first
    std::vector<const PodFact*> ended;  // oldest first
  };
  std::int64_t weight(const std::string& pool, const std::string& resource) const;
  void look_at_nodes();
  void hold_on_node(const std::string& node, const Amounts& requests, std::int64_t pods);
  void hold_in_pool(const std::string& pool, const Role& role, std::int64_t pods);
  void claim_for_job(const AdmissionFact& admission, const Role& role, std::int64_t pods);
  void claim_for_pod(const AdmissionFact& admission, const AdmissionFact* says, const PodFact& pod);
  bool is_unshown(const Gathered& all) const;
  bool is_taken_back(const std::string& name, const AdmissionFact& admission) const;
  const RestartFact* restart_of(const std::string& name, const Gathered& all) const;
  void hold_for_restart(const RestartFact& restart, const std::string& pool, const Gathered& all,
                        std::int64_t missing);
  void look_at(const std::string& name, const Gathered& all);
  void charge(const AdmissionFact& admission, std::int64_t pods, std::int64_t leaving);
  void charge_beyond(const AdmissionFact& admission, std::int64_t pods, std::int64_t leaving,
                     const Gathered& all);
  void charge_past_webhook(const PodFact& pod, const std::string& queue_name);
};

}  // namespace berth::queue::test
