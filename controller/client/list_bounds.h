// SPDX-License-Identifier: Apache-2.0
// ListBounds: how much one reading of a whole kind may bring, by pages of a LIST or by a WatchList.
// A server that never comes to an end, or a proxy that repeats itself, must cost a refusal and not
// the process. Pure.
//
// The bounds leave room for the largest clusters that Kubernetes is made for (150,000 pods, 5,000
// nodes); what a page may weigh is ListOptions::max_bytes.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "apis/text.h"

namespace berth {

class ListBounds {
 public:
  static constexpr std::size_t kMaxObjects = 200'000;
  static constexpr std::size_t kMaxPages = 20'000;
  static constexpr std::size_t kMaxBytes = std::size_t{4} << 30;  // on the wire, where 9/10 is left
  // Of different labels, annotations and the like; the more they differ, the more they cost.
  static constexpr std::size_t kMaxText = 96u << 20;
  static constexpr std::size_t kMaxTokenBytes = 8u << 10;

  void restart() { *this = ListBounds(); }
  // Each says which bound has been passed, for people, or nothing.
  std::string take_page(std::size_t objects, std::size_t bytes, const std::string& next);
  std::string take_event(std::size_t bytes) {
    ++objects_;
    bytes_ += bytes;
    return objects_ % kLookEvery == 0 || bytes_ > kMaxBytes ? passed() : std::string();
  }

 private:
  static constexpr std::size_t kLookEvery = 1'000;
  std::string passed() const;

  std::size_t objects_ = 0;
  std::size_t pages_ = 0;
  std::size_t bytes_ = 0;
  std::size_t text_before_ = Text::pool_bytes();
  std::set<std::string> tokens_;  // of the pages so far
};

}  // namespace berth
