// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/cycle/reservation.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <tuple>

namespace berth::queue {
namespace {

struct Ending {
  const Workload* workload = nullptr;
  std::optional<std::int64_t> at;
  std::int64_t free = 0;  // the most on one of its nodes
};

bool is_before(const Ending& a, const Ending& b) {
  const auto key = [](const Ending& of) {
    return std::tuple(!of.at, of.at.value_or(0), -of.free, std::string_view(*of.workload->name));
  };
  return key(a) < key(b);
}

// Goes along the running workloads in the order of their ends. The first `at_` of them are freed.
class Endings {
 public:
  Endings(const FactsIndex& index, Preemption& preemption, const Preemptor& head)
      : preemption_(preemption), head_(head) {
    const Catalog& catalog = index.catalog();
    device_ =
        catalog.shape_device(catalog.class_facts(head.wanted.workloads).in_order.front().first);
    for (const auto& [queue, running] : index.running())
      for (const Workload* workload : running)
        if (!preemption.is_gone(*workload))
          all_.push_back({workload, end_of(*workload), free_beside(*workload)});
    std::ranges::sort(all_, is_before);
  }

  // Returns how many workloads have to end at least; nothing if all of them do not suffice.
  std::optional<std::size_t> fewest() {
    const bool grows = preemption_.grows_with_room(head_);
    std::size_t fails = 0;
    for (std::size_t step = 1;; step *= 2) {
      if (fits(fails)) return fails;
      if (fails == all_.size()) return std::nullopt;
      const std::size_t next = std::min(all_.size(), fails + (grows ? step : 1));
      if (!grows || !fits(next)) {
        fails = next;
        continue;
      }
      return between(fails, next);
    }
  }
  void go_to(std::size_t ended) {
    for (; at_ < ended; ++at_) preemption_.outlook().think_away(*all_[at_].workload);
    for (; at_ > ended; --at_) preemption_.outlook().put_back(*all_[at_ - 1].workload);
  }
  const Ending& last(std::size_t ended) const { return all_[ended - 1]; }

 private:
  bool fits(std::size_t ended) {
    go_to(ended);
    return preemption_.fits(head_);
  }
  std::size_t between(std::size_t fails, std::size_t does) {
    while (does - fails > 1) {
      const std::size_t middle = fails + (does - fails) / 2;
      (fits(middle) ? does : fails) = middle;
    }
    return does;
  }
  std::int64_t free_beside(const Workload& workload) const {
    std::int64_t most = 0;
    const auto look = [&](NodeId node) {
      most = std::max(most, preemption_.outlook().room().free_on(node, device_));
    };
    for (const Claim& claim : workload.standing.claims)
      if (claim.node) look(*claim.node);
    if (!workload.pods) return most;
    for (const Pod* pod : workload.pods->all)
      if (pod->on_node()) look(pod->node);
    return most;
  }

  Preemption& preemption_;
  const Preemptor& head_;
  ResourceId device_ = 0;
  std::vector<Ending> all_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<Reservation> find_reservation(const FactsIndex& index, Preemption& preemption,
                                            const Preemptor& head, std::int64_t now) {
  Endings endings(index, preemption, head);
  const auto fewest = endings.fewest();
  std::optional<Reservation> found;
  if (fewest) {
    endings.go_to(*fewest);
    found.emplace();
    found->queue = head.queue;
    found->wanted = head.wanted;
    found->asks = head.route->asks;
    found->stands = preemption.places(head);
    found->from = *fewest == 0 ? now : endings.last(*fewest).at;
  }
  endings.go_to(0);
  return found;
}

}  // namespace berth::queue
