// SPDX-License-Identifier: Apache-2.0
// IgnoredSeries: the series of a round that berth ignores, by reason. Its messages name only nodes,
// namespaces and pods of this cluster. They repeat no text from a label.
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
  // A series about a GPU that the node does not have.
  void add_beyond(const std::string& node) { ++beyond_[node]; }
  // A series from the node's exporter about another node.
  void add_elsewhere(const std::string& node) { ++elsewhere_[node]; }
  // Series without the required labels. `target`: the pod that was scraped; empty: berth does not
  // know it.
  void add_foreign(const std::string& target, std::size_t series);
  // Series of one answer that are too long or too many.
  void add_unread(std::size_t series) { unread_ += series; }

  // For the policy's status; nothing: berth ignores no series. `labels`: the required ones, as in
  // "namespace=gpu-operator".
  std::optional<Cause> told(std::string_view labels) const;

 private:
  std::map<std::string, std::size_t> beyond_;     // by node
  std::map<std::string, std::size_t> elsewhere_;  // by node
  std::map<std::string, std::size_t> foreign_;    // by target
  std::size_t unread_ = 0;
};

}  // namespace berth
