// SPDX-License-Identifier: Apache-2.0
#include "controller/page/page_story.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "controller/page/page_text.h"

namespace berth {
namespace {

// After this many frames each lasts at least one second, after twice as many two, then four.
constexpr std::size_t kFine = 300;
constexpr std::size_t kMostDoublings = 16;

}  // namespace

PageStory::PageStory(std::string title, PageState begin)
    : title_(std::move(title)), begin_(std::move(begin)), state_(begin_) {}

bool PageStory::wants_frame(std::chrono::milliseconds at) const {
  if (lines_.empty() || at == at_) return false;
  const std::size_t coarse = std::min(count_ / kFine, kMostDoublings);
  return at - at_ >= std::chrono::seconds((1 << coarse) / 2);
}

void PageStory::end_frame(PageState state) {
  frames_ += fmt::format("{}{{\"at\":{},\"lines\":[{}],\"change\":{}}}", count_ == 0 ? "" : ",",
                         at_.count(), lines_, print_changes(state_, state));
  lines_.clear();
  state_ = std::move(state);
  ++count_;
}

void PageStory::tell(std::chrono::milliseconds at, std::string_view subject,
                     std::string_view text) {
  if (lines_.empty()) at_ = at;
  lines_ += lines_.empty() ? "" : ",";
  lines_ += compact({subject, text});
}

std::string PageStory::print() const {
  return print_json(
      begin_, {},
      fmt::format(",\"story\":{{\"title\":{},\"frames\":[{}]}}", compact(title_), frames_));
}

}  // namespace berth
