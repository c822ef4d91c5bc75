// SPDX-License-Identifier: Apache-2.0
// ClusterIndex: the queue's index of the objects in the stores. A view (core/view.h) that is never
// copied: a what-if builds its own.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "apis/kinds/core.h"
#include "apis/kinds/gpu_cluster_policy.h"
#include "controller/core/view.h"
#include "controller/queue/budget/gpu_hours.h"
#include "controller/queue/facts/facts_index.h"
#include "controller/queue/index/node_rules.h"
#include "controller/queue/index/queue_choice.h"
#include "controller/queue/index/queue_trouble.h"
#include "controller/queue/record/admission_ledger.h"

namespace berth::queue {

class ClusterIndex {
 public:
  ClusterIndex() : facts_(std::make_unique<FactsIndex>()), rules_(*facts_) {}

  void follow(const Change<Node>& change);
  void follow(const Change<berth::Pod>& change);
  void follow(const Change<berth::Job>& change);
  void follow(const Change<GPUQueue>& change);
  void follow(const Change<Namespace>& change);
  void follow(const Change<PriorityClass>& change);
  void follow(const Change<GPUClusterPolicy>& change);
  void follow(const Change<ConfigMap>& change);

  const FactsIndex& facts() const;
  const QueueChoice& choice() const { return choice_; }
  // Returns why berth can't act on the queue; null if it can.
  const Cause* trouble(std::string_view queue) const;
  // Returns the pods of a group by name; empty for any other workload.
  std::vector<const berth::Pod*> members(const std::string& workload) const;
  // Returns the groups that the Job's pods belong to, sorted.
  std::vector<std::string> gangs_of(const berth::Job& job) const;
  // Returns for each queue the namespaces with workloads of it, sorted.
  NamesByQueue namespaces() const;
  // Returns the queue's workloads that name a PriorityClass which the queue does not accept: "train
  // (prod)", sorted. They count with the cluster's default priority.
  std::vector<std::string> unaccepted_classes(std::string_view queue) const;
  // Returns the names of the policy's pools, in the policy's order.
  std::vector<std::string> pools() const;

 private:
  // Workloads of one namespace with the same queue label, or none. All of them are in the same
  // queue.
  struct Claimants {
    std::string queue;
    std::unordered_set<const berth::Pod*> pods;
    std::unordered_set<const berth::Job*> jobs;
  };
  template <class T>
  void move_claim(const T* old, const T* now, std::unordered_set<const T*> Claimants::*of);
  void enter(const berth::Pod& pod);
  void enter(const berth::Job& job);
  void enter(const Node& node);
  void follow_usage(const Change<ConfigMap>& change);
  void choose_again();
  void judge_queues() const;
  std::string queue_of(const ObjectMeta& meta) const;
  PoolNames pools_for(const PodShape::Fields& shape) const;
  void keep_group(const berth::Pod* old, const berth::Pod* now);
  void keep_maker(const Change<berth::Job>& change);
  void enter_all(const Claimants& claimants);
  const PriorityClass* find_class(const Text& name) const;
  std::int32_t default_priority() const;
  bool accepts(const std::string& queue, const PriorityClass& of) const;
  std::int32_t priority_of(const berth::Pod& pod, const std::string& queue);
  std::int32_t priority_of(const berth::Job& job, const std::string& queue);
  // Returns the priority of the class that the label names, if the queue accepts it. Otherwise it
  // returns own().
  template <class Own>
  std::int32_t priority_by_label(const ObjectMeta& meta, const std::string& queue, Own&& own);
  void note_unaccepted(const ObjectMeta& meta, const std::string& queue, const PriorityClass& of);

  std::unique_ptr<FactsIndex> facts_;
  NodeRules rules_;
  QueueChoice choice_;
  // berth judges all queues together, and only on demand: a thousand queues may arrive at once.
  mutable bool judged_ = true;
  mutable std::map<std::string, Cause, std::less<>> troubles_;
  std::map<std::pair<Text, Text>, Claimants> claimants_;  // by namespace and queue label
  std::unordered_set<const Node*> nodes_;
  std::map<std::string, std::unordered_set<const berth::Pod*>, std::less<>> groups_;
  // By uid of the Job: Jobs that other controllers create, and their pods that berth admits in
  // groups or one by one.
  std::map<Text, const berth::Job*, std::less<>> makers_;
  std::map<Text, std::unordered_set<const berth::Pod*>, std::less<>> members_of_jobs_;
  AdmissionLedgers ledgers_;
  BudgetAccounts accounts_;  // as last recorded
  const GPUClusterPolicy* policy_ = nullptr;
  std::map<std::string, const PriorityClass*, std::less<>> priorities_;
  // By uid of the object: its queue, and "NAME (CLASS)".
  std::map<std::string, std::pair<std::string, std::string>, std::less<>> unaccepted_;
};

}  // namespace berth::queue
