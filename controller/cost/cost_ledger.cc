// SPDX-License-Identifier: Apache-2.0
// Outline: sums by day; limits on age and size; the texts, one for each day and month.
#include "controller/cost/cost_ledger.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "controller/core/ledger_spans.h"

namespace berth::cost {
namespace {

using nlohmann::json;
using std::chrono::days;
using std::chrono::floor;
using std::chrono::seconds;

constexpr Duration kClockStep = std::chrono::minutes(10);
constexpr char kCheckpoint[] = "checkpoint";
constexpr std::string_view kDay = "day-", kMonth = "month-";
constexpr std::pair<const char*, SpendingByName Spendings::*> kTables[] = {
    {"pools", &Spendings::pools},
    {"namespaces", &Spendings::namespaces},
    {"queues", &Spendings::queues},
    {"owners", &Spendings::owners}};
struct MostTable {
  const char* name;
  MostByName Spendings::*most;
  std::int64_t least;  // lower values are ignored
};
// A running pod has something in memory. A peak of 0 is also a measurement.
constexpr MostTable kMostTables[] = {{"memory", &Spendings::memory, 1},
                                     {"peaks", &Spendings::peaks, 0}};

// Keeps the most expensive names. The others become one.
void keep_dearest(SpendingByName& names) {
  if (names.size() <= kMaxNames) return;
  std::vector<std::pair<Micros, std::string>> order;
  for (const auto& [name, spending] : names)
    if (name != kOthers) order.emplace_back(-spending.total(), name);
  std::ranges::sort(order);
  Spending others = names[kOthers];
  for (std::size_t i = kMaxNames - 1; i < order.size(); ++i) {
    others.add(names[order[i].second]);
    names.erase(order[i].second);
  }
  names[kOthers] = others;
}

void keep_dearest(SpendingsByCurrency& period) {
  for (auto& [currency, spendings] : period) {
    for (const auto names : {&Spendings::namespaces, &Spendings::queues, &Spendings::owners})
      keep_dearest(spendings.*names);
    for (const MostTable& table : kMostTables)
      std::erase_if(spendings.*table.most, [&owners = spendings.owners](const auto& most) {
        return !owners.contains(most.first);
      });
  }
}

json encode(const SpendingByName& names) {
  json out = json::object();
  for (const auto& [name, spending] : names) {
    json parts = json::array();
    for (const auto part : Spending::kParts) parts.push_back(spending.*part);
    out[name] = std::move(parts);
  }
  return out;
}

std::string encode(const SpendingsByCurrency& period) {
  json out = json::object();
  for (const auto& [currency, spendings] : period) {
    for (const auto& [name, table] : kTables) out[currency][name] = encode(spendings.*table);
    for (const MostTable& table : kMostTables)
      if (!(spendings.*table.most).empty()) out[currency][table.name] = spendings.*table.most;
  }
  return out.dump();
}

std::optional<Spending> read_spending(const json& parts) {
  if (!parts.is_array() || parts.size() != Spending::kParts.size()) return std::nullopt;
  Spending spending;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].is_number_integer() || parts[i].get<Micros>() < 0) return std::nullopt;
    spending.*Spending::kParts[i] = parts[i].get<Micros>();
  }
  return spending;
}

json parse_object(const std::string& text) {
  json parsed = json::parse(text, nullptr, /*allow_exceptions=*/false);
  return parsed.is_object() ? parsed : json::object();
}

MostByName read_most(const json& tables, const MostTable& table) {
  MostByName most;
  const auto owners = tables.find(table.name);
  if (owners == tables.end() || !owners->is_object()) return most;
  for (const auto& [owner, value] : owners->items())
    if (value.is_number_integer() && value.get<std::int64_t>() >= table.least)
      most[owner] = value.get<std::int64_t>();
  return most;
}

SpendingsByCurrency read_period(const std::string& text) {
  SpendingsByCurrency period;
  const json read = parse_object(text);
  for (const auto& [currency, tables] : read.items()) {
    if (!tables.is_object()) continue;
    for (const auto& [key, table] : kTables) {
      const auto names = tables.find(key);
      if (names == tables.end() || !names->is_object()) continue;
      for (const auto& [name, parts] : names->items())
        if (const auto spending = read_spending(parts)) (period[currency].*table)[name] = *spending;
    }
    for (const MostTable& table : kMostTables)
      if (MostByName most = read_most(tables, table); !most.empty())
        period[currency].*table.most = std::move(most);
  }
  return period;
}

}  // namespace

void spend_until(Time now, const SpendingsByCurrency& hourly, CostLedger& ledger) {
  now = floor<seconds>(now);
  if (!ledger.at || *ledger.at > now + kClockStep) ledger.at = now;
  while (*ledger.at < now) {
    const Time from = *ledger.at;
    const Time until = std::min(now, Time(floor<days>(from) + days(1)));
    const Micros span = floor<seconds>(until - from).count();
    for (const auto& [currency, spendings] : hourly) {
      ledger.days[day_of(from)][currency].add(spendings, span);
      ledger.months[month_of(from)][currency].add(spendings, span);
    }
    ledger.at = until;
  }
  forget_old_spans(now, ledger);
}

CostLedger read_costs(const CostTexts& data) {
  CostLedger ledger;
  for (const auto& [key, text] : data) {
    if (key == kCheckpoint) {
      if (const Result<Time> at = parse_time(text)) ledger.at = *at;
    } else if (key.starts_with(kDay)) {
      ledger.days[key.substr(kDay.size())] = read_period(text);
    } else if (key.starts_with(kMonth)) {
      ledger.months[key.substr(kMonth.size())] = read_period(text);
    }
  }
  return ledger;
}

CostTexts encode_costs(CostLedger& ledger) {
  CostTexts data;
  std::size_t bytes = 0;
  const auto put = [&](std::string key, std::string text) {
    bytes += key.size() + text.size();
    data.emplace(std::move(key), std::move(text));
  };
  if (ledger.at) put(kCheckpoint, format_time(*ledger.at));
  for (auto& [name, month] : ledger.months) {
    keep_dearest(month);
    put(std::string(kMonth) + name, encode(month));
  }
  for (auto& [name, day] : ledger.days) {
    keep_dearest(day);
    put(std::string(kDay) + name, encode(day));
  }
  while (bytes > kMaxBytes && ledger.days.size() > 1) {
    const auto oldest = data.find(std::string(kDay) + ledger.days.begin()->first);
    bytes -= oldest->first.size() + oldest->second.size();
    data.erase(oldest);
    ledger.days.erase(ledger.days.begin());
  }
  return data;
}

}  // namespace berth::cost
