// SPDX-License-Identifier: Apache-2.0
#include "controller/preview/queue_picture.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>

#include "apis/base/reasons.h"
#include "controller/disruption/drain.h"
#include "controller/queue/cycle/words.h"
#include "controller/queue/index/named.h"
#include "controller/queue/recall/displaced.h"

namespace berth {
namespace {

using queue::Catalog;

// A snapshot without answers of the API server.
Snapshot unasked(const ClusterState& cluster, Time now) {
  static const Answers kNone;
  static const Settings kStandard;
  return {.cluster = cluster, .answers = kNone, .settings = kStandard, .now = now, .offline = true};
}

QueueVerdict verdict_of(const ClusterState& cluster, const queue::Workload& workload,
                        const queue::Outcome& outcome, std::int64_t position,
                        const queue::FactsIndex& facts, std::optional<Time> now) {
  const Catalog& catalog = facts.catalog();
  QueueVerdict verdict{
      .queue = catalog.queue_name(workload.standing.queue),
      .reason = queue::reason_of(outcome),
      .message = outcome.admission != nullptr ? queue::describe(*outcome.admission, catalog)
                                              : queue::describe(outcome, catalog),
      .pool = outcome.admitted_to ? catalog.pool_name(*outcome.admitted_to) : "",
      .place = outcome.admission != nullptr ? place_of(*outcome.admission, facts) : QueuePlace(),
      .position = position};
  if (outcome.admission != nullptr) verdict.displaced = displaced_by(*outcome.admission, facts);
  if (now) verdict.message += describe_kept(unasked(cluster, *now), outcome);
  if (now && !verdict.displaced.empty()) verdict.ended = ended_by(workload, *now);
  return verdict;
}

// Other reasons wait for nodes or for a user.
bool waits_for_ends(std::string_view reason) {
  constexpr std::string_view kReasons[] = {reasons::kWaitingForQuota,  reasons::kWaitingForRoom,
                                           reasons::kMayNotBorrow,     reasons::kFragmented,
                                           reasons::kNoTopologyDomain, reasons::kUnplaceable,
                                           reasons::kReserved,         reasons::kBehindInQueue};
  return std::ranges::find(kReasons, reason) != std::end(kReasons);
}

// Before an eviction the controller asks the API server by dry run. Here only the status of the
// budgets is known, for a single pod and for each pod of a gang. A Job is suspended instead.
bool budgets_allow(const Snapshot& snapshot, const queue::Workload& workload) {
  if (workload.job) return true;
  const auto& index = snapshot.cluster.view<queue::ClusterIndex>();
  return std::ranges::all_of(
      queue::pods_of(snapshot.cluster, index, *workload.name), [&](const Pod* pod) {
        const bool leaves = !pod->node_name.empty() && !pod->finished() && !pod->terminating();
        return !leaves || eviction_outlook(snapshot, *pod).kind != EvictionOutlook::Kind::kNo;
      });
}

std::optional<queue::PreemptionTerms> terms_of(const ClusterState& cluster,
                                               std::optional<Time> now) {
  if (!now) return std::nullopt;
  queue::PreemptionTerms terms{
      now->time_since_epoch().count(), [&cluster, now](const queue::Workload& workload) {
        const Snapshot snapshot = unasked(cluster, *now);
        return queue::may_be_displaced(snapshot, workload) && budgets_allow(snapshot, workload);
      }};
  terms.stays = [&cluster, now](const queue::Workload& workload) {
    return queue::never_goes(unasked(cluster, *now), workload);
  };
  terms.goes_late = [stays = terms.stays](const queue::Workload& workload) {
    return !workload.job && !stays(workload);
  };
  return terms;
}

}  // namespace

QueuePicture::QueuePicture(const ClusterState& cluster, std::optional<Time> now)
    : cluster_(cluster),
      now_(now),
      index_(cluster.view<queue::ClusterIndex>()),
      survey_(index_.facts(), std::numeric_limits<std::size_t>::max(), terms_of(cluster, now)) {
  const Catalog& catalog = index_.facts().catalog();
  for (const auto& [name, fact] : index_.facts().queues()) {
    const queue::QueueReport& report = *survey_.find(name);
    if (report.waiting.empty()) continue;
    auto& order = order_[name];
    order.resize(report.waiting.size());
    for (const queue::Waiting& each : report.waiting) {
      order[static_cast<std::size_t>(each.position - 1)] = each.workload->name;
      waiting_.emplace(*each.workload->name, verdict_of(cluster, *each.workload, each.outcome,
                                                        each.position, index_.facts(), now));
    }
  }
  for (const auto& [id, pending] : index_.facts().pending().by_queue()) {
    if (survey_.find(catalog.queue_name(id)) != nullptr) continue;
    // For workloads in a queue that does not exist.
    const auto note = [&](const queue::Workload& workload) {
      waiting_.emplace(*workload.name, verdict_of(cluster, workload, survey_.outcome(workload), 0,
                                                  index_.facts(), now));
    };
    for (const auto& [workloads, same] : pending.ready)
      for (const queue::Workload* workload : same.in_order) note(*workload);
    for (const queue::Workload* workload : pending.unready) note(*workload);
    for (const queue::Workload* workload : pending.left_out) note(*workload);
  }
}

const QueueVerdict* QueuePicture::find(const std::string& workload) const {
  const auto found = waiting_.find(workload);
  return found == waiting_.end() ? nullptr : &found->second;
}

std::vector<std::string> QueuePicture::before(const std::string& workload, std::size_t most) const {
  std::vector<std::string> names;
  const QueueVerdict* verdict = find(workload);
  const auto order = verdict == nullptr ? order_.end() : order_.find(verdict->queue);
  if (order == order_.end()) return names;
  for (auto place = verdict->position - 1; place > 0 && names.size() < most; --place)
    names.push_back(*order->second[static_cast<std::size_t>(place - 1)]);
  return names;
}

std::int64_t QueuePicture::waiting_in(const std::string& queue) const {
  const queue::QueueReport* report = survey_.find(queue);
  return report == nullptr ? 0 : report->pending;
}

std::optional<queue::StartEstimate> QueuePicture::start_of(const std::string& workload) const {
  const QueueVerdict* verdict = find(workload);
  if (!now_ || verdict == nullptr || verdict->admissible()) return std::nullopt;
  if (!estimates_)
    estimates_.emplace(index_.facts(), cluster_.view<queue::RunShares>(),
                       now_->time_since_epoch().count(), queue::StartEstimates::kManyTries);
  const auto start = estimates_->find(*index_.facts().find(workload));
  return start && (start->earliest || waits_for_ends(verdict->reason)) ? start : std::nullopt;
}

std::string QueuePicture::when_it_begins(const std::string& workload) const {
  const auto start = start_of(workload);
  return start ? queue::describe(*start, now_->time_since_epoch().count()) : "";
}

}  // namespace berth
