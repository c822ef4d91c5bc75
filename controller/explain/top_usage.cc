// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/top_usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>
#include <vector>

#include "controller/queue/budget_standing.h"
#include "controller/queue/cluster_index.h"
#include "controller/queue/gpu_holdings.h"
#include "controller/queue/usage_ledger.h"

namespace berth {
namespace {

using queue::UsedByQueue;
using Spans = std::map<std::string, UsedByQueue>;

constexpr std::int64_t kMostDays = 366 * 2;

// "7d"
std::optional<std::int64_t> days_in(std::string_view text) {
  if (!text.ends_with('d')) return std::nullopt;
  text.remove_suffix(1);
  std::int64_t days = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), days);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && days > 0 && days <= kMostDays ? std::optional(days) : std::nullopt;
}

// The days, while all since then are kept; else the months.
std::pair<const Spans*, std::string> spans_since(const queue::GpuHours& hours, Time since,
                                                 Time now) {
  const bool kept = now - since < std::chrono::days(queue::kDaysKept - 1);
  if (kept || hours.months.empty()) return {&hours.days, queue::day_of(since)};
  return {&hours.months, queue::month_of(since)};
}

}  // namespace

Result<Time> parse_since(std::string_view text, Time now) {
  Time since{};
  if (const auto days = days_in(text)) {
    since = now - std::chrono::days(*days);
  } else if (const Result<Duration> ago = parse_duration(text)) {
    since = now - *ago;
  } else if (const Result<Time> moment = parse_time(text)) {
    since = *moment;
  } else if (const Result<Time> day = parse_time(std::string(text) + "T00:00:00Z")) {
    since = *day;
  } else {
    return invalid_spec("--since", fmt::format("is {}; write a duration or a date, as 7d, 24h or "
                                               "2026-11-01",
                                               text));
  }
  if (since > now) return invalid_spec("--since", fmt::format("is {}, which is yet to come", text));
  return since;
}

TopTable top_usage(const Snapshot& snapshot, UsageBy by, Time since) {
  TopTable table{by == UsageBy::kQueue ? "QueueUsage" : "NamespaceUsage",
                 {by == UsageBy::kQueue ? "QUEUE" : "NAMESPACE", "GPUHOURS", "SHARE", "SINCE"},
                 {}};
  queue::GpuHours hours = queue::gpu_hours_in(snapshot.cluster, snapshot.settings);
  const auto& facts = snapshot.cluster.view<queue::ClusterIndex>().facts();
  if (hours.at) queue::count_until(snapshot.now, nullptr, queue::gpu_holdings(facts), {}, hours);

  const auto [spans, first] = spans_since(hours, since, snapshot.now);
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
