// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/record/restart.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "controller/core/json_patch.h"
#include "controller/queue/facts/capped.h"
#include "controller/queue/record/admission_record.h"

namespace berth::queue {
namespace {

constexpr std::string_view kRestartKey = "restart.";

std::optional<std::int64_t> read_count(const nlohmann::json& value) {
  if (!value.is_number_integer() || value < 0 || value > kMostOfAnything) return std::nullopt;
  return value.get<std::int64_t>();
}

bool read_asks(const nlohmann::json& record, RestartFact& restart) {
  const auto asks = record.find("asks");
  if (asks == record.end() || !asks->is_array()) return false;
  for (const nlohmann::json& ask : *asks) {
    const auto pods =
        ask.is_object() ? read_count(ask.value("pods", nlohmann::json())) : std::nullopt;
    const nlohmann::json requests =
        ask.is_object() ? ask.value("requests", nlohmann::json()) : nlohmann::json();
    if (!pods || !requests.is_object()) return false;
    Amounts& amounts = restart.asks.emplace_back(Amounts(), *pods).first;
    for (const auto& [resource, amount] : requests.items()) {
      const auto read = read_count(amount);
      if (!read) return false;
      amounts.emplace_back(resource, *read);
    }
  }
  return true;
}

bool read_makers(const nlohmann::json& record, RestartFact& restart) {
  const auto makers = record.find("makers");
  if (makers == record.end() || !makers->is_array()) return false;
  for (const nlohmann::json& maker : *makers) {
    if (!maker.is_string()) return false;
    restart.makers.push_back(maker.get<std::string>());
  }
  std::ranges::sort(restart.makers);
  return !restart.makers.empty();
}

}  // namespace

std::string restart_key(std::string_view uid) { return std::string(kRestartKey).append(uid); }

bool is_restart_key(std::string_view key) { return key.starts_with(kRestartKey); }

std::string encode_restart(const RestartFact& restart) {
  std::string text = R"({"workload":)" + quote_json(restart.workload) + ',';
  append_admission(text, restart.admission);
  text += R"(,"makers":)" + nlohmann::json(restart.makers).dump();
  std::string_view lead = R"(,"asks":[)";
  for (const auto& [requests, pods] : restart.asks) {
    text += fmt::format(R"({}{{"pods":{},"requests":{{)", std::exchange(lead, ","), pods);
    std::string_view comma;
    for (const auto& [resource, amount] : requests)
      text += fmt::format("{}{}:{}", std::exchange(comma, ","), quote_json(resource), amount);
    text += "}}";
  }
  text += restart.asks.empty() ? R"(,"asks":[])" : "]";
  if (restart.gone != 0)
    text += fmt::format(R"(,"gone":"{}")",
                        format_micro_time(Time(std::chrono::microseconds(restart.gone))));
  return text + '}';
}

std::optional<RestartFact> decode_restart(std::string_view text) {
  const nlohmann::json record = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  std::optional<AdmissionFact> admission = read_admission(record);
  if (!admission) return std::nullopt;
  const auto workload = record.find("workload");
  if (workload == record.end() || !workload->is_string()) return std::nullopt;
  RestartFact restart{.workload = workload->get<std::string>(), .admission = *std::move(admission)};
  if (restart.workload.empty() || !read_makers(record, restart) || !read_asks(record, restart))
    return std::nullopt;
  const auto gone = record.find("gone");
  if (gone == record.end()) return restart;
  const Result<Time> time =
      gone->is_string() ? parse_time(gone->get<std::string>()) : Result<Time>(Error{});
  if (!time) return std::nullopt;
  restart.gone = time->time_since_epoch().count();
  return restart;
}

}  // namespace berth::queue
