// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/job_fate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "apis/base/time.h"
#include "controller/core/plural.h"
#include "controller/queue/index/remakers.h"
#include "controller/queue/recall/drained.h"
#include "controller/queue/recall/gang_recall.h"
#include "controller/queue/recall/never_ready.h"
#include "controller/queue/recall/stranded.h"

namespace berth {
namespace {

// `goes` are the pods of a gang that would be evicted. Only then are their controllers read.
std::string unless_stays(const ClusterState& cluster, const std::string& stays, bool is_job,
                         const std::vector<const Pod*>& goes = {}) {
  if (!stays.empty()) return fmt::format("berth leaves it so: {}", stays);
  queue::Remakers remakers(cluster);
  for (const Pod* pod : goes)
    if (!pod->terminating() && remakers.judge(*pod).read_first != nullptr)
      return fmt::format("it is evicted whole, and queues again, unless {} {} would fail of that",
                         pod->meta.controller()->kind.view(), pod->meta.controller()->name.view());
  return fmt::format("it is {} whole, and queues again", is_job ? "suspended" : "evicted");
}

// The ledger has a mark for it.
std::string told_recall(const ClusterState& cluster, const queue::Workload& workload) {
  const queue::RecallFact& recall = *workload.recall;
  const auto at = std::chrono::floor<std::chrono::seconds>(std::chrono::microseconds(recall.at));
  std::string told = fmt::format("taken back whole at {}: {}", format_time(Time(at)), recall.why);
  const auto left = std::ranges::count_if(queue::round_of(cluster, workload, recall.since),
                                          [](const Pod* pod) { return !pod->terminating(); });
  if (left > 0)
    told +=
        fmt::format("; {} {} yet to be evicted", plural(left, "pod"), word_for(left, "is", "are"));
  if (queue::has_round(workload, recall.since))
    told += "; none that is made anew is let go before they are gone";
  return told;
}

}  // namespace

std::vector<std::string> job_fate(const Snapshot& snapshot, const queue::Workload& workload) {
  const ClusterState& cluster = snapshot.cluster;
  std::vector<std::string> told;
  if (workload.recall) told.push_back(told_recall(cluster, workload));
  // A queue with HoldAndDrain requeues nothing for other reasons.
  if (const auto gang = queue::drained(cluster, workload)) {
    told.push_back(fmt::format("{}: {}", gang->why,
                               unless_stays(cluster, gang->stays, false, gang->recalled)));
    return told;
  }
  if (const auto stands = queue::stranded(cluster, workload))
    told.push_back(fmt::format(
        "{}: {}", stands->why,
        unless_stays(cluster, stands->stays, workload.job != nullptr, stands->recalled)));
  if (const auto late = queue::never_ready(cluster, workload))
    told.push_back(
        fmt::format("{} {} not been Ready yet; if that is so at {}, {}", plural(late->pods, "pod"),
                    word_for(late->pods, "has", "have"),
                    format_time(std::chrono::ceil<std::chrono::seconds>(late->ends(snapshot))),
                    unless_stays(cluster, late->stays, workload.job != nullptr, late->recalled)));
  return told;
}

}  // namespace berth
