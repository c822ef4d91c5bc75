// SPDX-License-Identifier: Apache-2.0
// First the search frees what all waiting admissions hold in the ledger. Then each one takes it
// back in its turn, unless it fits without waiting.
#include "controller/queue/cycle/early_starts.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "controller/queue/cycle/quota_table.h"
#include "controller/queue/cycle/room_left.h"
#include "controller/queue/cycle/route.h"

namespace berth::queue {
namespace {

// Whether the ledger entry is all that the workload holds.
bool holds_only_claims(const Workload& workload) {
  return !workload.pods || std::ranges::all_of(workload.pods->all, [](const Pod* pod) {
    return pod->state == PodState::kWaiting || pod->state == PodState::kEnded;
  });
}

class EarlyStarts {
 public:
  EarlyStarts(const FactsIndex& index, const std::vector<const Workload*>& waiting,
              const Displaces& displaces)
      : index_(index), displaces_(displaces), quotas_(index), room_(index, true) {
    std::ranges::copy_if(waiting, std::back_inserter(waiting_),
                         [](const Workload* of) { return holds_only_claims(*of); });
    std::ranges::sort(waiting_, {}, [](const Workload* of) {
      return std::tuple(open_entry(*of)->since, -of->standing.priority, of->standing.created,
                        std::string_view(*of->standing.uid));
    });
  }

  std::vector<const Workload*> find(std::int64_t decided_before) {
    for (const Workload* workload : waiting_)
      if (!displaces_(*workload)) hold(*workload, -1);
    for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
      const bool displaces = displaces_(**at);
      if (displaces) hold(**at, -1);
      if (open_entry(**at)->since <= decided_before && fits(**at)) return with_those_in_its_way(at);
      hold(**at, +1);
    }
    return {};
  }

 private:
  using At = std::vector<const Workload*>::const_iterator;

  void hold(const Workload& workload, std::int64_t sign) {
    for (const Charge& charge : workload.standing.charges) quotas_.use(charge, sign);
    room_.think_away(workload, -sign);
  }

  bool fits(const Workload& workload) {
    const QueueQuotas* queue = quotas_.find(workload.standing.queue);
    if (queue == nullptr || queue->fact->held) return false;
    const ClassId workloads = workload.standing.workload_class;
    Routes routes;
    find_routes(*queue, workloads, index_.catalog(), index_.room(), routes);
    return std::ranges::any_of(routes.open, [&](const Route& route) {
      return std::ranges::all_of(route.asks,
                                 [&](const auto& ask) {
                                   return ask.second <=
                                          queue->quotas[ask.first].free_for(route.may_borrow);
                                 }) &&
             room_.fits(wanted_of(workloads, route.pool, *queue->fact, index_.catalog()));
    });
  }

  std::vector<const Workload*> with_those_in_its_way(At first) {
    std::vector<const Workload*> found{*first};
    for (At at = first + 1; at != waiting_.end(); ++at) {
      if (displaces_(**at)) continue;
      hold(**at, +1);
      if (fits(**first)) continue;
      hold(**at, -1);
      found.push_back(*at);
    }
    return found;
  }

  const FactsIndex& index_;
  const Displaces& displaces_;
  QuotaTable quotas_;
  RoomLeft room_;
  std::vector<const Workload*> waiting_;
};

}  // namespace

std::vector<const Workload*> find_early_starts(const FactsIndex& index,
                                               const std::vector<const Workload*>& waiting,
                                               const Displaces& displaces, std::int64_t now) {
  if (waiting.empty()) return {};
  return EarlyStarts(index, waiting, displaces).find(now - kWaitsAtLeast);
}

}  // namespace berth::queue
