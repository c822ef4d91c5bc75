// SPDX-License-Identifier: Apache-2.0
// PageStory: the page's state during a simulation: the state at its begin, and frame by frame the
// log lines and the changes. The page plays it, forwards and backwards.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "controller/page/page_state.h"

namespace berth {

class PageStory {
 public:
  // The page shows `title` above it.
  PageStory(std::string title, PageState begin);

  // Whether a line at that time starts another frame than the last line. A long simulation has
  // longer frames, so that the document stays small enough to send.
  bool wants_frame(std::chrono::milliseconds at) const;
  // Ends the frame of the last lines; `state` is the state at that time.
  void end_frame(PageState state);
  void tell(std::chrono::milliseconds at, std::string_view subject, std::string_view text);

  // The page's document.
  std::string print() const;

 private:
  const std::string title_;
  const PageState begin_;
  PageState state_;     // at the end of the last frame
  std::string frames_;  // as JSON, without the brackets
  std::string lines_;   // of the open frame; empty: there is none
  std::chrono::milliseconds at_{0};
  std::size_t count_ = 0;
};

}  // namespace berth
