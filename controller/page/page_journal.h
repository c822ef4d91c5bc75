// SPDX-License-Identifier: Apache-2.0
// PageJournal: one state of the page after another, and what changed between them, so that whoever
// has one of the last states is told no more than that. Each state has an id; those of another
// journal are never taken for its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "controller/page/page_state.h"

namespace berth {

class PageJournal {
 public:
  // `era` tells this journal's ids from those of an earlier process. Changes are kept while they
  // are few enough, and not larger together than `kept_bytes`.
  explicit PageJournal(std::string era, std::size_t kept_bytes = 1u << 20)
      : era_(std::move(era)), kept_bytes_(kept_bytes) {}

  // Whether it is another one than the last.
  bool take(PageState state);
  // Of the last state: "era-17".
  std::string id() const { return id_of(number_); }
  const PageState& state() const { return state_; }

  struct Change {
    std::string id;    // of the state after it
    std::string json;  // print_changes()
  };
  // What came after the state with this id, oldest first: from there on to the end. None: that
  // state is not of this journal, or too long ago.
  std::optional<std::size_t> first_after(std::string_view id) const;
  std::size_t count() const { return changes_.size(); }
  const Change& change(std::size_t at) const { return changes_[at]; }

 private:
  std::string id_of(std::uint64_t number) const { return era_ + "-" + std::to_string(number); }

  static constexpr std::size_t kKept = 256;
  const std::string era_;
  const std::size_t kept_bytes_;
  PageState state_;
  std::uint64_t number_ = 0;  // of state_; 0: none was taken yet
  std::deque<Change> changes_;
  std::size_t bytes_ = 0;  // of them all
};

}  // namespace berth
