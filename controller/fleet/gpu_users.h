// SPDX-License-Identifier: Apache-2.0
// GpuUsers: which pods hold each of NVIDIA's resources. A view (core/view.h).
#pragma once

#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "controller/core/view.h"

namespace berth {

// A set, because one resource may have fifty thousand users and each update replaces one of them.
using PodSet = std::unordered_set<const Pod*>;

class GpuUsers {
 public:
  void follow(const Change<Pod>& change);

  // Returns the bound, unfinished pods that request the resource, in no particular order.
  const PodSet& of(const Text& resource) const;
  bool operator==(const GpuUsers&) const = default;

 private:
  struct TextHash {
    std::size_t operator()(const Text& text) const {
      return std::hash<std::string_view>()(text.view());
    }
  };
  std::unordered_map<Text, PodSet, TextHash> by_resource_;
};

}  // namespace berth
