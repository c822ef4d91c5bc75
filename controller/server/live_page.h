// SPDX-License-Identifier: Apache-2.0
// LivePage: the page's state of a cluster that changes, computed only while somebody looks, and for
// all of them at once. Loop thread only; it outlives whoever follows it.
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
  using Moment = std::chrono::nanoseconds;  // of a clock that only goes forward
  struct Parts {
    std::function<std::optional<PageState>()> state;  // none: the cluster has not been read yet
    std::function<Moment()> now;
    std::string era;  // of the journal
    // Followers are to be asked what comes next after so long. Null: they are now and then.
    std::function<void(Moment wait)> wake = nullptr;
  };
  explicit LivePage(Parts parts) : parts_(std::move(parts)), journal_(parts_.era) {}

  // Something that is shown may be other than it was.
  void changed();

  const PageDocument* document();
  std::shared_ptr<HttpFeed> follow(std::string_view since);

 private:
  class Follower;
  void refresh();

  const Parts parts_;
  PageJournal journal_;
  PageDocument document_;  // of the journal's last state, once that was asked for
  bool known_ = false;
  bool dirty_ = true;
  Moment next_{0};   // not before that
  Moment stale_{0};  // and at the latest then: what is told of time goes on by itself
};

}  // namespace berth
