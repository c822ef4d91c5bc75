// SPDX-License-Identifier: Apache-2.0
#include "controller/core/conditions.h"

#include <algorithm>

namespace berth {

std::vector<Condition> merge_conditions(const std::vector<Condition>& standing,
                                        std::vector<Condition> desired, Time now) {
  // metav1.Time has seconds: anything finer would differ from what comes back.
  const Time stamp = std::chrono::floor<std::chrono::seconds>(now);
  for (Condition& condition : desired) {
    auto old = std::ranges::find(standing, condition.type, &Condition::type);
    bool same_status = old != standing.end() && old->status == condition.status;
    condition.last_transition_time = same_status ? old->last_transition_time : stamp;
  }
  return desired;
}

bool same_verdicts(const std::vector<Condition>& a, const std::vector<Condition>& b) {
  return std::ranges::equal(a, b, [](const Condition& x, const Condition& y) {
    return x.type == y.type && x.status == y.status && x.reason == y.reason &&
           x.observed_generation == y.observed_generation;
  });
}

std::string truncate(std::string text, std::size_t limit) {
  static constexpr std::string_view kEllipsis = "…";
  if (text.size() <= limit) return text;
  std::size_t end = limit - kEllipsis.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end).append(kEllipsis);
}

}  // namespace berth
