// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/use_history.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/explore/look.h"

namespace berth::explore {
namespace {

constexpr int kSaidOfNobody = 50;  // percent, if the scenario sets none: active

}  // namespace

void UseHistory::take_gauges(const std::string& node, const sim::GaugedNode* gauges,
                             MonotonicTime now) {
  if (gauges == nullptr) {
    told_.erase(node);
    return;
  }
  const auto [known, fresh] = told_.try_emplace(node, gauges->told, now);
  if (!fresh && known->second.first != gauges->told) known->second = {gauges->told, now};
}

void UseHistory::take_use(const std::string& path, int percent, MonotonicTime now) {
  uses_.try_emplace(path, Uses{{MonotonicTime{0}, kSaidOfNobody}})
      .first->second.emplace_back(now, percent);
}

std::chrono::nanoseconds UseHistory::worked(const nlohmann::json& pod, MonotonicTime from,
                                            MonotonicTime to, int threshold) const {
  const Uses& uses = uses_of(pod);
  std::chrono::nanoseconds longest{0};
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (uses[i].second < threshold) continue;
    const MonotonicTime begins = std::max(uses[i].first, from);
    const MonotonicTime ends = i + 1 < uses.size() ? std::min(uses[i + 1].first, to) : to;
    longest = std::max<std::chrono::nanoseconds>(longest, ends - begins);
  }
  return longest;
}

std::optional<MonotonicTime> UseHistory::told_since(const std::string& node) const {
  const auto told = told_.find(node);
  if (told == told_.end() || !told->second.first) return std::nullopt;
  return told->second.second;
}

std::optional<MonotonicTime> UseHistory::dark_since(const std::string& node) const {
  const auto told = told_.find(node);
  if (told == told_.end() || told->second.first) return std::nullopt;
  return told->second.second;
}

const UseHistory::Uses& UseHistory::uses_of(const nlohmann::json& pod) const {
  static const Uses kAlwaysAtWork{{MonotonicTime{0}, kSaidOfNobody}};
  const std::string home = text_at(&pod, {"metadata", "namespace"}) + "/";
  for (const std::string& name : {text_at(&pod, {"metadata", "name"}), label_at(&pod, "app")})
    if (const auto said = uses_.find(home + name); said != uses_.end()) return said->second;
  return kAlwaysAtWork;
}

}  // namespace berth::explore
