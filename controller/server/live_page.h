// SPDX-License-Identifier: Apache-2.0
// LivePage: the page's state of a live cluster. It is computed only while a viewer follows it, and
// once for all viewers. Loop thread only; it must outlive its followers.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "controller/page/page_journal.h"
#include "controller/server/page_site.h"

namespace berth {

class LivePage {
 public:
  using Moment = std::chrono::nanoseconds;  // from a monotonic clock
  struct Parts {
    std::function<std::optional<PageState>()> state;  // nullopt: the caches have not synced
    std::function<Moment()> now;
    std::string era;  // of the journal
    // Followers should be asked for output after `wait`. Null: they are asked only at regular
    // times.
    std::function<void(Moment wait)> wake = nullptr;
  };
  explicit LivePage(Parts parts) : parts_(std::move(parts)), journal_(parts_.era) {}

  // The state may have changed.
  void changed();

  const PageDocument* document();
  std::shared_ptr<HttpFeed> follow(std::string_view since);

 private:
  class Follower;
  void refresh();

  const Parts parts_;
  PageJournal journal_;
  PageDocument document_;  // of the journal's last state, if it was requested
  bool known_ = false;
  bool dirty_ = true;
  Moment next_{0};   // not computed before this time
  Moment stale_{0};  // computed at this time at the latest, because ages change without events
};

}  // namespace berth
