// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/top_usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "controller/queue/budget_standing.h"
#include "controller/queue/cluster_index.h"
#include "controller/queue/gpu_holdings.h"
#include "controller/queue/usage_ledger.h"

namespace berth {

TopTable top_usage(const Snapshot& snapshot, UsageBy by, Time since) {
  TopTable table{by == UsageBy::kQueue ? "QueueUsage" : "NamespaceUsage",
                 {by == UsageBy::kQueue ? "QUEUE" : "NAMESPACE", "GPUHOURS", "SHARE", "SINCE"},
                 {}};
  queue::GpuHours hours = queue::gpu_hours_in(snapshot.cluster, snapshot.settings);
  const auto& facts = snapshot.cluster.view<queue::ClusterIndex>().facts();
  if (hours.at) queue::count_until(snapshot.now, nullptr, queue::gpu_holdings(facts), {}, hours);

  const auto [spans, first] = spans_since(hours.days, hours.months, since, snapshot.now);
  std::map<std::string, double> used;
  double all = 0;
  for (auto span = spans->lower_bound(first); span != spans->end(); ++span)
    for (const auto& [queue, namespaces] : span->second)
      for (const auto& [namespace_, amount] : namespaces) {
        used[by == UsageBy::kQueue ? queue : namespace_] += static_cast<double>(amount);
        all += static_cast<double>(amount);
      }
  std::vector<std::pair<std::string, double>> rows(used.begin(), used.end());
  std::ranges::stable_sort(rows, std::greater(), &std::pair<std::string, double>::second);
  const double hour = 1000.0 * static_cast<double>(queue::kThousandthHour);
  const auto begins = spans->lower_bound(first);
  for (const auto& [name, amount] : rows)
    table.rows.push_back({name, fmt::format("{:.1f}", amount / hour),
                          fmt::format("{:.1f}%", all > 0 ? 100 * amount / all : 0.0),
                          begins->first});
  return table;
}

}  // namespace berth
