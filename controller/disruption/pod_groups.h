// SPDX-License-Identifier: Apache-2.0
// PodGroups: how many pods of each pod group run, because these end together. A view (core/view.h).
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "controller/core/view.h"

namespace berth {

class PodGroups {
 public:
  void follow(const Change<Pod>& change);

  // Returns the unfinished, bound pods with the group's label in the namespace.
  std::int64_t size_of(std::string_view namespace_, std::string_view group) const;
  bool operator==(const PodGroups&) const = default;

 private:
  std::map<std::pair<Text, Text>, std::int64_t> sizes_;  // by namespace and name
};

}  // namespace berth
