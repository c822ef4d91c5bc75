// SPDX-License-Identifier: Apache-2.0
// KnownFindings: the findings that a node's health record holds, by key, each with the time at
// which it was last seen. A finding that is known continues; one that is not known is new.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "controller/disruption/health_record.h"
#include "controller/health/findings.h"

namespace berth {

class KnownFindings {
 public:
  explicit KnownFindings(const HealthRecord& record);

  bool contains(std::string_view key) const { return seen_.contains(key); }
  bool any(const std::function<bool(std::string_view key)>& is) const;
  bool empty() const { return seen_.empty(); }
  // Adds each finding, and dates those that are known.
  void learn(const NodeFindings& found);
  // Dates those that are known.
  void see(const NodeFindings& found);
  // Drops each that is not among `found` and was last seen before `since`.
  void forget_unseen(const NodeFindings& found, Time since);
  // When the first of those that are not among `found` was last seen.
  std::optional<Time> first_unseen(const NodeFindings& found) const;
  // By how much the record lags behind what is known; nothing: it holds other keys.
  std::optional<Duration> lag(const KnownFindings& record) const;

  void store(HealthRecord& record) const;

 private:
  std::map<std::string, Time, std::less<>> seen_;
};

}  // namespace berth
