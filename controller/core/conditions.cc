// SPDX-License-Identifier: Apache-2.0
#include "controller/core/conditions.h"

#include <algorithm>

#include "apis/base/cut.h"
#include "controller/core/seeded_bugs.h"

namespace berth {

const Condition* find_true(const std::vector<Condition>& conditions, std::string_view type) {
  const auto found = std::ranges::find_if(
      conditions, [&](const Condition& c) { return c.type == type && c.status == "True"; });
  return found == conditions.end() ? nullptr : &*found;
}

std::vector<Condition> merge_conditions(const std::vector<Condition>& standing,
                                        std::vector<Condition> desired, Time now) {
  // metav1.Time has whole seconds: a finer time would differ from the one the server returns.
  const Time stamp = std::chrono::floor<std::chrono::seconds>(now);
  for (Condition& condition : desired) {
    auto old = std::ranges::find(standing, condition.type, &Condition::type);
    bool same_status = old != standing.end() && old->status == condition.status &&
                       !seeded(SeededBug::kTransitionTimes);
    condition.last_transition_time = same_status ? old->last_transition_time : stamp;
  }
  return desired;
}

bool same_verdicts(const std::vector<Condition>& a, const std::vector<Condition>& b) {
  return std::ranges::equal(a, b, [](const Condition& x, const Condition& y) {
    return x.type == y.type && x.status == y.status &&
           x.observed_generation == y.observed_generation &&
           (x.type != "Stalled" || x.reason == y.reason);
  });
}

std::string cut_before_advice(const std::string& text, std::size_t limit) {
  if (text.size() <= limit) return text;
  const std::size_t at = text.rfind("; ");
  if (at == text.npos || text.size() - at > limit / 2) return cut(text, limit);
  const std::string advice = text.substr(at);
  return cut(text.substr(0, at), limit - advice.size()) + advice;
}

}  // namespace berth
