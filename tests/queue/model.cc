// SPDX-License-Identifier: Apache-2.0
#include "tests/queue/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tests/queue/model_facts.h"
#include "tests/queue/model_preemption.h"
#include "tests/queue/model_quota.h"
#include "tests/queue/model_reservation.h"

namespace berth::queue::test {
namespace {

__extension__ typedef __int128 Wide;

constexpr std::int64_t kSlack = 1;  // the same as in decide()

struct Share {
  int rank = 0;  // 0 within nominal, 1 a fraction, 2 a fraction without weight, 3 nothing is lent
  Wide over = 0, of = 1;
  bool operator<(const Share& other) const {
    if (rank != other.rank) return rank < other.rank;
    return over * other.of < other.over * of;
  }
};
class Model : ModelQuota {
 public:
  Model(const ClusterFacts& cluster, std::size_t window, std::optional<std::int64_t> now)
      : ModelQuota(cluster),
        window_(window),
        preempts_(now.has_value()),
        preemption_(*this, now.value_or(0), fits_now()),
        reservation_(*this, preemption_, now.value_or(0), fits_now(),
                     [this](const Candidate& c, const Pool& pool) { return room_for(c, pool); }),
        now_(now.value_or(0)) {
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
      else if (const auto line = backfill(*best))
        outcome.admitted.push_back(*line);
      else if (const auto way = preempts_ ? preemption_.find(*best) : std::nullopt)
        outcome.admitted.push_back(admit_after(*best, *way));
      else
        fail(*best);
    }
    for (const auto& [name, queue] : queues) offer(*queue);  // which heads block at the end
    for (const Candidate& c : candidates) {
      if (admitted_.count(c.name) == 0) outcome.waiting[c.name] = why(c);
    }
    return outcome;
  }

 private:
  using Class =
      std::tuple<std::string, std::map<Role, std::int64_t>, TopologyWish, bool, std::int64_t, bool>;
  static Class class_of(const Candidate& c) {
    return {c.queue, c.roles, c.wish, c.is_job, c.lasts, c.stays};
  }
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
    if (!is_pinned(c))
      return wish.required ? no("TopologyNeedsNodes", 0) : explain_unpinned(c, pool);
    if (places.find(c.roles, pool, wish, c.is_job)) return "";
    const std::int64_t most = places.most(c.roles, pool, wish, c.is_job);
    if (!places.is_allowed(c.roles, pool)) return no("NodesNotSelected", most);
    return no(wish.required ? "NoTopologyDomain" : "Unplaceable", most);
  }

  // Each shape needs a node that accepts the pod and has free capacity for it.
  std::string explain_unpinned(const Candidate& c, const std::string& pool) {
    std::int64_t pods = 0, with_a_node = 0;
    for (const auto& [role, count] : c.roles) {
      pods += count;
      if (places.find({{role, 1}}, pool, {}, false)) with_a_node += count;
    }
    if (with_a_node == pods) return "";
    const bool allowed = places.is_allowed(c.roles, pool);
    return say(allowed ? "Unplaceable" : "NodesNotSelected", "gpu", pool, pods, with_a_node);
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

  // --- Rule 4: pools --------------------------------------------------------------------------

  bool fits_there(const Candidate& c, const std::string& pool, bool to_come) {
    if (!to_come) return explain_room(c, pool).empty();
    return !wish_of(c).required && growth.holds(c.roles, pool);
  }

  const Pool* fitting_pool(const Candidate& c, bool to_come) {
    for (const Pool& pool : c.open) {
      if (quota_suffices(c, pool) && fits_there(c, pool.name, to_come)) return &pool;
    }
    return nullptr;
  }

  // Free capacity first, in any pool; then nodes that the autoscaler may add.
  const Pool* fitting_pool(const Candidate& c) {
    const Pool* pool = fitting_pool(c, false);
    return pool != nullptr ? pool : fitting_pool(c, true);
  }

  // --- Rules 5 and 6: order -------------------------------------------------------------------

  // An incomplete gang blocks for a minute after its last member has come.
  bool is_passed(const Candidate& c) const {
    if (c.unready.empty() || c.left_out) return false;
    return c.heads_until == 0 || (preempts_ && now_ >= c.heads_until);
  }

  const Candidate* offer(const QueueFact& queue) {
    if (queue.held) return nullptr;
    std::vector<const Candidate*> line;
    for (const Candidate& c : candidates) {
      if (c.queue == queue.name && admitted_.count(c.name) == 0) line.push_back(&c);
    }
    std::sort(line.begin(), line.end(),
              [](const Candidate* a, const Candidate* b) { return a->order() < b->order(); });
    for (const Candidate* c : line) {
      if (c->left_out || (c->unready.empty() && c->open.empty()) || is_passed(*c)) continue;
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
    preemption_.admitted(c, pool);
    std::string line = c.name + " " + pool.name;
    for (const auto& [key, amount] : amounts) line += fmt::format(" {}={}", key, amount);
    const bool to_come = !explain_room(c, pool.name).empty();
    if (is_pinned(c) && !to_come) return line + put_on_nodes(c, pool.name);
    for (const auto& [role, pods] : c.roles) take_room(pool.name, role, pods);
    return line + (to_come ? " on nodes to come" : "");
  }

  // --- Rule 9: who yields ---------------------------------------------------------------------

  // After a preemption the cycle tries the cohort's failed classes again.
  std::string admit_after(const Candidate& c, const ModelPreemption::Way& way) {
    std::string line;
    {
      const ThoughtAway then(*this, now_, way.gone);
      line = admit(c, *way.pool);
    }
    preemption_.displaced(way.victims);
    std::vector<std::string> names;
    for (const Holding* victim : way.victims) names.push_back(victim->name);
    const std::string cohort = cohort_of(c.queue);
    std::erase_if(failed_,
                  [&](const auto& entry) { return cohort_of(std::get<0>(entry.first)) == cohort; });
    std::erase_if(behind_, [&](const auto& entry) { return cohort_of(entry.first) == cohort; });
    line += fmt::format(" after {}", fmt::join(names, ","));
    for (const Holding* awaited : way.awaited) line += " awaits " + awaited->name;
    return line;
  }

  // --- Rule 11: reservations ------------------------------------------------------------------

  ModelPreemption::Fits fits_now() {
    return [this](const Candidate& c, const Pool& pool) {
      return quota_suffices(c, pool) && explain_room(c, pool.name).empty();
    };
  }

  Holding room_for(const Candidate& c, const Pool& pool) {
    Holding room;
    if (!is_pinned(c)) {
      for (const auto& [role, pods] : c.roles) room.in_pools.emplace_back(pool.name, role, pods);
      return room;
    }
    const ModelPlaces::Stands stands = *places.find(c.roles, pool.name, wish_of(c), c.is_job);
    std::map<std::string, std::int64_t> on;
    for (const auto& [role, node] : stands) ++on[node];
    if (!c.is_job || on.size() == 1) {
      for (const auto& [role, node] : stands)
        room.on_nodes.emplace_back(node, std::get<Amounts>(role), 1, false);
      return room;
    }
    for (const auto& [node, pods] : on)
      room.on_nodes.emplace_back(node, std::get<Amounts>(stands.front().first), std::ssize(stands),
                                 false);
    return room;
  }

  std::optional<std::string> backfill(const Candidate& c) {
    std::vector<const Kept*> lifted;
    for (const Kept& kept : reservation_.all())
      if (c.lasts > 0 && kept.from && now_ + c.lasts + kSlack <= *kept.from)
        lifted.push_back(&kept);
    for (const Kept* kept : lifted) reservation_.hold(*kept, -1);
    std::optional<std::string> line;
    if (const Pool* pool = lifted.empty() ? nullptr : fitting_pool(c)) line = admit(c, *pool);
    for (const Kept* kept : lifted) reservation_.hold(*kept, +1);
    return line;
  }

  void fail(const Candidate& c) {
    std::string line = explain(c);
    std::size_t lifted = 0;
    const std::vector<Kept>& kept = reservation_.all();
    const Kept* behind = nullptr;
    std::string there;
    while (behind == nullptr && lifted < kept.size()) {
      reservation_.hold(kept[lifted++], -1);
      if (const Pool* pool = fitting_pool(c)) behind = &kept[lifted - 1], there = pool->name;
    }
    while (lifted > 0) reservation_.hold(kept[--lifted], +1);
    if (behind != nullptr)
      line = say("Reserved", "gpu", there, 0, 0, 0, behind->head) +
             fmt::format(" kept {}", behind->from.value_or(0));
    else if (preempts_)
      reservation_.reserve(c, is_head(c));
    failed_[class_of(c)] = line;
  }

  bool is_head(const Candidate& c) const {
    return std::ranges::none_of(candidates, [&](const Candidate& other) {
      return other.queue == c.queue && other.order() < c.order() && other.unready.empty() &&
             !other.open.empty() && admitted_.count(other.name) == 0 &&
             failed_.count(class_of(other)) > 0;
    });
  }

  // The first pool that is open to the workload, and what it lacks there.
  std::string explain(const Candidate& c) {
    const Pool& pool = c.open.front();
    for (const auto& [quota, amount] : pool.asks) {
      if (has_quota(*quota, c.queue, amount)) {
        if (may_borrow(c) || is_within_nominal(c, *quota, amount)) continue;
        return say("MayNotBorrow", quota->resource, pool.name, amount, 0, quota->nominal);
      }
      std::int64_t free = 0, too_much = amount;  // `free` fits, `too_much` does not
      while (too_much - free > 1) {
        const std::int64_t middle = free + (too_much - free) / 2;
        (has_quota(*quota, c.queue, middle) ? free : too_much) = middle;
      }
      return say("WaitingForQuota", quota->resource, pool.name, amount, free, quota->nominal);
    }
    const auto left = wish_of(c).required ? std::nullopt : growth.nodes_left(pool.name);
    return explain_room(c, pool.name) + (left ? fmt::format(" {} to come", *left) : "");
  }

  std::string why(const Candidate& c) {
    auto queue = queues.find(c.queue);
    if (!c.unready.empty()) {
      const bool strict = queue != queues.end() && queue->second->strict_fifo;
      return c.unready + (strict && is_passed(c) ? " passed" : "");
    }
    if (queue == queues.end()) return say("QueueNotFound");
    if (queue->second->held) return say("QueueHeld");
    if (c.open.empty()) return c.refusal;
    auto failed = failed_.find(class_of(c));
    if (failed != failed_.end()) {
      for (const Kept& kept : reservation_.all())
        if (kept.head == c.name)
          return failed->second + fmt::format(" kept {}", kept.from.value_or(0));
      return failed->second;
    }
    return say("BehindInQueue", "gpu", "*", 0, 0, 0, behind_[c.queue]);
  }
  std::size_t window_;
  bool preempts_;
  ModelPreemption preemption_;
  ModelReservation reservation_;
  std::int64_t now_;
  std::set<std::string> admitted_;
  std::map<Class, std::string> failed_;
  std::map<std::string, std::string> behind_;  // queue → its head, which blocks
};

}  // namespace

Outcome decide_by_the_book(const ClusterFacts& facts, std::size_t window,
                           std::optional<std::int64_t> now) {
  return Model(facts, window, now).run();
}

}  // namespace berth::queue::test
