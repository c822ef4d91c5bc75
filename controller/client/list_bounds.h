// SPDX-License-Identifier: Apache-2.0
// ListBounds: the limits for reading all objects of a kind, by pages of a LIST or by a WatchList.
// An endless server, or a proxy that repeats itself, must cause an error and not exhaust the
// process's memory. Pure.
//
// The limits allow the largest clusters that Kubernetes supports (150,000 pods, 5,000 nodes).
// ListOptions::max_bytes limits one page.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "apis/base/text.h"

namespace berth {

class ListBounds {
 public:
  static constexpr std::size_t kMaxObjects = 200'000;
  static constexpr std::size_t kMaxPages = 20'000;
  // on the wire; berth keeps a tenth of it
  static constexpr std::size_t kMaxBytes = std::size_t{4} << 30;
  // Distinct texts such as labels and annotations: they cost the more, the more they differ.
  static constexpr std::size_t kMaxText = 96u << 20;
  static constexpr std::size_t kMaxTokenBytes = 8u << 10;

  void restart() { *this = ListBounds(); }
  // Each returns the exceeded limit as text for users, or "".
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
