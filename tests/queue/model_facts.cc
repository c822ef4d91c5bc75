// SPDX-License-Identifier: Apache-2.0
#include "tests/queue/model_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "tests/queue/model_records.h"

namespace berth::queue::test {
namespace {

constexpr std::int64_t kHeadsFor = 60'000'000;
constexpr std::int64_t kHeadsForEver = std::numeric_limits<std::int64_t>::max();

bool in(const NodeFact& node, const std::string& pool) { return pool == "*" || node.pool == pool; }

bool on_node(const PodFact& pod) {
  return pod.state == PodState::kBound || pod.state == PodState::kLeaving;
}

template <class Fact>
Role role_of(const Fact& of) {
  return {of.requests, of.only_pools, of.rules, of.modelled};
}

// A missing member counts with the requests of the first pod of its role. If no pod names the
// missing member's role, it counts with the requests of the group's first pod.
std::vector<const PodFact*> like_whom(const std::vector<const PodFact*>& pods,
                                      std::int64_t missing) {
  std::map<std::string, std::vector<const PodFact*>> roles;
  for (const PodFact* pod : pods)
    if (pod->fast && pod->role_size > 0) roles[pod->role].push_back(pod);
  std::vector<const PodFact*> out;
  for (const auto& [role, members] : roles)
    for (auto i = std::ssize(members); i < members.front()->role_size; ++i)
      if (std::ssize(out) < missing) out.push_back(members.front());
  while (std::ssize(out) < missing) out.push_back(pods.front());
  return out;
}

// A Job whose pods still leave is a head until they hang.
std::int64_t until_all_hang(const std::vector<const PodFact*>& pods) {
  std::int64_t until = pods.empty() ? kHeadsForEver : 0;
  for (const PodFact* pod : pods)
    until = pod->state != PodState::kLeaving || pod->hangs_from == 0
                ? kHeadsForEver
                : std::max(until, pod->hangs_from);
  return until;
}

}  // namespace

std::string say(const std::string& reason, const std::string& resource, const std::string& pool,
                std::int64_t needs, std::int64_t free, std::int64_t most,
                const std::string& behind) {
  return fmt::format("{} {} {} {} {} {} {}", reason, resource, pool, needs, free, most, behind);
}
ModelFacts::ModelFacts(const ClusterFacts& cluster)
    : facts(cluster), places(cluster), growth(cluster) {
  for (const QueueFact& queue : facts.queues) queues[queue.name] = &queue;
  look_at_nodes();
  std::map<std::string, Gathered> all;
  for (const JobFact& job : facts.jobs) all[job.workload].job = &job;
  for (const LedgerFact& entry : facts.ledger) all[entry.workload].in_flight = &entry;
  for (const PodFact& pod : facts.pods) {
    if (pod.workload.empty()) continue;
    Gathered& of = all[pod.workload];
    (pod.state == PodState::kEnded ? of.ended : of.pods).push_back(&pod);
  }
  for (const RestartFact& restart : facts.restarts) all[restart.workload].restart = &restart;
  for (auto& [name, gathered] : all) {
    const auto older = [](const PodFact* a, const PodFact* b) {
      return std::tie(a->created, a->uid) < std::tie(b->created, b->uid);
    };
    std::sort(gathered.pods.begin(), gathered.pods.end(), older);
    std::sort(gathered.ended.begin(), gathered.ended.end(), older);
    look_at(name, gathered);
  }
  look_for_the_largest();
}

std::int64_t amount_of(const Amounts& amounts, const std::string& resource) {
  for (const auto& [name, amount] : amounts) {
    if (name == resource) return amount;
  }
  return 0;
}

// In a pool, one device of a resource counts as its greatest part of a GPU on any node.
std::int64_t ModelFacts::weight(const std::string& pool, const std::string& resource) const {
  std::int64_t greatest = 0;
  for (const NodeFact& node : facts.nodes) {
    if (in(node, pool)) greatest = std::max(greatest, amount_of(node.gpu_weights, resource));
  }
  return greatest == 0 ? kWholeGpu : greatest;
}

// The charge to a quota of `resource` in `pool` for these requests.
std::int64_t ModelFacts::charged(const std::string& resource, const std::string& pool,
                                 const Asks& asks) const {
  std::int64_t amount = 0;
  for (const auto& [asked, pieces] : asks) {
    if (asked == resource) amount += pieces;
    if (resource == "gpu" && is_gpu_resource(asked)) amount += pieces * weight(pool, asked);
  }
  return amount;
}

void ModelFacts::look_at_nodes() {
  for (const PodFact& pod : facts.pods)
    if (on_node(pod)) places.take(pod.node, pod.requests, 1);
  places.bound = places.taken;
  for (const NodeFact& node : facts.nodes) {
    if (!node.in_service) continue;
    for (const auto& [resource, amount] : node.offers)
      for (const std::string& pool : std::set<std::string>{"*", node.pool})
        if (!pool.empty()) offered_in[{resource, pool}] += amount;
  }
}

// At the start of a cycle.
void ModelFacts::look_for_the_largest() {
  largest_in.clear();
  for (const NodeFact& node : facts.nodes)
    for (const auto& [resource, amount] : node.offers)
      for (const std::string& pool : std::set<std::string>{"*", node.pool}) {
        std::int64_t& largest = largest_in[{resource, pool}];
        largest = std::max(largest, places.free_on(node, resource));
      }
}

void ModelFacts::take_room(const std::string& pool, const Role& role, std::int64_t pods) {
  if (pods == 0) return;
  for (const auto& [resource, amount] : std::get<Amounts>(role))
    claimed_in[{resource, pool}] += amount * pods;
  growth.waiting[pool][role] += pods;
}

// Workloads admitted to any pool may run in this pool. All workloads admitted to a named pool take
// at most that pool's capacity.
std::int64_t ModelFacts::free_room(const std::string& resource, const std::string& pool) {
  std::map<std::string, std::int64_t> free_in;  // by pool; nodes without a pool have the empty name
  for (const NodeFact& node : facts.nodes) free_in[node.pool] += places.free_on(node, resource);
  std::int64_t together = -claimed_in[{resource, "*"}];
  for (const auto& [name, free] : free_in)
    together += std::max<std::int64_t>(0, free - claimed_in[{resource, name}]);
  if (pool == "*") return together;
  return std::min(together, free_in[pool] - claimed_in[{resource, pool}]);
}

void ModelFacts::hold_on_node(const std::string& node, const Amounts& requests, std::int64_t pods) {
  places.take(node, requests, pods);
  holdings.back().on_nodes.emplace_back(node, requests, pods, false);
}

void ModelFacts::hold_in_pool(const std::string& pool, const Role& role, std::int64_t pods) {
  take_room(pool, role, pods);
  holdings.back().in_pools.emplace_back(pool, role, pods);
}

// All future pods may come to each of its nodes.
void ModelFacts::claim_for_job(const AdmissionFact& admission, const Role& role,
                               std::int64_t pods) {
  for (const std::string& node : admission.nodes) hold_on_node(node, std::get<Amounts>(role), pods);
  if (admission.nodes.empty()) hold_in_pool(admission.pool, role, pods);
}

// A member holds the node in its record or, before its release, in the ledger.
void ModelFacts::claim_for_pod(const AdmissionFact& admission, const AdmissionFact* says,
                               const PodFact& pod) {
  if (says != nullptr) {
    if (says->members.empty() && says->nodes.size() == 1 && says->uid == pod.uid)
      return hold_on_node(says->nodes.front(), pod.requests, 1);
    for (std::size_t i = 0; i < std::min(says->members.size(), says->nodes.size()); ++i)
      if (says->members[i] == pod.uid.substr(0, 8))
        return hold_on_node(says->nodes[i], pod.requests, 1);
  }
  hold_in_pool(admission.pool, role_of(pod), 1);
}

// A ledger entry counts while its objects, as they were at the decision, do not show it.
bool ModelFacts::is_unshown(const Gathered& all) const {
  if (all.in_flight == nullptr) return false;
  const AdmissionFact& entry = all.in_flight->admission;
  if (all.job != nullptr) {
    const JobFact& job = *all.job;
    const bool shown =
        job.admitted && job.admitted->uid == entry.uid && job.admitted->since == entry.since;
    const std::int64_t generation = all.in_flight->generation;
    const bool changed = generation != 0 && generation != job.generation;
    return job.uid == entry.uid && job.suspended && !job.held && !changed && !shown &&
           job.hangs_from == 0;
  }
  const auto waits = [](const PodFact* pod) { return pod->state == PodState::kWaiting; };
  return all.pods.front()->uid == entry.uid && std::any_of(all.pods.begin(), all.pods.end(), waits);
}

// The mark is valid until the gang is requeued, and only for pods of one of its makers.
const RestartFact* ModelFacts::restart_of(const std::string& name, const Gathered& all) const {
  if (all.restart == nullptr || is_taken_back(name, all.restart->admission)) return nullptr;
  bool other = false;
  for (const PodFact* pod : all.pods)
    if (pod->admitted)
      return pod->admitted->since == all.restart->admission.since ? all.restart : nullptr;
  for (const PodFact* pod : all.pods) {
    if (std::ranges::count(all.restart->makers, pod->maker) > 0) return all.restart;
    other = other || !pod->maker.empty();
  }
  return other ? nullptr : all.restart;
}

// Missing members count with the requests in the mark.
void ModelFacts::hold_for_restart(const RestartFact& restart, const std::string& pool,
                                  const Gathered& all, std::int64_t missing) {
  std::map<Amounts, std::int64_t> here;
  for (const PodFact* pod : all.pods) ++here[pod->requests];
  for (const auto& [requests, pods] : restart.asks) {
    std::int64_t lacks = 0;
    for (std::int64_t i = 0; i < pods; ++i) lacks += --here[requests] < 0;
    if (here[requests] < 0) here[requests] = 0;
    lacks = std::min(lacks, missing);
    missing -= lacks;
    if (lacks > 0) hold_in_pool(pool, {requests, {}, "", true}, lacks);
  }
}

void ModelFacts::look_at(const std::string& name, const Gathered& all) {
  const RestartFact* restart = restart_of(name, all);
  if (all.job == nullptr && all.pods.empty()) {
    if (all.in_flight == nullptr && restart == nullptr) return;
    if (all.in_flight == nullptr) {
      const AdmissionFact& kept = restart->admission;
      holdings.push_back({.name = name, .uid = kept.uid, .since = kept.since, .in_flight = true});
      std::int64_t pods = 0;
      for (const auto& [requests, count] : restart->asks) pods += count;
      charge(kept, pods, 0);
      hold_for_restart(*restart, kept.pool, all, pods);
      holdings.back().runs = !holdings.back().used.empty();
      return;
    }
    const AdmissionFact& entry = all.in_flight->admission;
    if (all.in_flight->refused.empty()) {
      holdings.push_back({.name = name, .uid = entry.uid, .since = entry.since, .in_flight = true});
      charge(entry, entry.pods, 0);
      holdings.back().runs = !holdings.back().used.empty();
    }
    return;
  }
  Holding& holding = holdings.emplace_back();
  holding.name = name;
  const bool open = is_unshown(all) && all.in_flight->refused.empty();
  const bool refused = is_unshown(all) && !open;
  const AdmissionFact* admission = open ? &all.in_flight->admission : nullptr;
  std::int64_t live = 0, waiting = 0, leaving = 0;
  std::set<std::int64_t> sizes;
  for (auto it = all.pods.rbegin(); it != all.pods.rend(); ++it) {
    const PodFact& pod = **it;
    if (pod.admitted) admission = &*pod.admitted;
    ++live;
    waiting += pod.state == PodState::kWaiting;
    leaving += pod.state == PodState::kLeaving;
    sizes.insert(pod.group_size);
    holding.checkpoint = std::max(holding.checkpoint, pod.checkpoint);
    if (on_node(pod)) holding.on_nodes.emplace_back(pod.node, pod.requests, 1, true);
  }
  if (all.job != nullptr && all.job->admitted) admission = &*all.job->admitted;
  if (all.job != nullptr && open) admission = &all.in_flight->admission;
  const bool restarts = admission == nullptr && restart != nullptr;
  if (restarts) admission = &restart->admission;

  // Ended members count if the gang is still the same.
  std::vector<const PodFact*> ended;
  for (const PodFact* pod : all.ended) {
    const auto made_alike = [&](const PodFact* other) {
      return !pod->maker.empty() && other->maker == pod->maker;
    };
    const bool let_go_alike =
        pod->admitted && admission != nullptr && pod->admitted->since == admission->since;
    if (let_go_alike || std::ranges::any_of(all.pods, made_alike)) ended.push_back(pod);
  }

  Candidate c{.name = name};
  std::int64_t wanted = 0;  // pods that it must still run
  bool holds_all = true;    // not only what remains of it
  if (all.job != nullptr) {
    const JobFact& job = *all.job;
    c.queue = job.queue, c.uid = job.uid, c.priority = job.priority, c.created = job.created;
    wanted = job.completions
                 ? std::clamp<std::int64_t>(*job.completions - job.succeeded - job.failed_indexes,
                                            0, job.parallelism)
             : job.succeeded > 0 ? 0
                                 : job.parallelism;
    holds_all = job.hangs_from == 0 && (!job.suspended || open);
    c.roles[{job.requests, job.only_pools, job.rules, job.modelled}] = wanted;
    c.wish = job.topology, c.is_job = true;
    // Rounded up to five binary digits.
    std::int64_t step = 1;
    while (job.lasts / step >= 32) step *= 2;
    c.lasts = (job.lasts + step - 1) / step * step;
    c.left_out = job.setbacks > 0;
    if (c.left_out)
      c.unready =
          say(job.setbacks < 5 ? "BackingOff" : "NotReady", "gpu", "*", job.setbacks, 0, 5, name);
    else if (!job.template_mutable || live > 0)
      c.unready = say("TemplateNotReady"), c.heads_until = until_all_hang(all.pods);
    else if (refused)
      c.unready = say("ReleaseRefused", "gpu", "*", 0, 0, 0, name);
  } else {
    const PodFact& first = *all.pods.front();
    c.queue = first.queue, c.uid = first.uid;
    c.priority = first.priority, c.created = first.created;
    if (!ended.empty()) c.created = std::min(c.created, ended.front()->created);
    wanted = first.group_size - std::ssize(ended);
    if (admission != nullptr) {
      const auto released = std::ranges::count_if(ended, [&](const PodFact* pod) {
        return pod->admitted && pod->admitted->since == admission->since;
      });
      wanted = std::min(wanted, admission->pods - released);
    }
    c.wish = first.topology, c.alone = all.pods.size() == 1;
    for (const PodFact* pod : all.pods) {
      if (pod->state != PodState::kWaiting) continue;
      const Role role{pod->requests, pod->only_pools, pod->rules, pod->modelled};
      ++c.roles[role];
      c.waiting.emplace_back(pod->uid, role);
    }
    for (const PodFact* pod : like_whom(all.pods, first.fast ? wanted - live : 0))
      ++c.roles[{pod->requests, pod->only_pools, pod->rules, pod->modelled}], c.alone = false;
    for (const PodFact* pod : all.pods) {
      c.stays = c.stays || pod->stays;
      c.heads_until = std::max(c.heads_until, pod->created + kHeadsFor);
    }
    if (sizes.size() > 1)
      c.unready = say("GangSizesDisagree");
    else if (live < wanted && !first.fast)
      c.unready = say("WaitingForGang", "gpu", "*", std::max(wanted, live), live);
    else
      c.heads_until = 0;
    if (c.unready.empty() && refused) c.unready = say("ReleaseRefused", "gpu", "*", 0, 0, 0, name);
  }

  holding.priority = c.priority;
  holding.stays = c.stays;
  if (all.job != nullptr) holding.checkpoint = std::max(holding.checkpoint, all.job->checkpoint);
  if (all.job != nullptr && !all.job->suspended && all.job->lasts > 0 && all.job->started > 0)
    holding.ends = all.job->started + all.job->lasts;
  // A Job that runs, or must run, continues whatever happens to its pods.
  const bool goes_on = all.job != nullptr && holds_all && wanted > 0;
  const bool all_leave = (all.job != nullptr && !holds_all) || leaving == live;
  holding.leaves = (!goes_on && live > 0 && all_leave) ||
                   (admission != nullptr && is_taken_back(name, *admission));
  // berth does not rely on the end of a gang whose controller may be re-creating all of its pods.
  const bool comes_back =
      holding.leaves && all.job == nullptr && admission != nullptr &&
      !is_taken_back(name, *admission) && name.starts_with("PodGroup/") &&
      all.pods.front()->group_size > 1 &&
      std::ranges::any_of(all.pods, [](const PodFact* pod) { return pod->admitted.has_value(); }) &&
      std::ranges::none_of(all.pods, [](const PodFact* pod) { return pod->maker.empty(); });
  if (comes_back) holding.hangs_from = 1;
  for (const PodFact* pod : all.pods) {
    if (pod->state == PodState::kEnded || !holding.leaves || comes_back) continue;
    const std::int64_t of_job = all.job != nullptr ? all.job->hangs_from : 0;
    const std::int64_t from = pod->state == PodState::kLeaving ? pod->hangs_from : of_job;
    if (from != 0 && (holding.hangs_from == 0 || from < holding.hangs_from))
      holding.hangs_from = from;
  }
  if (admission != nullptr) {
    const auto worth = [&](const std::string& resource) {
      return weight(admission->pool, resource);
    };
    // A gated member that the record does not cover counts for nothing.
    std::vector<const PodFact*> covered;
    if (all.job == nullptr) covered = covered_by(*admission, all.pods, ended, wanted, worth);
    if (all.job == nullptr) live -= waiting - std::ssize(covered);
    const std::int64_t counted = holds_all ? std::max(wanted, live) : live;
    const bool taken_back = is_taken_back(name, *admission);
    const std::int64_t goes = taken_back ? counted : holds_all ? leaving : live;
    charge(*admission, counted, goes);
    charge_beyond(*admission, counted, goes, all);
    holding.runs = holds_all && !holding.used.empty();
    holding.uid = admission->uid, holding.since = admission->since;
    holding.in_flight = open || restarts;
    if (holds_all) {
      const AdmissionFact* entry = open ? &all.in_flight->admission : nullptr;
      for (const PodFact* pod : all.pods) {
        const bool follows = all.job != nullptr || std::ranges::count(covered, pod) > 0;
        if (pod->state != PodState::kReleased && (pod->state != PodState::kWaiting || !follows))
          continue;
        if (all.job != nullptr) {
          claim_for_job(*admission, role_of(*pod), 1);
          continue;
        }
        const AdmissionFact* own = pod->admitted ? &*pod->admitted : nullptr;
        claim_for_pod(*admission, pod->state == PodState::kReleased ? own : entry, *pod);
      }
      if (all.job != nullptr) claim_for_job(*admission, role_of(*all.job), counted - live);
      if (all.job == nullptr && restart != nullptr)
        hold_for_restart(*restart, admission->pool, all, counted - live);
      else if (all.job == nullptr)
        for (const PodFact* pod : like_whom(all.pods, counted - live))
          hold_in_pool(admission->pool, role_of(*pod), 1);
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
    Holding& holding = holdings.back();
    holding.queue = admission.queue, holding.cohort = cohort;
    if (part(amount, pods) > 0) holding.used[key] += part(amount, pods);
    holding.staying[key] += part(amount, pods - leaving);
  }
}

// Charges what pods request beyond their admission. The charge goes to the admission's pool; if no
// quota covers it there, to `*`, or else to the queue's first pool with such a quota.
void ModelFacts::charge_beyond(const AdmissionFact& admission, std::int64_t pods,
                               std::int64_t leaving, const Gathered& all) {
  const auto worth = [&](const std::string& resource) { return weight(admission.pool, resource); };
  const ResourceSums total = asked_beyond(admission, pods, all.pods, true, worth);
  const ResourceSums stays = leaving >= pods ? ResourceSums()
                             : leaving == 0
                                 ? total
                                 : asked_beyond(admission, pods - leaving, all.pods, false, worth);
  const std::string cohort = cohort_of(admission.queue, admission.cohort);
  Holding& holding = holdings.back();
  holding.queue = admission.queue, holding.cohort = cohort;
  const auto queue = queues.find(admission.queue);
  for (const auto& [resource, amount] : total) {
    const auto covers = [&](const std::string& quota) {
      return quota == resource || (quota == "gpu" && is_gpu_resource(resource));
    };
    std::vector<std::pair<std::string, std::string>> in;  // pool and quota
    for (const auto& [quota, of] : admission.amounts)
      if (covers(quota)) in.emplace_back(admission.pool, quota);
    if (queue != queues.end()) {
      for (const bool own : {true, false})
        for (const bool any : {true, false})
          for (const QuotaFact& quota : queue->second->quotas)
            if (covers(quota.resource) && (quota.pool == admission.pool) == own &&
                (own || (quota.pool == "*") == any))
              in.emplace_back(quota.pool, quota.resource);
    }
    if (in.empty()) continue;
    std::set<std::string> quotas;
    for (const auto& [pool, quota] : in)
      if (pool == in.front().first) quotas.insert(quota);
    const std::int64_t left = std::min(amount, stays.contains(resource) ? stays.at(resource) : 0);
    for (const std::string& quota : quotas) {
      const Key key{quota, in.front().first};
      const std::int64_t each = quota == resource ? 1 : weight(key.second, resource);
      used_by[{cohort, admission.queue}][key] += amount * each;
      staying_by[{cohort, admission.queue}][key] += left * each;
      holding.used[key] += amount * each;
      holding.staying[key] += left * each;
    }
  }
  for (const auto& [key, used] : holding.used)
    holding.holds_too_much =
        holding.holds_too_much ||
        used > (key.second == admission.pool ? amount_of(admission.amounts, key.first) : 0);
}

// Whether an entry of the ledger names the workload as evicted for it.
bool ModelFacts::is_taken_back(const std::string& name, const AdmissionFact& admission) const {
  for (const LedgerFact& entry : facts.ledger)
    for (const AheadFact& ahead : entry.ahead)
      if (ahead.evicted && ahead.workload == name && ahead.since == admission.since) return true;
  return false;
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
      Holding& holding = holdings.back();
      holding.cohort = whose.first, holding.queue = whose.second;
      holding.used[{quota.resource, pool}] += amount;
      if (pod.state != PodState::kLeaving) holding.staying[{quota.resource, pool}] += amount;
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
