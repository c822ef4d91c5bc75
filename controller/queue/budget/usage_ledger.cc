// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/budget/usage_ledger.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "apis/base/names.h"
#include "controller/core/config_map_texts.h"

namespace berth::queue {
namespace {

using nlohmann::json;

constexpr char kCheckpoint[] = "checkpoint";
constexpr std::string_view kDay = "day-", kMonth = "month-", kPools = "pools-";

std::optional<Time> time_in(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  const Result<Time> time = parse_time(found->get<std::string>());
  return time ? std::optional(*time) : std::nullopt;
}

std::optional<std::int64_t> amount_in(const json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  const auto amount = value.get<std::int64_t>();
  return amount >= 0 ? std::optional(amount) : std::nullopt;
}

json parse_object(const std::string& text) {
  json parsed = json::parse(text, nullptr, /*allow_exceptions=*/false);
  return parsed.is_object() ? parsed : json::object();
}

json checkpoint_in(const UsageTexts& data) {
  const auto found = data.find(kCheckpoint);
  return found == data.end() ? json::object() : parse_object(found->second);
}

BudgetAccounts read_accounts(const json& checkpoint) {
  BudgetAccounts accounts;
  const auto budgets = checkpoint.find("budgets");
  if (budgets == checkpoint.end() || !budgets->is_object()) return accounts;
  for (const auto& [queue, entry] : budgets->items()) {
    if (!entry.is_object()) continue;
    const auto from = time_in(entry, "from"), until = time_in(entry, "until");
    const auto used = amount_in(entry.value("used", json()));
    if (from && until && used) accounts[queue] = {{*from, *until}, *used};
  }
  return accounts;
}

UsedByQueue read_used(const std::string& text) {
  UsedByQueue used;
  // A variable, because items() does not keep a temporary alive.
  const auto read = parse_object(text);
  for (const auto& [queue, namespaces] : read.items()) {
    if (!namespaces.is_object()) continue;
    for (const auto& [namespace_, value] : namespaces.items())
      if (const auto amount = amount_in(value)) used[queue][namespace_] = *amount;
  }
  return used;
}

UsedByPool read_pools(const std::string& text) {
  UsedByPool used;
  // A variable, because items() does not keep a temporary alive.
  const auto read = parse_object(text);
  for (const auto& [pool, value] : read.items())
    if (const auto amount = amount_in(value)) used[pool] = *amount;
  return used;
}

std::string encode_checkpoint(const GpuHours& hours) {
  json budgets = json::object();
  for (const auto& [queue, account] : hours.budgets)
    budgets[queue] = {{"from", format_time(account.period.from)},
                      {"until", format_time(account.period.until)},
                      {"used", account.used}};
  json checkpoint = {{"budgets", std::move(budgets)}};
  if (hours.at) checkpoint["at"] = format_time(*hours.at);
  return checkpoint.dump();
}

// "pools-day-2026-11-25"
std::string pools_key(std::string_view prefix, std::string_view span) {
  return std::string(kPools).append(prefix).append(span);
}

template <class Spans>
void encode(const Spans& spans, std::string_view prefix, UsageTexts& data) {
  for (const auto& [span, used] : spans) data[std::string(prefix) + span] = json(used).dump();
}

UsageTexts encode_all(const GpuHours& hours) {
  UsageTexts data{{kCheckpoint, encode_checkpoint(hours)}};
  encode(hours.days, kDay, data);
  encode(hours.months, kMonth, data);
  encode(hours.pools.days, pools_key(kDay, ""), data);
  encode(hours.pools.months, pools_key(kMonth, ""), data);
  return data;
}

std::size_t size_of(const UsageTexts& data) {
  std::size_t bytes = 0;
  for (const auto& [key, text] : data) bytes += key.size() + text.size();
  return bytes;
}

void keep_by_queue(std::map<std::string, UsedByQueue>& periods) {
  for (auto& [name, used] : periods)
    for (auto& [queue, namespaces] : used) {
      std::int64_t sum = 0;
      for (const auto& [namespace_, amount] : namespaces)
        if (__builtin_add_overflow(sum, amount, &sum)) sum = INT64_MAX;
      namespaces = {{"", sum}};
    }
}

// Removes the oldest of several periods, also for pools.
bool drop_oldest(std::map<std::string, UsedByQueue>& periods,
                 std::map<std::string, UsedByPool>& pools, std::string_view prefix,
                 UsageTexts& data, std::size_t& bytes) {
  if (periods.size() < 2) return false;
  const std::string oldest = periods.begin()->first;
  for (const std::string& key : {std::string(prefix) + oldest, pools_key(prefix, oldest)}) {
    const auto text = data.find(key);
    if (text == data.end()) continue;
    bytes -= text->first.size() + text->second.size();
    data.erase(text);
  }
  periods.erase(oldest);
  pools.erase(oldest);
  return true;
}

}  // namespace

BudgetAccounts read_budget_accounts(const ConfigMap& config_map) {
  return read_accounts(checkpoint_in(config_map.data));
}

GpuHours read_usage(const UsageTexts& data) {
  GpuHours hours;
  const json checkpoint = checkpoint_in(data);
  hours.at = time_in(checkpoint, "at");
  hours.budgets = read_accounts(checkpoint);
  for (const auto& [key, text] : data) {
    if (key.starts_with(kDay)) hours.days[key.substr(kDay.size())] = read_used(text);
    if (key.starts_with(kMonth)) hours.months[key.substr(kMonth.size())] = read_used(text);
    static const std::string kPoolsOfDay = pools_key(kDay, ""),
                             kPoolsOfMonth = pools_key(kMonth, "");
    if (key.starts_with(kPoolsOfDay))
      hours.pools.days[key.substr(kPoolsOfDay.size())] = read_pools(text);
    if (key.starts_with(kPoolsOfMonth))
      hours.pools.months[key.substr(kPoolsOfMonth.size())] = read_pools(text);
  }
  return hours;
}

UsageTexts encode_usage(GpuHours& hours, std::size_t most) {
  UsageTexts data = encode_all(hours);
  std::size_t bytes = size_of(data);
  while (bytes > most) {
    if (drop_oldest(hours.days, hours.pools.days, kDay, data, bytes)) continue;
    if (!drop_oldest(hours.months, hours.pools.months, kMonth, data, bytes)) break;
  }
  if (bytes <= most) return data;
  keep_by_queue(hours.days);
  keep_by_queue(hours.months);
  return encode_all(hours);
}

void UsageLedgers::follow(const Change<ConfigMap>& change) {
  const ConfigMap& either = change.now != nullptr ? *change.now : *change.old;
  if (either.meta.name != names::kUsageConfigMap) return;
  if (change.now == nullptr)
    ledgers_.erase(either.meta.namespace_);
  else
    ledgers_[either.meta.namespace_] = read_usage(change.now->data);
}

const GpuHours& UsageLedgers::in(std::string_view namespace_) const {
  static const GpuHours kNone;
  const auto found = ledgers_.find(Text(namespace_));
  return found == ledgers_.end() ? kNone : found->second;
}

const GpuHours& gpu_hours_in(const ClusterState& cluster, const Settings& settings) {
  return cluster.view<UsageLedgers>().in(settings.berth_namespace);
}

Write write_usage(const Settings& settings, const ConfigMap* standing, const UsageTexts& data,
                  std::string reason) {
  return write_texts({settings.berth_namespace, names::kUsageConfigMap}, names::kManagerQueue,
                     standing, data, std::move(reason));
}

}  // namespace berth::queue
