// SPDX-License-Identifier: Apache-2.0
#include "controller/core/figures.h"

#include <algorithm>
#include <chrono>

namespace berth {
namespace {

Figure::Labels with(Figure::Labels labels, std::string_view name, std::string_view value) {
  labels.emplace_back(name, value);
  return labels;
}

std::string_view status_of(std::string_view type, const std::vector<Condition>& conditions) {
  const auto found = std::ranges::find(conditions, type, &Condition::type);
  if (found != conditions.end()) return found->status;
  return type == "Ready" ? "Unknown" : "False";
}

}  // namespace

double unix_seconds(Time time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

void add_conditions(const Figure::Labels& object, const std::vector<Condition>& conditions,
                    bool observed, Figure& figure) {
  static constexpr std::pair<std::string_view, std::string_view> kStatuses[] = {
      {"True", "true"}, {"False", "false"}, {"Unknown", "unknown"}};
  for (const std::string_view type : {"Ready", "Reconciling", "Stalled"}) {
    const std::string_view holds = observed ? status_of(type, conditions) : "Unknown";
    for (const auto& [status, label] : kStatuses)
      figure.add(with(with(object, "type", type), "status", label), holds == status ? 1 : 0);
  }
}

void add_reasons(const Figure::Labels& object, const std::vector<Condition>& conditions,
                 Figure& figure) {
  for (const Condition& condition : conditions)
    figure.add(with(with(object, "type", condition.type), "reason", condition.reason), 1);
}

}  // namespace berth
