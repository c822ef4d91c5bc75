// SPDX-License-Identifier: Apache-2.0
#include "tests/queue/model_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace berth::queue::test {
namespace {

bool in(const NodeFact& node, const std::string& pool) { return pool == "*" || node.pool == pool; }

bool on_node(const PodFact& pod) {
  return pod.state == PodState::kBound || pod.state == PodState::kLeaving;
}

}  // namespace

std::string say(const std::string& reason, const std::string& resource, const std::string& pool,
                std::int64_t needs, std::int64_t free, std::int64_t most,
                const std::string& behind) {
  return fmt::format("{} {} {} {} {} {} {}", reason, resource, pool, needs, free, most, behind);
}
ModelFacts::ModelFacts(const ClusterFacts& cluster) : facts(cluster) {
  for (const QueueFact& queue : facts.queues) queues[queue.name] = &queue;
  look_at_nodes();
  std::map<std::string, Gathered> all;
  for (const JobFact& job : facts.jobs) all[job.workload].job = &job;
  for (const LedgerFact& entry : facts.ledger) all[entry.workload].in_flight = &entry;
  for (const PodFact& pod : facts.pods) {
    if (!pod.workload.empty()) all[pod.workload].pods.push_back(&pod);
  }
  for (auto& [name, gathered] : all) {
    std::sort(gathered.pods.begin(), gathered.pods.end(), [](const PodFact* a, const PodFact* b) {
      return std::tie(a->created, a->uid) < std::tie(b->created, b->uid);
    });
    look_at(name, gathered);
  }
}

std::int64_t amount_of(const Amounts& amounts, const std::string& resource) {
  for (const auto& [name, amount] : amounts) {
    if (name == resource) return amount;
  }
  return 0;
}

// "In a pool, a piece of a resource is worth the greatest part of a GPU that it is on any node."
std::int64_t ModelFacts::weight(const std::string& pool, const std::string& resource) const {
  std::int64_t greatest = 0;
  for (const NodeFact& node : facts.nodes) {
    if (in(node, pool)) greatest = std::max(greatest, amount_of(node.gpu_weights, resource));
  }
  return greatest == 0 ? kWholeGpu : greatest;
}

// What a quota of `resource` in `pool` is charged for these requests.
std::int64_t ModelFacts::charged(const std::string& resource, const std::string& pool,
                                 const Asks& asks) const {
  std::int64_t amount = 0;
  for (const auto& [asked, pieces] : asks) {
    if (asked == resource) amount += pieces;
    if (resource == "gpu" && is_gpu(asked)) amount += pieces * weight(pool, asked);
  }
  return amount;
}

void ModelFacts::look_at_nodes() {
  std::map<std::string, Asks> taken;
  for (const PodFact& pod : facts.pods) {
    if (pod.state != PodState::kBound && pod.state != PodState::kLeaving) continue;
    for (const auto& [resource, amount] : pod.requests) taken[pod.node][resource] += amount;
  }
  for (const NodeFact& node : facts.nodes) {
    if (!node.in_service) continue;
    for (const auto& [resource, amount] : node.offers) {
      const std::int64_t left = std::max<std::int64_t>(0, amount - taken[node.name][resource]);
      for (const std::string& pool : std::set<std::string>{"*", node.pool}) {
        if (pool.empty()) continue;
        offered_in[{resource, pool}] += amount;
        left_in[{resource, pool}] += left;
        largest_in[{resource, pool}] = std::max(largest_in[{resource, pool}], left);
      }
    }
  }
}

void ModelFacts::take_room(const std::string& pool, const Asks& asks) {
  for (const auto& [resource, amount] : asks) {
    left_in[{resource, "*"}] -= amount;
    if (pool != "*") left_in[{resource, pool}] -= amount;
  }
}

// "What is admitted to any pool may come to stand in this one."
std::int64_t ModelFacts::free_room(const std::string& resource, const std::string& pool) {
  return std::min(left_in[{resource, pool}], left_in[{resource, "*"}]);
}

// "An entry of the ledger counts while its very objects, as they were decided on, do not show it."
bool ModelFacts::is_unshown(const Gathered& all) const {
  if (all.in_flight == nullptr) return false;
  const AdmissionFact& entry = all.in_flight->admission;
  if (all.job != nullptr) {
    const JobFact& job = *all.job;
    const bool shown =
        job.admitted && job.admitted->uid == entry.uid && job.admitted->since == entry.since;
    const std::int64_t generation = all.in_flight->generation;
    const bool changed = generation != 0 && generation != job.generation;
    return job.uid == entry.uid && job.suspended && !job.held && !changed && !shown;
  }
  const auto waits = [](const PodFact* pod) { return pod->state == PodState::kWaiting; };
  return all.pods.front()->uid == entry.uid && std::any_of(all.pods.begin(), all.pods.end(), waits);
}

void ModelFacts::look_at(const std::string& name, const Gathered& all) {
  if (all.job == nullptr && all.pods.empty()) {
    const AdmissionFact& entry = all.in_flight->admission;
    if (all.in_flight->refused.empty()) charge(entry, entry.pods, 0);
    return;
  }
  const bool open = is_unshown(all) && all.in_flight->refused.empty();
  const bool refused = is_unshown(all) && !open;
  const AdmissionFact* admission = open ? &all.in_flight->admission : nullptr;
  std::int64_t live = 0, waiting = 0, leaving = 0, succeeded = 0;
  std::set<std::int64_t> sizes;
  for (auto it = all.pods.rbegin(); it != all.pods.rend(); ++it) {
    const PodFact& pod = **it;
    if (pod.admitted) admission = &*pod.admitted;
    live += pod.state != PodState::kSucceeded;
    waiting += pod.state == PodState::kWaiting;
    leaving += pod.state == PodState::kLeaving;
    succeeded += pod.state == PodState::kSucceeded;
    sizes.insert(pod.group_size);
  }
  if (all.job != nullptr && all.job->admitted) admission = &*all.job->admitted;
  if (all.job != nullptr && open) admission = &all.in_flight->admission;

  Candidate c{.name = name};
  std::int64_t wanted = 0;  // pods that it is still to run
  bool holds_all = true;    // not only what is still there of it
  Amounts next;             // what a pod asks that is not there yet
  if (all.job != nullptr) {
    const JobFact& job = *all.job;
    c.queue = job.queue, c.uid = job.uid, c.priority = job.priority, c.created = job.created;
    wanted = job.completions
                 ? std::clamp<std::int64_t>(*job.completions - job.succeeded - job.failed_indexes,
                                            0, job.parallelism)
             : job.succeeded > 0 ? 0
                                 : job.parallelism;
    holds_all = !job.suspended || open;
    next = job.requests;
    c.roles[{job.requests, job.only_pools}] = wanted;
    if (!job.template_mutable || live > 0)
      c.unready = say("TemplateNotReady");
    else if (refused)
      c.unready = say("ReleaseRefused", "gpu", "*", 0, 0, 0, name);
  } else {
    const PodFact& first = *all.pods.front();
    c.queue = first.queue, c.uid = first.uid;
    c.priority = first.priority, c.created = first.created;
    wanted = first.group_size - succeeded;
    next = first.requests;
    for (const PodFact* pod : all.pods)
      c.roles[{pod->requests, pod->only_pools}] += pod->state == PodState::kWaiting;
    std::erase_if(c.roles, [](const auto& role) { return role.second == 0; });
    if (sizes.size() > 1)
      c.unready = say("GangSizesDisagree");
    else if (live < wanted)
      c.unready = say("WaitingForGang", "gpu", "*", std::max(wanted, live), live);
    else if (refused)
      c.unready = say("ReleaseRefused", "gpu", "*", 0, 0, 0, name);
  }

  if (admission != nullptr) {
    const std::int64_t counted = holds_all ? std::max(wanted, live) : live;
    charge(*admission, counted, holds_all ? leaving : live);
    if (holds_all) {
      for (const PodFact* pod : all.pods) {
        if (pod->state == PodState::kWaiting || pod->state == PodState::kReleased)
          take_room(admission->pool, Asks(pod->requests.begin(), pod->requests.end()));
      }
      for (std::int64_t i = live; i < counted; ++i)
        take_room(admission->pool, Asks(next.begin(), next.end()));
    }
  } else if (!c.queue.empty()) {
    for (const PodFact* pod : all.pods) {
      if (on_node(*pod)) charge_past_webhook(*pod, c.queue);
    }
  }

  const bool waits = all.job != nullptr ? !holds_all && !all.job->held && wanted > 0
                                        : admission == nullptr && waiting > 0;
  if (waits && !c.queue.empty()) candidates.push_back(c);
}

void ModelFacts::charge(const AdmissionFact& admission, std::int64_t pods, std::int64_t leaving) {
  const std::int64_t of = std::max<std::int64_t>(1, admission.pods);
  const auto part = [&](std::int64_t amount, std::int64_t n) { return (amount * n + of - 1) / of; };
  for (const auto& [resource, amount] : admission.amounts) {
    const Key key{resource, admission.pool};
    const std::string cohort = cohort_of(admission.queue, admission.cohort);
    used_by[{cohort, admission.queue}][key] += part(amount, pods);
    staying_by[{cohort, admission.queue}][key] += part(amount, pods - leaving);
  }
}

void ModelFacts::charge_past_webhook(const PodFact& pod, const std::string& queue_name) {
  auto queue = queues.find(queue_name);
  if (queue == queues.end()) return;
  std::string own_pool;
  for (const NodeFact& node : facts.nodes) {
    if (node.name == pod.node) own_pool = node.pool;
  }
  for (const std::string& pool : {own_pool, std::string("*")}) {
    bool covered = false;
    for (const QuotaFact& quota : queue->second->quotas) {
      if (quota.pool != pool) continue;
      const std::int64_t amount =
          charged(quota.resource, pool, Asks(pod.requests.begin(), pod.requests.end()));
      if (amount == 0) continue;
      covered = true;
      const auto whose = std::pair(cohort_of(queue_name, ""), queue_name);
      used_by[whose][{quota.resource, pool}] += amount;
      if (pod.state != PodState::kLeaving) staying_by[whose][{quota.resource, pool}] += amount;
    }
    if (covered) return;
  }
}

// A queue without a cohort is one by itself; a deleted queue counts on in its old one.
std::string ModelFacts::cohort_of(const std::string& queue, const std::string& old) const {
  auto it = queues.find(queue);
  const std::string& cohort = it == queues.end() ? old : it->second->cohort;
  return cohort.empty() ? "/" + queue : cohort;
}

std::int64_t& ModelFacts::of(Usage& all, const std::string& queue, const Key& key) {
  return all[{cohort_of(queue), queue}][key];
}

}  // namespace berth::queue::test
