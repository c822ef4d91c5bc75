// SPDX-License-Identifier: Apache-2.0
// IgnoredSeries: the series of a round that count for nothing, by why. What is said of them names
// nodes, namespaces and pods of this cluster alone, and no word out of a label.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "controller/core/cause.h"

namespace berth {

class IgnoredSeries {
 public:
  // Of a GPU that the node does not have.
  void add_beyond(const std::string& node) { ++beyond_[node]; }
  // From the node's exporter, and about another node.
  void add_elsewhere(const std::string& node) { ++elsewhere_[node]; }
  // Without the labels that count. `target` is what was scraped, empty: berth does not know it.
  void add_foreign(const std::string& target, std::size_t series);
  // More than berth reads of one answer.
  void add_unread(std::size_t series) { unread_ += series; }

  // For the policy's status; nothing where every series counts. `labels`: "namespace=gpu-operator".
  std::optional<Cause> told(std::string_view labels) const;

 private:
  std::map<std::string, std::size_t> beyond_;     // by node
  std::map<std::string, std::size_t> elsewhere_;  // by node
  std::map<std::string, std::size_t> foreign_;    // by target
  std::size_t unread_ = 0;
};

}  // namespace berth
