// SPDX-License-Identifier: Apache-2.0
#include "tests/queue/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace berth::queue::test {
namespace {

__extension__ typedef __int128 Wide;
using Key = std::pair<std::string, std::string>;  // resource, pool
using Asks = std::map<std::string, std::int64_t>;
using Usage = std::map<std::pair<std::string, std::string>, std::map<Key, std::int64_t>>;

struct Pool {  // where a workload could run, and what it asks of the queue's quotas there
  std::string name;
  std::vector<std::pair<const QuotaFact*, std::int64_t>> asks;
};

struct Candidate {  // a workload that waits
  std::string name, queue, uid, only_pool;
  std::int32_t priority = 0;
  std::int64_t created = 0;
  std::map<Amounts, std::int64_t> roles;  // what one pod asks → pods
  std::string unready;                    // empty: ready
  std::vector<Pool> open;                 // in the queue's order
  std::string refusal;                    // why none is open
  auto order() const { return std::tuple(-std::int64_t{priority}, created, uid); }
  Asks total() const {
    Asks total;
    for (const auto& [requests, pods] : roles) {
      for (const auto& [resource, amount] : requests) total[resource] += amount * pods;
    }
    return total;
  }
};

struct Share {
  int rank = 0;  // 0 within nominal, 1 a fraction, 2 a fraction without weight, 3 nothing is lent
  Wide over = 0, of = 1;
  bool operator<(const Share& other) const {
    if (rank != other.rank) return rank < other.rank;
    return over * other.of < other.over * of;
  }
};

std::string say(const std::string& reason, const std::string& resource = "gpu",
                const std::string& pool = "*", std::int64_t needs = 0, std::int64_t free = 0,
                std::int64_t most = 0, const std::string& behind = "") {
  return fmt::format("{} {} {} {} {} {} {}", reason, resource, pool, needs, free, most, behind);
}

class Model {
 public:
  Model(const ClusterFacts& facts, std::size_t window) : facts_(facts), window_(window) {
    for (const QueueFact& queue : facts.queues) queues_[queue.name] = &queue;
    look_at_nodes();
    look_at_workloads();
    for (Candidate& c : waiting_) {
      if (queues_.count(c.queue) > 0) open_pools(c);
    }
  }

  Outcome run() {
    Outcome outcome;
    while (outcome.admitted.size() < window_) {
      const Candidate* best = nullptr;
      Share best_share;
      for (const auto& [name, queue] : queues_) {
        const Candidate* offered = offer(*queue);
        if (offered == nullptr) continue;
        const Pool* pool = fitting_pool(*offered);
        const Share share = share_of(*offered, pool == nullptr ? offered->open.front() : *pool);
        if (best == nullptr || share < best_share ||
            (!(best_share < share) && offered->order() < best->order())) {
          best = offered;
          best_share = share;
        }
      }
      if (best == nullptr) break;
      if (const Pool* pool = fitting_pool(*best))
        outcome.admitted.push_back(admit(*best, *pool));
      else
        failed_[class_of(*best)] = explain(*best);
    }
    for (const auto& [name, queue] : queues_) offer(*queue);  // who is in whose way at the end
    for (const Candidate& c : waiting_) {
      if (admitted_.count(c.name) == 0) outcome.waiting[c.name] = why(c);
    }
    return outcome;
  }

 private:
  using Class = std::tuple<std::string, std::map<Amounts, std::int64_t>, std::string>;
  static Class class_of(const Candidate& c) { return {c.queue, c.roles, c.only_pool}; }

  static bool in(const NodeFact& node, const std::string& pool) {
    return pool == "*" || node.pool == pool;
  }

  static std::int64_t amount_of(const Amounts& amounts, const std::string& resource) {
    for (const auto& [name, amount] : amounts) {
      if (name == resource) return amount;
    }
    return 0;
  }

  // "In a pool, a piece of a resource is worth the greatest part of a GPU that it is on any node."
  std::int64_t weight(const std::string& pool, const std::string& resource) const {
    std::int64_t greatest = 0;
    for (const NodeFact& node : facts_.nodes) {
      if (in(node, pool)) greatest = std::max(greatest, amount_of(node.gpu_weights, resource));
    }
    return greatest == 0 ? kWholeGpu : greatest;
  }

  // What a quota of `resource` in `pool` is charged for these requests.
  std::int64_t charged(const std::string& resource, const std::string& pool,
                       const Asks& asks) const {
    std::int64_t amount = 0;
    for (const auto& [asked, pieces] : asks) {
      if (asked == resource) amount += pieces;
      if (resource == "gpu" && is_gpu(asked)) amount += pieces * weight(pool, asked);
    }
    return amount;
  }

  // --- Room ---------------------------------------------------------------------------------

  void look_at_nodes() {
    std::map<std::string, Asks> taken;
    for (const PodFact& pod : facts_.pods) {
      if (pod.state != PodState::kBound && pod.state != PodState::kLeaving) continue;
      for (const auto& [resource, amount] : pod.requests) taken[pod.node][resource] += amount;
    }
    for (const NodeFact& node : facts_.nodes) {
      if (!node.in_service) continue;
      for (const auto& [resource, amount] : node.offers) {
        const std::int64_t left = std::max<std::int64_t>(0, amount - taken[node.name][resource]);
        for (const std::string& pool : std::set<std::string>{"*", node.pool}) {
          if (pool.empty()) continue;
          offered_[{resource, pool}] += amount;
          left_[{resource, pool}] += left;
          largest_[{resource, pool}] = std::max(largest_[{resource, pool}], left);
        }
      }
    }
  }

  void take_room(const std::string& pool, const Asks& asks) {
    for (const auto& [resource, amount] : asks) {
      left_[{resource, "*"}] -= amount;
      if (pool != "*") left_[{resource, pool}] -= amount;
    }
  }

  // "What is admitted to any pool may come to stand in this one."
  std::int64_t free_room(const std::string& resource, const std::string& pool) {
    return std::min(left_[{resource, pool}], left_[{resource, "*"}]);
  }

  std::string explain_room(const Candidate& c, const std::string& pool) {
    const Asks total = c.total();
    for (const auto& [resource, amount] : total) {
      const std::int64_t offered = offered_[{resource, pool}];
      if (amount > offered) return say("ResourceNotOffered", resource, pool, amount, 0, offered);
    }
    for (const auto& [resource, amount] : total) {
      const std::int64_t free = std::max<std::int64_t>(0, free_room(resource, pool));
      if (amount > free)
        return say("WaitingForRoom", resource, pool, amount, free, offered_[{resource, pool}]);
    }
    for (const auto& [resource, amount] : total) {
      std::int64_t most = 0;
      for (const auto& [requests, pods] : c.roles)
        most = std::max(most, amount_of(requests, resource));
      const std::int64_t largest = largest_[{resource, pool}];
      if (most > largest)
        return say("Fragmented", resource, pool, most, largest, free_room(resource, pool));
    }
    return "";
  }

  // --- Rule 1: usage --------------------------------------------------------------------------

  struct Gathered {
    const JobFact* job = nullptr;
    const AdmissionFact* in_flight = nullptr;
    std::vector<const PodFact*> pods;  // oldest first
  };

  void look_at_workloads() {
    std::map<std::string, Gathered> all;
    for (const JobFact& job : facts_.jobs) all[job.workload].job = &job;
    for (const LedgerFact& entry : facts_.ledger) all[entry.workload].in_flight = &entry.admission;
    for (const PodFact& pod : facts_.pods) {
      if (!pod.workload.empty()) all[pod.workload].pods.push_back(&pod);
    }
    for (auto& [name, gathered] : all) {
      std::sort(gathered.pods.begin(), gathered.pods.end(), [](const PodFact* a, const PodFact* b) {
        return std::tie(a->created, a->uid) < std::tie(b->created, b->uid);
      });
      look_at(name, gathered);
    }
  }

  static bool on_node(const PodFact& pod) {
    return pod.state == PodState::kBound || pod.state == PodState::kLeaving;
  }

  void look_at(const std::string& name, const Gathered& all) {
    const AdmissionFact* admission = all.in_flight;
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
    if (all.job == nullptr && all.pods.empty()) {
      charge(*admission, admission->pods, 0);
      return;
    }

    Candidate c{.name = name};
    std::int64_t wanted = 0;  // pods that it is still to run
    bool holds_all = true;    // not only what is still there of it
    Amounts next;             // what a pod asks that is not there yet
    if (all.job != nullptr) {
      const JobFact& job = *all.job;
      c.queue = job.queue, c.uid = job.uid, c.priority = job.priority, c.created = job.created;
      c.only_pool = job.only_pool;
      wanted = job.completions
                   ? std::clamp<std::int64_t>(*job.completions - job.succeeded - job.failed_indexes,
                                              0, job.parallelism)
               : job.succeeded > 0 ? 0
                                   : job.parallelism;
      holds_all = !job.suspended || all.in_flight != nullptr;
      next = job.requests;
      c.roles[job.requests] = wanted;
      if (!job.template_mutable || live > 0) c.unready = say("TemplateNotReady");
    } else {
      const PodFact& first = *all.pods.front();
      c.queue = first.queue, c.uid = first.uid;
      c.priority = first.priority, c.created = first.created;
      wanted = first.group_size - succeeded;
      next = first.requests;
      for (const PodFact* pod : all.pods)
        c.roles[pod->requests] += pod->state == PodState::kWaiting;
      std::erase_if(c.roles, [](const auto& role) { return role.second == 0; });
      if (sizes.size() > 1)
        c.unready = say("GangSizesDisagree");
      else if (live < wanted)
        c.unready = say("WaitingForGang", "gpu", "*", std::max(wanted, live), live);
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
    if (waits && !c.queue.empty()) waiting_.push_back(c);
  }

  void charge(const AdmissionFact& admission, std::int64_t pods, std::int64_t leaving) {
    const std::int64_t of = std::max<std::int64_t>(1, admission.pods);
    const auto part = [&](std::int64_t amount, std::int64_t n) {
      return (amount * n + of - 1) / of;
    };
    for (const auto& [resource, amount] : admission.amounts) {
      const Key key{resource, admission.pool};
      const std::string cohort = cohort_of(admission.queue, admission.cohort);
      used_[{cohort, admission.queue}][key] += part(amount, pods);
      staying_[{cohort, admission.queue}][key] += part(amount, pods - leaving);
    }
  }

  void charge_past_webhook(const PodFact& pod, const std::string& queue_name) {
    auto queue = queues_.find(queue_name);
    if (queue == queues_.end()) return;
    std::string own_pool;
    for (const NodeFact& node : facts_.nodes) {
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
        used_[whose][{quota.resource, pool}] += amount;
        if (pod.state != PodState::kLeaving) staying_[whose][{quota.resource, pool}] += amount;
      }
      if (covered) return;
    }
  }

  // A queue without a cohort is one by itself; a deleted queue counts on in its old one.
  std::string cohort_of(const std::string& queue, const std::string& old) const {
    auto it = queues_.find(queue);
    const std::string& cohort = it == queues_.end() ? old : it->second->cohort;
    return cohort.empty() ? "/" + queue : cohort;
  }

  // --- Rule 2: quota --------------------------------------------------------------------------

  const QuotaFact* quota_of(const std::string& queue, const Key& key) const {
    auto it = queues_.find(queue);
    if (it == queues_.end()) return nullptr;
    for (const QuotaFact& quota : it->second->quotas) {
      if (Key(quota.resource, quota.pool) == key) return &quota;
    }
    return nullptr;
  }

  static std::int64_t lends(const QuotaFact& quota) {
    return std::min(quota.nominal, quota.lending_limit.value_or(quota.nominal));
  }

  std::int64_t lent_in(const std::string& cohort, const Key& key) const {
    std::int64_t sum = 0;
    for (const auto& [name, queue] : queues_) {
      const QuotaFact* quota = quota_of(name, key);
      if (quota != nullptr && cohort_of(name, "") == cohort) sum += lends(*quota);
    }
    return sum;
  }

  // What the cohort's queues use beyond what they keep, if `queue` used `more`.
  std::int64_t raised_in(const std::string& cohort, const Key& key, const std::string& queue,
                         std::int64_t more) const {
    std::int64_t sum = 0;
    bool seen = false;
    const auto add = [&](const std::string& name, std::int64_t used) {
      const QuotaFact* quota = quota_of(name, key);
      const std::int64_t kept = quota == nullptr ? 0 : quota->nominal - lends(*quota);
      sum += std::max<std::int64_t>(0, used + (name == queue ? more : 0) - kept);
      seen = seen || name == queue;
    };
    for (const auto& [whose, by_key] : used_) {
      if (whose.first != cohort) continue;
      auto it = by_key.find(key);
      add(whose.second, it == by_key.end() ? 0 : it->second);
    }
    if (!seen) add(queue, 0);
    return sum;
  }

  std::int64_t& of(Usage& all, const std::string& queue, const Key& key) {
    return all[{cohort_of(queue, ""), queue}][key];
  }

  bool has_quota(const QuotaFact& quota, const std::string& queue, std::int64_t request) {
    const Key key{quota.resource, quota.pool};
    if (request == 0) return true;
    if (quota.borrowing_limit &&
        of(used_, queue, key) + request > quota.nominal + *quota.borrowing_limit)
      return false;
    const std::string cohort = cohort_of(queue, "");
    const std::int64_t after = raised_in(cohort, key, queue, request);
    return after <= lent_in(cohort, key) || after <= raised_in(cohort, key, queue, 0);
  }

  std::int64_t maximum(const QuotaFact& quota, const std::string& queue) const {
    const Key key{quota.resource, quota.pool};
    const std::int64_t others = lent_in(cohort_of(queue, ""), key) - lends(quota);
    return quota.nominal + std::min(others, quota.borrowing_limit.value_or(others));
  }

  // --- Rule 4: pools --------------------------------------------------------------------------

  std::vector<std::string> pools_of(const Candidate& c) const {
    std::vector<std::string> pools;
    for (const QuotaFact& quota : queues_.at(c.queue)->quotas) {
      if (std::find(pools.begin(), pools.end(), quota.pool) == pools.end() &&
          (c.only_pool.empty() || c.only_pool == quota.pool))
        pools.push_back(quota.pool);
    }
    return pools;
  }

  // The first resource that needs quota and has none there.
  std::string uncovered(const Candidate& c, const std::string& pool) const {
    for (const auto& [resource, amount] : c.total()) {
      bool named = false;
      for (const QuotaFact& quota : queues_.at(c.queue)->quotas)
        named = named || quota.resource == resource;
      if (amount == 0 || (!is_gpu(resource) && !named)) continue;
      if (quota_of(c.queue, {resource, pool}) != nullptr) continue;
      if (is_gpu(resource) && quota_of(c.queue, {"gpu", pool}) != nullptr) continue;
      return resource;
    }
    return "";
  }

  // The pools whose quotas cover it and could ever hold it, or why there is none.
  void open_pools(Candidate& c) const {
    std::string no_quota, too_much;
    for (const std::string& pool : pools_of(c)) {
      if (const std::string resource = uncovered(c, pool); !resource.empty()) {
        if (no_quota.empty()) no_quota = say("NoQuota", resource, pool);
        continue;
      }
      Pool open{pool, {}};
      std::string exceeds;
      for (const QuotaFact& quota : queues_.at(c.queue)->quotas) {
        const std::int64_t amount = charged(quota.resource, pool, c.total());
        if (quota.pool != pool || amount == 0) continue;
        open.asks.emplace_back(&quota, amount);
        const std::int64_t most = maximum(quota, c.queue);
        if (amount > most && exceeds.empty())
          exceeds = say("ExceedsMaximum", quota.resource, pool, amount, 0, most);
      }
      if (exceeds.empty()) c.open.push_back(open);
      if (too_much.empty()) too_much = exceeds;
    }
    c.refusal = !too_much.empty() ? too_much : !no_quota.empty() ? no_quota : say("NoQuota");
  }

  const Pool* fitting_pool(const Candidate& c) {
    for (const Pool& pool : c.open) {
      const bool quota = std::all_of(pool.asks.begin(), pool.asks.end(), [&](const auto& ask) {
        return has_quota(*ask.first, c.queue, ask.second);
      });
      if (quota && explain_room(c, pool.name).empty()) return &pool;
    }
    return nullptr;
  }

  // --- Rules 5 and 6: order -------------------------------------------------------------------

  const Candidate* offer(const QueueFact& queue) {
    if (queue.held) return nullptr;
    std::vector<const Candidate*> line;
    for (const Candidate& c : waiting_) {
      if (c.queue == queue.name && admitted_.count(c.name) == 0) line.push_back(&c);
    }
    std::sort(line.begin(), line.end(),
              [](const Candidate* a, const Candidate* b) { return a->order() < b->order(); });
    for (const Candidate* c : line) {
      if (c->unready.empty() && c->open.empty()) continue;
      const bool out = !c->unready.empty() || failed_.count(class_of(*c)) > 0;
      if (!out) return c;
      if (queue.strict_fifo) {
        behind_[queue.name] = c->name;
        return nullptr;
      }
    }
    return nullptr;
  }

  Share share_of(const Candidate& c, const Pool& pool) {
    Share most;
    for (const auto& [quota, amount] : pool.asks) {
      const Key key{quota->resource, quota->pool};
      const std::int64_t over = of(staying_, c.queue, key) + amount - quota->nominal;
      if (over <= 0) continue;
      const std::int64_t lent = lent_in(cohort_of(c.queue, ""), key);
      const std::int64_t weight = queues_.at(c.queue)->weight_thousandths;
      if (lent == 0) return {.rank = 3};
      if (weight == 0)
        most = std::max(most, Share{2, over, lent});
      else
        most = std::max(most, Share{1, over, Wide{lent} * weight});
    }
    return most;
  }

  // --- Rule 7: the cycle ----------------------------------------------------------------------

  std::string admit(const Candidate& c, const Pool& pool) {
    std::map<std::string, std::int64_t> amounts;
    for (const auto& [quota, amount] : pool.asks) {
      of(used_, c.queue, {quota->resource, quota->pool}) += amount;
      of(staying_, c.queue, {quota->resource, quota->pool}) += amount;
      amounts[quota->resource + "/" + quota->pool] = amount;
    }
    take_room(pool.name, c.total());
    admitted_.insert(c.name);
    std::string line = c.name + " " + pool.name;
    for (const auto& [key, amount] : amounts) line += fmt::format(" {}={}", key, amount);
    return line;
  }

  // The first pool that is open to it, and what keeps it from there.
  std::string explain(const Candidate& c) {
    const Pool& pool = c.open.front();
    for (const auto& [quota, amount] : pool.asks) {
      if (has_quota(*quota, c.queue, amount)) continue;
      std::int64_t free = 0, too_much = amount;  // free fits, too_much doesn't
      while (too_much - free > 1) {
        const std::int64_t middle = free + (too_much - free) / 2;
        (has_quota(*quota, c.queue, middle) ? free : too_much) = middle;
      }
      return say("WaitingForQuota", quota->resource, pool.name, amount, free, quota->nominal);
    }
    return explain_room(c, pool.name);
  }

  std::string why(const Candidate& c) {
    if (!c.unready.empty()) return c.unready;
    auto queue = queues_.find(c.queue);
    if (queue == queues_.end()) return say("QueueNotFound");
    if (queue->second->held) return say("QueueHeld");
    if (c.open.empty()) return c.refusal;
    auto failed = failed_.find(class_of(c));
    if (failed != failed_.end()) return failed->second;
    return say("BehindInQueue", "gpu", "*", 0, 0, 0, behind_[c.queue]);
  }

  const ClusterFacts& facts_;
  std::size_t window_;
  std::map<std::string, const QueueFact*> queues_;
  std::map<Key, std::int64_t> offered_, left_, largest_;
  Usage used_, staying_;  // by cohort and queue
  std::vector<Candidate> waiting_;
  std::set<std::string> admitted_;
  std::map<Class, std::string> failed_;
  std::map<std::string, std::string> behind_;  // queue → its head, which blocks
};

}  // namespace

Outcome decide_by_the_book(const ClusterFacts& facts, std::size_t window) {
  return Model(facts, window).run();
}

}  // namespace berth::queue::test
