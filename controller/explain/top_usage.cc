// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/top_usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "controller/queue/budget/budget_standing.h"
#include "controller/queue/budget/usage_ledger.h"
#include "controller/queue/index/cluster_index.h"
#include "controller/queue/status/gpu_holdings.h"

namespace berth {

namespace {

struct Used {
  std::map<std::string, double> by_name;
  std::string begins;  // the first day or month
};

// Visits the spans that have started since then: visit(used) for each.
template <class Spans, class Visit>
std::string each_since(const Spans& days, const Spans& months, Time since, Time now, Visit visit) {
  const auto [spans, first] = spans_since(days, months, since, now);
  const auto begins = spans->lower_bound(first);
  for (auto span = begins; span != spans->end(); ++span) visit(span->second);
  return begins == spans->end() ? "" : begins->first;
}

Used used_by(const queue::GpuHours& hours, UsageBy by, Time since, Time now) {
  Used out;
  if (by == UsageBy::kPool) {
    out.begins = each_since(hours.pools.days, hours.pools.months, since, now,
                            [&](const queue::UsedByPool& pools) {
                              for (const auto& [pool, amount] : pools)
                                out.by_name[pool] += static_cast<double>(amount);
                            });
    return out;
  }
  out.begins =
      each_since(hours.days, hours.months, since, now, [&](const queue::UsedByQueue& queues) {
        for (const auto& [queue, namespaces] : queues)
          for (const auto& [namespace_, amount] : namespaces)
            out.by_name[by == UsageBy::kQueue ? queue : namespace_] += static_cast<double>(amount);
      });
  return out;
}

std::pair<const char*, const char*> words_for(UsageBy by) {
  if (by == UsageBy::kPool) return {"PoolUsage", "POOL"};
  return by == UsageBy::kQueue ? std::pair{"QueueUsage", "QUEUE"}
                               : std::pair{"NamespaceUsage", "NAMESPACE"};
}

}  // namespace

TopTable top_usage(const Snapshot& snapshot, UsageBy by, Time since) {
  const auto& [kind, column] = words_for(by);
  TopTable table{kind, {column, "GPUHOURS", "SHARE", "SINCE"}, {}};
  queue::GpuHours hours = queue::gpu_hours_in(snapshot.cluster, snapshot.settings);
  const auto& facts = snapshot.cluster.view<queue::ClusterIndex>().facts();
  if (hours.at) queue::count_until(snapshot.now, nullptr, queue::gpu_holdings(facts), {}, hours);

  const auto& [used, begins] = used_by(hours, by, since, snapshot.now);
  double all = 0;
  for (const auto& [name, amount] : used) all += amount;
  std::vector<std::pair<std::string, double>> rows(used.begin(), used.end());
  std::ranges::stable_sort(rows, std::greater(), &std::pair<std::string, double>::second);
  const double hour = 1000.0 * static_cast<double>(queue::kThousandthHour);
  for (const auto& [name, amount] : rows)
    table.rows.push_back({name, fmt::format("{:.1f}", amount / hour),
                          fmt::format("{:.1f}%", all > 0 ? 100 * amount / all : 0.0), begins});
  return table;
}

}  // namespace berth
