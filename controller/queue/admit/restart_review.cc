// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/admit/restart_review.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "controller/core/seeded_bugs.h"
#include "controller/fleet/node_facts.h"
#include "controller/queue/facts/record_cover.h"
#include "controller/queue/record/restart.h"

namespace berth::queue {
namespace {

Time restart_moment(std::int64_t microseconds) {
  return Time(std::chrono::microseconds(microseconds));
}

class RestartReviewer {
 public:
  RestartReviewer(const Snapshot& snapshot, const FactsIndex& facts, LedgerReview& out)
      : snapshot_(snapshot), facts_(facts), out_(out) {}

  void take(const std::string& key, const RestartFact& restart) {
    if (is_newer(restart.admission)) {
      ++standing_;
      out_.bytes += encode_restart(restart).size();
      return;
    }
    const Workload* workload = facts_.find(restart.workload);
    if (workload == nullptr || restart_of(*workload) == nullptr || facts_.is_drained(*workload) ||
        loses_a_node(*workload))
      return drop(key);
    if (!is_restarting(*workload)) {
      // Some of its pods show the admission: the mark keeps it for the pods that it lacks.
      if (!facts_.losing_pods().contains(workload)) return drop(key);
      if (restart.gone != 0) put(key, restart, 0);
    } else if (restart.gone == 0) {
      put(key, restart, snapshot_.now.time_since_epoch().count());
    } else if (const Time until = restart_moment(restart.gone) + kRestartsWithin;
               until <= snapshot_.now) {
      return drop(key);
    } else {
      look_again(until);
    }
    ++standing_;
    out_.bytes += encode_restart(restart).size();
  }

  // Writes a mark for a gang that loses pods and has none yet.
  void begin(const Workload& workload) {
    if (workload.restart || standing_ >= kMostRestarts || facts_.is_drained(workload) ||
        loses_a_node(workload) || seeded(SeededBug::kForgetRestart))
      return;
    RestartFact restart{.workload = *workload.name, .admission = *workload.standing.admission};
    restart.admission.nodes.clear();
    restart.admission.members.clear();
    for (const Pod* pod : workload.pods->all) restart.makers.push_back(pod->maker.str());
    std::ranges::sort(restart.makers);
    restart.makers.erase(std::ranges::unique(restart.makers).begin(), restart.makers.end());
    restart.asks = asks_of(workload);
    put(restart_key(restart.admission.uid), restart, 0);
    ++standing_;
    out_.bytes += encode_restart(restart).size();
  }

 private:
  // A gang that is drained from a node has to be placed again.
  bool loses_a_node(const Workload& workload) const {
    return workload.pods && std::ranges::any_of(workload.pods->all, [&](const Pod* pod) {
             if (!pod->on_node()) return false;
             const Node* node = snapshot_.cluster.nodes().find(facts_.room().node_name(pod->node));
             return node == nullptr || !in_service(*node);
           });
  }
  // The requests of its pods, and of the pods that it lacks.
  std::vector<std::pair<Amounts, std::int64_t>> asks_of(const Workload& workload) const {
    const Catalog& catalog = facts_.catalog();
    const Standing& standing = workload.standing;
    std::map<ShapeId, std::int64_t> shapes =
        pods_to_come(*workload.pods, standing.pods - standing.pods_here);
    for (const Pod* pod : workload.pods->all) ++shapes[pod->shape];
    std::map<Amounts, std::int64_t> asks;
    for (const auto& [shape, pods] : shapes) {
      Amounts requests;
      for (const auto& [resource, amount] : catalog.shape_requests(shape))
        requests.emplace_back(catalog.resource_name(resource), amount);
      std::ranges::sort(requests);
      asks[std::move(requests)] += pods;
    }
    return {asks.begin(), asks.end()};
  }
  void put(const std::string& key, RestartFact restart, std::int64_t gone) {
    restart.gone = gone;
    out_.changes[key] = encode_restart(restart);
    out_.at_once = true;
    if (gone != 0) look_again(restart_moment(gone) + kRestartsWithin);
  }
  void drop(const std::string& key) {
    out_.changes[key] = std::nullopt;
    out_.at_once = true;
  }
  void look_again(Time at) { out_.again = out_.again ? std::min(*out_.again, at) : at; }

  const Snapshot& snapshot_;
  const FactsIndex& facts_;
  LedgerReview& out_;
  std::size_t standing_ = 0;
};

}  // namespace

void review_restarts(const Snapshot& snapshot, const AdmissionLedger& ledger,
                     const ClusterIndex& index, LedgerReview& review) {
  RestartReviewer reviewer(snapshot, index.facts(), review);
  for (const auto& [key, restart] : ledger.restarts) reviewer.take(key, restart);
  for (const Workload* workload : index.facts().losing_pods()) reviewer.begin(*workload);
}

}  // namespace berth::queue
