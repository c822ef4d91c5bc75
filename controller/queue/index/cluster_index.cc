// SPDX-License-Identifier: Apache-2.0
// Outline: pods and Jobs; what decides their queue; nodes and their pools; priorities.
#include "controller/queue/index/cluster_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apis/base/names.h"
#include "controller/core/seeded_bugs.h"
#include "controller/fleet/node_facts.h"
#include "controller/fleet/pools.h"
#include "controller/queue/budget/budget_standing.h"
#include "controller/queue/budget/usage_ledger.h"
#include "controller/queue/index/accepted_classes.h"
#include "controller/queue/index/facts_from.h"
#include "controller/queue/index/pools_in_reach.h"
#include "controller/queue/record/admission_record.h"
#include "controller/queue/record/node_pin.h"

namespace berth::queue {
namespace {

constexpr std::string_view kGroup = "PodGroup/";
constexpr std::string_view kAlone = "Pod/";

std::pair<Text, Text> claim_of(const ObjectMeta& meta) {
  return {meta.namespace_, meta.labels.get(names::kQueueLabel)};
}

// Whether an object concerns a queue: it names a queue or requests GPUs.
bool is_claimant(const ObjectMeta& meta, const PodShape& shape) {
  return meta.labels.contains(names::kQueueLabel) || shape->asks_for_gpus();
}

bool is_claimant(const berth::Pod& pod) { return is_claimant(pod.meta, pod.shape); }

bool is_claimant(const berth::Job& job) {
  return !is_made_for_another(job) && is_claimant(job.meta, job.pod_shape);
}

// Returns the uid of the Job that controls the pod; empty if none does.
Text job_uid_of(const berth::Pod& pod) {
  const OwnerReference* owner = pod.meta.controller();
  return owner != nullptr && owner->kind == "Job" ? owner->uid : Text();
}

// Compares the fields of a Job on which the facts of its pods depend.
bool says_the_same(const berth::Job& a, const berth::Job& b) {
  const auto maker = [](const berth::Job& job) {
    const OwnerReference* owner = job.meta.controller();
    return owner == nullptr ? Text() : owner->uid;
  };
  return a.meta.uid == b.meta.uid && a.suspended == b.suspended && a.finished == b.finished &&
         a.completions == b.completions && a.parallelism == b.parallelism && a.failed == b.failed &&
         a.backoff_limit == b.backoff_limit && a.ignores_disruptions == b.ignores_disruptions &&
         maker(a) == maker(b);
}

// Whether the ledger still has the entry for this workload. A pod's labels may name another gang
// now.
template <class Entries>
bool is_still_of(const Entries& entries, const std::string& key,
                 const typename Entries::mapped_type& entry) {
  const auto found = entries.find(key);
  return found != entries.end() && found->second.workload == entry.workload;
}

}  // namespace

// Each version of an object replaces the pointer to the one before.
template <class T>
void ClusterIndex::move_claim(const T* old, const T* now,
                              std::unordered_set<const T*> Claimants::*of) {
  if (old != nullptr && is_claimant(*old)) {
    const auto claim = claimants_.find(claim_of(old->meta));
    (claim->second.*of).erase(old);
    const bool last = claim->second.pods.empty() && claim->second.jobs.empty();
    const bool comes_back =
        now != nullptr && is_claimant(*now) && claim_of(now->meta) == claim->first;
    if (last && !comes_back) claimants_.erase(claim);
  }
  if (now == nullptr || !is_claimant(*now)) return;
  const auto [claim, fresh] = claimants_.try_emplace(claim_of(now->meta));
  if (fresh) claim->second.queue = choice_.choose(claim->first.first, claim->first.second);
  (claim->second.*of).insert(now);
}

void ClusterIndex::follow(const Change<berth::Pod>& change) {
  move_claim(change.old, change.now, &Claimants::pods);
  keep_group(change.old, change.now);
  if (!change.news) return;
  if (change.old != nullptr &&
      (change.now == nullptr || change.now->meta.uid != change.old->meta.uid)) {
    facts_->remove_pod(change.old->meta.uid);
    unaccepted_.erase(change.old->meta.uid);
  }
  if (change.now != nullptr) enter(*change.now);
}

void ClusterIndex::follow(const Change<berth::Job>& change) {
  move_claim(change.old, change.now, &Claimants::jobs);
  keep_maker(change);
  if (!change.news) return;
  if (change.old != nullptr) unaccepted_.erase(change.old->meta.uid);
  if (change.now != nullptr && is_claimant(*change.now)) return enter(*change.now);
  const berth::Job& either = change.now != nullptr ? *change.now : *change.old;
  facts_->remove_job(workload_name(either));
}

// Remembers Jobs that other controllers create. The facts of their pods in gangs depend on them.
void ClusterIndex::keep_maker(const Change<berth::Job>& change) {
  const auto of = [](const berth::Job* job) {
    return job != nullptr && is_made_for_another(*job) ? job : nullptr;
  };
  const berth::Job *old = of(change.old), *now = of(change.now);
  const bool same = old != nullptr && now != nullptr && says_the_same(*old, *now);
  if (old != nullptr) makers_.erase(Text(old->meta.uid));
  if (now != nullptr) makers_[Text(now->meta.uid)] = now;
  if (same) return;
  for (const berth::Job* job : {old, now}) {
    const auto pods =
        job == nullptr ? members_of_jobs_.end() : members_of_jobs_.find(job->meta.uid);
    if (pods == members_of_jobs_.end()) continue;
    for (const berth::Pod* pod : pods->second) enter(*pod);
  }
}

std::vector<std::string> ClusterIndex::gangs_of(const berth::Job& job) const {
  std::vector<std::string> names;
  const auto pods = members_of_jobs_.find(job.meta.uid);
  if (pods == members_of_jobs_.end()) return names;
  for (const berth::Pod* pod : pods->second) names.push_back(workload_name(*pod));
  std::erase_if(names, [](const std::string& name) { return !name.starts_with(kGroup); });
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

void ClusterIndex::keep_group(const berth::Pod* old, const berth::Pod* now) {
  const auto name_of = [](const berth::Pod* pod) {
    std::string name = pod == nullptr ? std::string() : workload_name(*pod);
    const bool alone = name.starts_with(kAlone) && !job_uid_of(*pod).empty();
    return alone || name.starts_with(kGroup) ? name : std::string();
  };
  if (const std::string name = name_of(old); !name.empty()) {
    if (const auto group = groups_.find(name); group != groups_.end()) {
      group->second.erase(old);
      if (group->second.empty()) groups_.erase(group);
    }
    if (const auto job = members_of_jobs_.find(job_uid_of(*old)); job != members_of_jobs_.end()) {
      job->second.erase(old);
      if (job->second.empty()) members_of_jobs_.erase(job);
    }
  }
  if (const std::string name = name_of(now); !name.empty()) {
    if (name.starts_with(kGroup)) groups_[name].insert(now);
    if (const Text job = job_uid_of(*now); !job.empty()) members_of_jobs_[job].insert(now);
  }
}

std::vector<const berth::Pod*> ClusterIndex::members(const std::string& workload) const {
  const auto group = groups_.find(workload);
  if (group == groups_.end()) return {};
  std::vector<const berth::Pod*> pods(group->second.begin(), group->second.end());
  std::ranges::sort(pods, {},
                    [](const berth::Pod* pod) { return std::string_view(pod->meta.name); });
  return pods;
}

void ClusterIndex::enter(const berth::Pod& pod) {
  const std::string queue = is_claimant(pod) ? queue_of(pod.meta) : "";
  // A pod of no queue matters only once it takes room on a node.
  const Text job = job_uid_of(pod);
  const bool counts = !queue.empty() || !pod.node_name.empty() || !job.empty();
  const auto maker = job.empty() ? makers_.end() : makers_.find(job);
  auto fact = counts ? pod_fact(pod, queue, priority_of(pod, queue),
                                maker == makers_.end() ? nullptr : maker->second)
                     : std::nullopt;
  if (fact && fact->state == PodState::kWaiting) {
    fact->only_pools = pools_for(*pod.shape);
    fact->rules = rules_.name_of(pod.shape);
  }
  if (fact) return facts_->put(*fact);
  facts_->remove_pod(pod.meta.uid);
  unaccepted_.erase(pod.meta.uid);
}

void ClusterIndex::enter(const berth::Job& job) {
  const std::string queue = queue_of(job.meta);
  JobFact fact = job_fact(job, queue, priority_of(job, queue));
  // An earlier admission, or one on the original of a copied Job, must not limit the pools of this
  // one.
  const auto record = fact.admitted ? fact.admitted : foreign_admission_on(job.meta);
  const PodShape own = record ? without_admission(job.pod_shape, *record) : job.pod_shape;
  fact.only_pools = pools_for(*own);
  fact.rules = rules_.name_of(own);
  facts_->put(fact);
  if (job.finished) unaccepted_.erase(job.meta.uid);
}

PoolNames ClusterIndex::pools_for(const PodShape::Fields& shape) const {
  return policy_ == nullptr ? PoolNames() : pools_in_reach(shape, policy_->spec.pools);
}

std::string ClusterIndex::queue_of(const ObjectMeta& meta) const {
  return claimants_.find(claim_of(meta))->second.queue;
}

void ClusterIndex::follow(const Change<Namespace>& change) {
  choice_.follow(change);
  if (change.news) choose_again();
}

void ClusterIndex::follow(const Change<GPUQueue>& change) {
  choice_.follow(change);
  // No decision depends on a status.
  if (change.old != nullptr && change.now != nullptr && change.old->spec == change.now->spec &&
      change.old->meta.uid == change.now->meta.uid)
    return;
  judged_ = false;
  choose_again();
  const auto classes = [](const GPUQueue* queue) {
    return queue == nullptr ? std::nullopt : queue->spec.priority_classes;
  };
  if (change.old != nullptr && change.now != nullptr && classes(change.old) == classes(change.now))
    return;
  const GPUQueue& either = change.now != nullptr ? *change.now : *change.old;
  for (const auto& [claim, claimants] : claimants_)
    if (claimants.queue == either.meta.name) enter_all(claimants);
}

void ClusterIndex::choose_again() {
  for (auto& [claim, claimants] : claimants_) {
    std::string queue = choice_.choose(claim.first, claim.second);
    if (queue == claimants.queue) continue;
    claimants.queue = std::move(queue);
    enter_all(claimants);
  }
}

void ClusterIndex::enter_all(const Claimants& claimants) {
  for (const berth::Pod* pod : claimants.pods) enter(*pod);
  for (const berth::Job* job : claimants.jobs) enter(*job);
}

// A queue in trouble keeps its admitted workloads. It admits none and lends nothing, as its quotas
// are not known.
void ClusterIndex::judge_queues() const {
  if (std::exchange(judged_, true)) return;
  troubles_ = find_troubles(choice_.queues());
  std::vector<std::string> gone;
  for (const auto& [name, fact] : facts_->queues())
    if (!choice_.queues().contains(name)) gone.push_back(name);
  for (const std::string& name : gone) facts_->remove_queue(name);
  for (const auto& [name, queue] : choice_.queues()) {
    QueueFact fact = queue_fact(*queue);
    if (troubles_.contains(name)) {
      fact.quotas.clear();
      fact.held = fact.in_trouble = true;
      fact.drains = false;
    }
    fact.spent = held_by_budget(*queue, accounts_);
    if (fact.held || seeded(SeededBug::kIgnoreBudget)) fact.spent.reset();
    fact.held = fact.held || fact.spent;
    const auto standing = facts_->queues().find(name);
    if (standing == facts_->queues().end() || standing->second != fact) facts_->put(fact);
  }
}

void ClusterIndex::follow(const Change<Node>& change) {
  if (change.old != nullptr) nodes_.erase(change.old);
  if (change.now != nullptr) nodes_.insert(change.now);
  rules_.move(change.old, change.now);
  if (!change.news) return;
  if (change.now != nullptr)
    enter(*change.now);
  else
    facts_->remove_node(change.old->meta.name);
}

void ClusterIndex::enter(const Node& node) {
  const PoolSpec* pool = policy_ == nullptr ? nullptr : pool_of(*policy_, node);
  NodeFact fact = node_fact(node, pool == nullptr ? "" : pool->name);
  if (policy_ != nullptr) {
    for (const std::string& level : policy_->spec.topology_levels)
      fact.domains.push_back(node.meta.labels.get(level).str());
  }
  rules_.put(node, fact.pool);
  facts_->put(fact);
}

void ClusterIndex::follow(const Change<GPUClusterPolicy>& change) {
  const auto& either = change.now != nullptr ? *change.now : *change.old;
  if (either.meta.name != limits::kPolicyName) return;
  const bool holds = change.now != nullptr && !change.now->meta.deletion_timestamp;
  const bool same = policy_ != nullptr && holds && change.old != nullptr &&
                    change.old->spec.pools == change.now->spec.pools &&
                    change.old->spec.topology_levels == change.now->spec.topology_levels &&
                    change.old->spec.priority_classes == change.now->spec.priority_classes &&
                    change.old->spec.admission.defaults == change.now->spec.admission.defaults;
  policy_ = holds ? change.now : nullptr;
  if (same) return;
  facts_->put(TopologyFact{holds ? policy_->spec.topology_levels : std::vector<std::string>()});
  facts_->put(holds ? elastic_fact(*policy_) : ElasticFact());
  for (const Node* node : nodes_) enter(*node);
  for (const auto& [claim, claimants] : claimants_) enter_all(claimants);
}

// Removes old entries first: under the same name there may be an entry for a new object.
void ClusterIndex::follow(const Change<ConfigMap>& change) {
  const ConfigMap& either = change.now != nullptr ? *change.now : *change.old;
  if (either.meta.name == names::kUsageConfigMap) return follow_usage(change);
  if (either.meta.name != names::kAdmissionsConfigMap) return;
  const AdmissionLedger before = ledgers_.in(either.meta.namespace_.view());
  ledgers_.follow(change);
  const AdmissionLedger& now = ledgers_.in(either.meta.namespace_.view());
  for (const auto& [uid, entry] : before.entries)
    if (!is_still_of(now.entries, uid, entry)) facts_->remove_ledger(entry.workload);
  for (const auto& [uid, entry] : now.entries) facts_->put(entry);
  for (const auto& [key, recall] : before.recalls)
    if (!is_still_of(now.recalls, key, recall)) facts_->remove_recall(recall.workload);
  for (const auto& [key, recall] : now.recalls) facts_->put(recall);
  for (const auto& [key, restart] : before.restarts)
    if (!is_still_of(now.restarts, key, restart)) facts_->remove_restart(restart.workload);
  for (const auto& [key, restart] : now.restarts) facts_->put(restart);
}

void ClusterIndex::follow_usage(const Change<ConfigMap>& change) {
  accounts_ = change.now == nullptr ? BudgetAccounts() : read_budget_accounts(*change.now);
  judged_ = false;
}

void ClusterIndex::follow(const Change<PriorityClass>& change) {
  const PriorityClass& either = change.now != nullptr ? *change.now : *change.old;
  if (change.now == nullptr)
    priorities_.erase(either.meta.name);
  else
    priorities_[either.meta.name] = change.now;
  if (!change.news) return;
  for (const auto& [claim, claimants] : claimants_) enter_all(claimants);
}

const PriorityClass* ClusterIndex::find_class(const Text& name) const {
  const auto named = priorities_.find(name.view());
  return named == priorities_.end() ? nullptr : named->second;
}

std::int32_t ClusterIndex::default_priority() const {
  for (const auto& [name, each] : priorities_)
    if (each->global_default) return each->value;
  return 0;
}

// A queue that does not exist, or does not select the workload's namespace, admits nothing anyway.
bool ClusterIndex::accepts(const std::string& queue, const PriorityClass& of) const {
  if (of.global_default) return true;
  const auto found = choice_.queues().find(queue);
  return found == choice_.queues().end() || accepts_class(*found->second, policy_, of.meta.name);
}

void ClusterIndex::note_unaccepted(const ObjectMeta& meta, const std::string& queue,
                                   const PriorityClass& of) {
  unaccepted_[meta.uid] = {
      queue, fmt::format("{}/{} ({})", meta.namespace_.view(), meta.name, of.meta.name)};
}

template <class Own>
std::int32_t ClusterIndex::priority_by_label(const ObjectMeta& meta, const std::string& queue,
                                             Own&& own) {
  unaccepted_.erase(meta.uid);
  const PriorityClass* named = find_class(meta.labels.get(names::kPriorityClassLabel));
  if (named == nullptr) return own();
  if (accepts(queue, *named)) return named->value;
  note_unaccepted(meta, queue, *named);
  return own();
}

// A pod shows the value of its class and not the name. If no class has this value, the class was
// deleted.
std::int32_t ClusterIndex::priority_of(const berth::Pod& pod, const std::string& queue) {
  return priority_by_label(pod.meta, queue, [&] {
    const std::int32_t own = pod.shape->priority;
    const PriorityClass* of = nullptr;
    for (const auto& [name, each] : priorities_) {
      if (each->value != own) continue;
      if (accepts(queue, *each)) return own;
      of = each;
    }
    const std::int32_t given = default_priority();
    if (of == nullptr || own <= given) return own;
    note_unaccepted(pod.meta, queue, *of);
    return given;
  });
}

// Returns the priority that the Job's pods will get: by their class, or else by the cluster's
// default class.
std::int32_t ClusterIndex::priority_of(const berth::Job& job, const std::string& queue) {
  return priority_by_label(job.meta, queue, [&] {
    if (job.priority_class_name.empty()) return default_priority();
    const PriorityClass* named = find_class(job.priority_class_name);
    if (named == nullptr) return 0;
    if (accepts(queue, *named)) return named->value;
    note_unaccepted(job.meta, queue, *named);
    return std::min(named->value, default_priority());
  });
}

std::vector<std::string> ClusterIndex::unaccepted_classes(std::string_view queue) const {
  std::vector<std::string> found;
  for (const auto& [uid, of] : unaccepted_)
    if (of.first == queue) found.push_back(of.second);
  std::ranges::sort(found);
  return found;
}

const FactsIndex& ClusterIndex::facts() const {
  judge_queues();
  return *facts_;
}

const Cause* ClusterIndex::trouble(std::string_view queue) const {
  judge_queues();
  const auto found = troubles_.find(queue);
  return found == troubles_.end() ? nullptr : &found->second;
}

NamesByQueue ClusterIndex::namespaces() const {
  NamesByQueue names;
  for (const auto& [claim, claimants] : claimants_) {
    if (claimants.queue.empty()) continue;
    std::vector<std::string>& of = names[claimants.queue];
    if (of.empty() || of.back() != claim.first.view()) of.push_back(claim.first.str());
  }
  return names;
}

std::vector<std::string> ClusterIndex::pools() const {
  std::vector<std::string> names;
  if (policy_ != nullptr)
    for (const PoolSpec& pool : policy_->spec.pools) names.push_back(pool.name);
  return names;
}

}  // namespace berth::queue
