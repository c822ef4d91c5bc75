// SPDX-License-Identifier: Apache-2.0
#include "tests/queue/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tests/queue/model_facts.h"

namespace berth::queue::test {
namespace {

__extension__ typedef __int128 Wide;

struct Share {
  int rank = 0;  // 0 within nominal, 1 a fraction, 2 a fraction without weight, 3 nothing is lent
  Wide over = 0, of = 1;
  bool operator<(const Share& other) const {
    if (rank != other.rank) return rank < other.rank;
    return over * other.of < other.over * of;
  }
};
class Model : ModelFacts {
 public:
  Model(const ClusterFacts& cluster, std::size_t window) : ModelFacts(cluster), window_(window) {
    for (Candidate& c : candidates) {
      if (queues.count(c.queue) > 0) open_pools(c);
    }
  }

  Outcome run() {
    Outcome outcome;
    while (outcome.admitted.size() < window_) {
      const Candidate* best = nullptr;
      Share best_share;
      for (const auto& [name, queue] : queues) {
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
    for (const auto& [name, queue] : queues) offer(*queue);  // who is in whose way at the end
    for (const Candidate& c : candidates) {
      if (admitted_.count(c.name) == 0) outcome.waiting[c.name] = why(c);
    }
    return outcome;
  }

 private:
  using Class = std::tuple<std::string, std::map<Role, std::int64_t>, TopologyWish, bool>;
  static Class class_of(const Candidate& c) { return {c.queue, c.roles, c.wish, c.is_job}; }
  // --- Rule 3: room ---------------------------------------------------------------------------

  std::string explain_room(const Candidate& c, const std::string& pool) {
    const Asks total = c.total();
    for (const auto& [resource, amount] : total) {
      const std::int64_t offered = offered_in[{resource, pool}];
      if (amount > offered) return say("ResourceNotOffered", resource, pool, amount, 0, offered);
    }
    for (const auto& [resource, amount] : total) {
      const std::int64_t free = std::max<std::int64_t>(0, free_room(resource, pool));
      if (amount > free)
        return say("WaitingForRoom", resource, pool, amount, free, offered_in[{resource, pool}]);
    }
    for (const auto& [resource, amount] : total) {
      std::int64_t most = 0;
      for (const auto& [role, pods] : c.roles)
        most = std::max(most, amount_of(std::get<Amounts>(role), resource));
      const std::int64_t largest = largest_in[{resource, pool}];
      if (most > largest)
        return say("Fragmented", resource, pool, most, largest, free_room(resource, pool));
    }
    return explain_nodes(c, pool);
  }

  // --- Rule 8: nodes --------------------------------------------------------------------------

  const TopologyWish& wish_of(const Candidate& c) const {
    return c.wish.level.empty() ? queues.at(c.queue)->topology : c.wish;
  }

  bool is_pinned(const Candidate& c) const {
    return queues.at(c.queue)->pins && std::ranges::all_of(c.roles, [](const auto& entry) {
             return std::get<bool>(entry.first);
           });
  }

  std::string explain_nodes(const Candidate& c, const std::string& pool) {
    const TopologyWish& wish = wish_of(c);
    std::int64_t pods = 0;
    for (const auto& [role, count] : c.roles) pods += count;
    const auto no = [&](const char* reason, std::int64_t free) {
      return say(reason, "gpu", pool, pods, free);
    };
    if (wish.required && !places.knows(wish.level)) return no("UnknownTopologyLevel", 0);
    if (!is_pinned(c)) return wish.required ? no("TopologyNeedsNodes", 0) : "";
    if (places.find(c.roles, pool, wish, c.is_job)) return "";
    const std::int64_t most = places.most(c.roles, pool, wish, c.is_job);
    if (!places.is_allowed(c.roles, pool)) return no("NodesNotSelected", most);
    return no(wish.required ? "NoTopologyDomain" : "Unplaceable", most);
  }

  std::string put_on_nodes(const Candidate& c, const std::string& pool) {
    const ModelPlaces::Stands stands = *places.find(c.roles, pool, wish_of(c), c.is_job);
    std::vector<std::string> nodes, members;
    if (c.is_job) {
      for (const auto& [role, node] : stands)
        if (std::ranges::find(nodes, node) == nodes.end()) nodes.push_back(node);
      for (const std::string& node : nodes) {
        const auto here = std::ranges::count(stands, node, &std::pair<Role, std::string>::second);
        places.take(node, std::get<Amounts>(stands.front().first),
                    nodes.size() > 1 ? std::ssize(stands) : here);
      }
    } else {
      for (const auto& [role, node] : stands) places.take(node, std::get<Amounts>(role), 1);
      std::vector<bool> given(stands.size());
      for (const auto& [uid, role] : c.waiting) {
        std::size_t i = 0;
        while (given[i] || stands[i].first != role) ++i;
        given[i] = true;
        nodes.push_back(stands[i].second);
        if (!c.alone) members.push_back(uid.substr(0, 8));
      }
    }
    std::string text = fmt::format(" on {}", fmt::join(nodes, ","));
    if (!members.empty()) text += fmt::format(" for {}", fmt::join(members, ","));
    return text;
  }
  // --- Rule 2: quota --------------------------------------------------------------------------

  const QuotaFact* quota_of(const std::string& queue, const Key& key) const {
    auto it = queues.find(queue);
    if (it == queues.end()) return nullptr;
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
    for (const auto& [name, queue] : queues) {
      const QuotaFact* quota = quota_of(name, key);
      if (quota != nullptr && cohort_of(name) == cohort) sum += lends(*quota);
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
    for (const auto& [whose, by_key] : used_by) {
      if (whose.first != cohort) continue;
      auto it = by_key.find(key);
      add(whose.second, it == by_key.end() ? 0 : it->second);
    }
    if (!seen) add(queue, 0);
    return sum;
  }

  bool has_quota(const QuotaFact& quota, const std::string& queue, std::int64_t request) {
    const Key key{quota.resource, quota.pool};
    if (request == 0) return true;
    if (quota.borrowing_limit &&
        of(used_by, queue, key) + request > quota.nominal + *quota.borrowing_limit)
      return false;
    const std::string cohort = cohort_of(queue);
    const std::int64_t after = raised_in(cohort, key, queue, request);
    return after <= lent_in(cohort, key) || after <= raised_in(cohort, key, queue, 0);
  }

  std::int64_t maximum(const QuotaFact& quota, const std::string& queue) const {
    const Key key{quota.resource, quota.pool};
    const std::int64_t others = lent_in(cohort_of(queue), key) - lends(quota);
    return quota.nominal + std::min(others, quota.borrowing_limit.value_or(others));
  }

  // --- Rule 4: pools --------------------------------------------------------------------------

  std::vector<std::string> pools_of(const Candidate& c) const {
    std::vector<std::string> pools;
    for (const QuotaFact& quota : queues.at(c.queue)->quotas) {
      if (std::find(pools.begin(), pools.end(), quota.pool) == pools.end() &&
          c.may_run_in(quota.pool))
        pools.push_back(quota.pool);
    }
    return pools;
  }

  // The first resource that needs quota and has none there.
  std::string uncovered(const Candidate& c, const std::string& pool) const {
    for (const auto& [resource, amount] : c.total()) {
      bool named = false;
      for (const QuotaFact& quota : queues.at(c.queue)->quotas)
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
      for (const QuotaFact& quota : queues.at(c.queue)->quotas) {
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
    for (const Candidate& c : candidates) {
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
      const std::int64_t over = of(staying_by, c.queue, key) + amount - quota->nominal;
      if (over <= 0) continue;
      const std::int64_t lent = lent_in(cohort_of(c.queue), key);
      const std::int64_t weight = queues.at(c.queue)->weight_thousandths;
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
      of(used_by, c.queue, {quota->resource, quota->pool}) += amount;
      of(staying_by, c.queue, {quota->resource, quota->pool}) += amount;
      amounts[quota->resource + "/" + quota->pool] = amount;
    }
    admitted_.insert(c.name);
    std::string line = c.name + " " + pool.name;
    for (const auto& [key, amount] : amounts) line += fmt::format(" {}={}", key, amount);
    if (is_pinned(c)) return line + put_on_nodes(c, pool.name);
    take_room(pool.name, c.total());
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
    auto queue = queues.find(c.queue);
    if (queue == queues.end()) return say("QueueNotFound");
    if (queue->second->held) return say("QueueHeld");
    if (c.open.empty()) return c.refusal;
    auto failed = failed_.find(class_of(c));
    if (failed != failed_.end()) return failed->second;
    return say("BehindInQueue", "gpu", "*", 0, 0, 0, behind_[c.queue]);
  }
  std::size_t window_;
  std::set<std::string> admitted_;
  std::map<Class, std::string> failed_;
  std::map<std::string, std::string> behind_;  // queue → its head, which blocks
};

}  // namespace

Outcome decide_by_the_book(const ClusterFacts& facts, std::size_t window) {
  return Model(facts, window).run();
}

}  // namespace berth::queue::test
