// SPDX-License-Identifier: Apache-2.0
#include "controller/page/page_journal.h"

#include <utility>

namespace berth {

bool PageJournal::take(PageState state) {
  if (number_ > 0 && state == state_) return false;
  if (number_ > 0) {
    changes_.push_back({id_of(number_ + 1), print_changes(state_, state)});
    bytes_ += changes_.back().json.size();
  }
  while (changes_.size() > kKept || (bytes_ > kept_bytes_ && !changes_.empty())) {
    bytes_ -= changes_.front().json.size();
    changes_.pop_front();
  }
  state_ = std::move(state);
  ++number_;
  return true;
}

std::optional<std::size_t> PageJournal::first_after(std::string_view id) const {
  if (id == this->id()) return changes_.size();
  // The number before change i is the last number minus the count of changes from i on.
  for (std::size_t i = changes_.size(); i-- > 0;)
    if (id == id_of(number_ - (changes_.size() - i))) return i;
  return std::nullopt;
}

}  // namespace berth
