// SPDX-License-Identifier: Apache-2.0
// PageJournal: the page's states over time and the changes between them. A client that has a recent
// state gets only the changes since. Each state has an id that no state of another journal has.
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
  // `era` keeps this journal's ids apart from those of earlier processes. The journal keeps at most
  // kKept changes, of at most `kept_bytes` together.
  explicit PageJournal(std::string era, std::size_t kept_bytes = 1u << 20)
      : era_(std::move(era)), kept_bytes_(kept_bytes) {}

  // Returns whether `state` differs from the last one.
  bool take(PageState state);
  // The id of the last state: "era-17".
  std::string id() const { return id_of(number_); }
  const PageState& state() const { return state_; }

  struct Change {
    std::string id;    // of the state after the change
    std::string json;  // print_changes()
  };
  // The index of the first change after the state with this id; changes are kept oldest first.
  // nullopt: the state is of another journal, or too old.
  std::optional<std::size_t> first_after(std::string_view id) const;
  std::size_t count() const { return changes_.size(); }
  const Change& change(std::size_t at) const { return changes_[at]; }

 private:
  std::string id_of(std::uint64_t number) const { return era_ + "-" + std::to_string(number); }

  static constexpr std::size_t kKept = 256;
  const std::string era_;
  const std::size_t kept_bytes_;
  PageState state_;
  std::uint64_t number_ = 0;  // number of state_; 0: there is none yet
  std::deque<Change> changes_;
  std::size_t bytes_ = 0;  // of all changes
};

}  // namespace berth
