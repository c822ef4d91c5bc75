// SPDX-License-Identifier: Apache-2.0
#include "controller/client/list_bounds.h"

#include <fmt/format.h>

namespace berth {

std::string ListBounds::take_page(std::size_t objects, std::size_t bytes, const std::string& next) {
  objects_ += objects;
  bytes_ += bytes;
  ++pages_;
  if (next.size() > kMaxTokenBytes) return fmt::format("a continue token of {} bytes", next.size());
  if (!next.empty() && !tokens_.insert(next).second)
    return fmt::format("the same continue token again after {} pages", pages_);
  return passed();
}

std::string ListBounds::passed() const {
  if (objects_ > kMaxObjects) return fmt::format("more than {} objects", kMaxObjects);
  if (pages_ > kMaxPages) return fmt::format("more than {} pages", kMaxPages);
  if (bytes_ > kMaxBytes) return fmt::format("more than {} GiB", kMaxBytes >> 30);
  if (Text::pool_bytes() > text_before_ + kMaxText)
    return fmt::format("more than {} MiB of names, labels and annotations", kMaxText >> 20);
  return {};
}

}  // namespace berth
