// SPDX-License-Identifier: Apache-2.0
// PageStory: the page's state as it changes in a story that has been told: what it began with, and
// frame by frame what happened and what it changed. The page plays it, forwards and backwards.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "controller/page/page_state.h"

namespace berth {

class PageStory {
 public:
  // `title` is told above it.
  PageStory(std::string title, PageState begin);

  // Whether what is told at that time is to be in another frame than what was told last. A long
  // story has longer frames, so that it stays one that can be sent.
  bool wants_frame(std::chrono::milliseconds at) const;
  // Ends the frame of what was told last: that is how things stood then.
  void end_frame(PageState state);
  void tell(std::chrono::milliseconds at, std::string_view subject, std::string_view text);

  // The page's document.
  std::string print() const;

 private:
  const std::string title_;
  const PageState begin_;
  PageState state_;     // at the end of the last frame
  std::string frames_;  // as JSON, without the brackets
  std::string lines_;   // of the frame that has not ended; empty: there is none
  std::chrono::milliseconds at_{0};
  std::size_t count_ = 0;
};

}  // namespace berth
