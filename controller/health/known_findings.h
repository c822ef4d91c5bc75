// SPDX-License-Identifier: Apache-2.0
// KnownFindings: the findings in a node's health record, by key, each with the time at which it was
// last seen. A finding with a known key continues. Any other finding is new.
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
  // Adds the new findings and updates the times of the known ones.
  void learn(const NodeFindings& found);
  // Updates the times of the known findings only.
  void see(const NodeFindings& found);
  // Drops each known finding that is not in `found` and was last seen at `since` or earlier.
  void forget_unseen(const NodeFindings& found, Time since);
  // Returns the earliest time at which one of those not in `found` was last seen; nothing: all are
  // in it.
  std::optional<Time> first_unseen(const NodeFindings& found) const;
  // Returns by how much the record's times lag behind; nothing: the record holds other keys.
  std::optional<Duration> lag(const KnownFindings& record) const;

  void store(HealthRecord& record) const;

 private:
  std::map<std::string, Time, std::less<>> seen_;
};

}  // namespace berth
