// SPDX-License-Identifier: Apache-2.0
#include "controller/server/live_page.h"

#include <algorithm>
#include <utility>

namespace berth {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds kGathers = 30ms;  // changes within this time are sent together
constexpr std::chrono::nanoseconds kAtMostEvery = 200ms;
constexpr std::chrono::nanoseconds kAtLeastEvery = 15s;
// A state that is expensive to compute is computed less often, so that the loop has time for other
// work.
constexpr int kRest = 4;
constexpr char kHello[] = "retry: 2000\n\n";  // milliseconds until a browser reconnects

}  // namespace

// A viewer that has one state and gets the later changes. It reads the journal's own text, so that
// many viewers cost no more than their bytes.
class LivePage::Follower final : public HttpFeed {
 public:
  Follower(LivePage& page, std::string_view since) : page_(page), has_(since) {}

  void next(std::string& out) override {
    if (!std::exchange(greeted_, true)) out += kHello;
    page_.refresh();
    const PageJournal& journal = page_.journal_;
    if (!page_.known_ || has_ == journal.id()) return;
    const std::optional<std::size_t> first = journal.first_after(has_);
    has_ = journal.id();
    if (!first) {
      out += "event: again\nid: " + has_ + "\ndata: {}\n\n";
      return;
    }
    for (std::size_t i = *first; i < journal.count(); ++i) {
      const PageJournal::Change& change = journal.change(i);
      out += "id: " + change.id + "\ndata: ";
      out += change.json;
      out += "\n\n";
    }
  }

 private:
  LivePage& page_;
  std::string has_;
  bool greeted_ = false;
};

void LivePage::changed() {
  if (std::exchange(dirty_, true) || !parts_.wake) return;
  parts_.wake(std::max<Moment>(kGathers, next_ - parts_.now()));
}

void LivePage::refresh() {
  const Moment begun = parts_.now();
  if (begun < next_ || !(dirty_ || begun >= stale_)) return;
  std::optional<PageState> state = parts_.state();
  if (!state) return;
  known_ = true;
  dirty_ = false;
  journal_.take(*std::move(state));
  const Moment done = parts_.now();
  next_ = done + std::max<Moment>(kAtMostEvery, kRest * (done - begun));
  stale_ = done + kAtLeastEvery;
}

const PageDocument* LivePage::document() {
  refresh();
  if (!known_) return nullptr;
  if (std::string id = journal_.id(); document_.id != id)
    document_ = {.id = id, .json = print_json(journal_.state(), id)};
  return &document_;
}

std::shared_ptr<HttpFeed> LivePage::follow(std::string_view since) {
  return std::make_shared<Follower>(*this, since);
}

}  // namespace berth
