// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/top_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "controller/cost/cost_meter.h"

namespace berth {
namespace {

using cost::Micros;
using cost::Spending;

struct Column {
  const char* name;
  cost::SpendingByName cost::Spendings::*table;
};
Column column_of(CostBy by) {
  switch (by) {
    case CostBy::kPool:
      return {"POOL", &cost::Spendings::pools};
    case CostBy::kNamespace:
      return {"NAMESPACE", &cost::Spendings::namespaces};
    case CostBy::kQueue:
      return {"QUEUE", &cost::Spendings::queues};
    case CostBy::kOwner:
      break;
  }
  return {"OWNER", &cost::Spendings::owners};
}

std::string money(Micros amount) { return cost::format_money(amount / cost::kSecondsOfHour, 2); }

// Only pools pay for GPUs that no workload holds.
std::vector<std::string> row_of(const std::string& name, const std::string& currency,
                                const Spending& spending, CostBy by, const std::string& since) {
  std::vector<std::string> row{name, money(spending.used), money(spending.idle),
                               money(spending.unmeasured)};
  if (by == CostBy::kPool)
    for (const Micros part : {spending.free, spending.lost, spending.fragments})
      row.push_back(money(part));
  const auto total = static_cast<double>(spending.total());
  row.push_back(money(spending.total()));
  row.push_back(currency);
  row.push_back(
      fmt::format("{:.1f}%", total > 0 ? 100 * static_cast<double>(spending.waste()) / total : 0));
  row.push_back(since);
  return row;
}

}  // namespace

TopTable top_costs(const Snapshot& snapshot, CostBy by, Time since) {
  const auto& [name, table] = column_of(by);
  TopTable out{"Costs", {name, "USED", "IDLE", "NOTMEASURED"}, {}};
  if (by == CostBy::kPool) out.columns.insert(out.columns.end(), {"FREE", "LOST", "FRAGMENTS"});
  out.columns.insert(out.columns.end(), {"TOTAL", "CURRENCY", "WASTE", "SINCE"});
  const cost::CostLedger ledger = costs_in(snapshot.cluster, snapshot.settings);
  const auto [spans, first] = spans_since(ledger.days, ledger.months, since, snapshot.now);
  cost::SpendingsByCurrency sums;
  const auto begins = spans->lower_bound(first);
  for (auto span = begins; span != spans->end(); ++span)
    for (const auto& [currency, spendings] : span->second) sums[currency].add(spendings, 1);
  for (const auto& [currency, spendings] : sums) {
    std::vector<std::pair<std::string, Spending>> rows((spendings.*table).begin(),
                                                       (spendings.*table).end());
    std::ranges::stable_sort(rows, std::greater(),
                             [](const auto& row) { return row.second.total(); });
    if (rows.empty()) continue;
    Spending all;
    for (const auto& [of, spending] : rows) {
      out.rows.push_back(row_of(of.empty() ? "(none)" : of, currency, spending, by, begins->first));
      all.add(spending);
    }
    out.rows.push_back(row_of("(all)", currency, all, by, begins->first));
  }
  return out;
}

}  // namespace berth
