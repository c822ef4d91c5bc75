// SPDX-License-Identifier: Apache-2.0
#include "controller/observe/ignored_series.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "apis/base/reasons.h"
#include "controller/core/plural.h"

namespace berth {
namespace {

using Counts = std::map<std::string, std::size_t>;

constexpr std::size_t kTargetsNamed = 3;
constexpr std::size_t kMaxTargets = 1'000;  // more are counted as one

std::size_t sum_of(const Counts& counts) {
  std::size_t sum = 0;
  for (const auto& [_, count] : counts) sum += count;
  return sum;
}

std::string series(std::size_t count) {
  return fmt::format("{} series", count);  // the plural is the same
}

// "3 from team-a/web-0, 1 from team-b/x and 2 others"
std::string list_most(const Counts& counts) {
  std::vector<std::pair<std::size_t, std::string>> order;
  for (const auto& [name, count] : counts)
    order.emplace_back(count, name.empty() ? "targets that are no pods of this cluster" : name);
  std::ranges::sort(order, std::greater<>());
  std::vector<std::string> named;
  for (const auto& [count, name] : order)
    if (named.size() < kTargetsNamed) named.push_back(fmt::format("{} from {}", count, name));
  const auto others = static_cast<std::int64_t>(order.size() - named.size());
  return fmt::format("{}{}", fmt::join(named, ", "),
                     others > 0 ? " and from " + plural(others, "other target") : "");
}

}  // namespace

void IgnoredSeries::add_foreign(const std::string& target, std::size_t series) {
  const bool known = foreign_.contains(target) || foreign_.size() < kMaxTargets;
  foreign_[known ? target : std::string()] += series;
}

std::optional<Cause> IgnoredSeries::told(std::string_view labels) const {
  if (!foreign_.empty())
    return Cause{
        reasons::kForeignSeries,
        fmt::format("Prometheus has {} of DCGM's without {}, which berth ignores: {}; if they are "
                    "of dcgm-exporter, write its labels into spec.metrics.prometheus.matchLabels",
                    series(sum_of(foreign_)), labels, list_most(foreign_))};
  if (!elsewhere_.empty())
    return Cause{reasons::kForeignSeries,
                 fmt::format("{} of the exporter of node {} are about other nodes, and berth "
                             "ignores them",
                             series(elsewhere_.begin()->second), elsewhere_.begin()->first)};
  if (!beyond_.empty())
    return Cause{reasons::kForeignSeries,
                 fmt::format("{} are about GPUs that node {} does not have, by its labels or its "
                             "capacity, and berth ignores them",
                             series(beyond_.begin()->second), beyond_.begin()->first)};
  if (unread_ > 0)
    return Cause{reasons::kForeignSeries,
                 fmt::format("an answer of Prometheus holds {} more than berth reads, and berth "
                             "ignores them",
                             series(unread_))};
  return std::nullopt;
}

}  // namespace berth
