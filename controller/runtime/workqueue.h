// SPDX-License-Identifier: Apache-2.0
// WorkQueue: which keys are to be reconciled, each at most once at a time. A key added while it is
// being worked on is handed out again afterwards. Loop thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controller/client/token_bucket.h"
#include "controller/io/loop.h"

namespace berth {

// What a queue tells of itself; metrics.h counts it.
class QueueObserver {
 public:
  virtual ~QueueObserver() = default;
  virtual void on_depth(std::size_t depth) = 0;
  virtual void on_add() = 0;
  virtual void on_retry() = 0;
  virtual void on_start(std::chrono::nanoseconds waited) = 0;
  virtual void on_done(std::chrono::nanoseconds worked) = 0;
};

class WorkQueue {
 public:
  struct Options {
    std::chrono::nanoseconds first_backoff = std::chrono::milliseconds(5);
    std::chrono::nanoseconds longest_backoff = std::chrono::seconds(60);
    // All keys' retries together, as client-go has it: many keys that fail at once, each with a
    // short backoff of its own, must not become a storm.
    TokenBucket retries{10, 100};
    // Keys with such a prefix start at most once in the interval.
    std::vector<std::pair<std::string, std::chrono::nanoseconds>> min_intervals;
    // Keys with such a prefix overtake the others.
    std::vector<std::string> urgent_prefixes;
  };
  // `on_ready` is called when a key may be taken; it must not take it inline.
  WorkQueue(Loop& loop, QueueObserver& observer, Options options, std::function<void()> on_ready);
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;
  ~WorkQueue();

  void add(const std::string& key);
  // The earliest of several delays counts.
  void add_after(const std::string& key, std::chrono::nanoseconds delay);
  // After a failure: 5 ms, doubled for each in a row, up to a minute; or later, when its turn comes
  // among all that failed.
  void add_rate_limited(const std::string& key);
  void forget(const std::string& key) { failures_.erase(key); }

  // The next key, which is then in work until done().
  std::optional<std::string> take();
  void done(const std::string& key);

  // Nothing is handed out or accepted any more; what is in work may still be done().
  void shut_down();

  std::size_t depth() const { return urgent_.size() + ready_.size(); }
  std::uint32_t failures(const std::string& key) const;
  // How long the keys now in work have been, summed and at most.
  struct Unfinished {
    std::chrono::nanoseconds total{0};
    std::chrono::nanoseconds longest{0};
  };
  Unfinished unfinished() const;

 private:
  struct Delayed {
    MonotonicTime due;
    Loop::TimerId timer;
  };
  struct Ready {
    std::string key;
    MonotonicTime since;
  };
  void make_ready(const std::string& key);
  std::chrono::nanoseconds min_interval(std::string_view key) const;

  Loop& loop_;
  QueueObserver& observer_;
  const Options options_;
  std::function<void()> on_ready_;
  TokenBucket retries_;
  bool shut_down_ = false;
  std::deque<Ready> urgent_;  // handed out first
  std::deque<Ready> ready_;
  std::set<std::string, std::less<>> dirty_;  // in one of these, or to be once their work is done
  std::map<std::string, MonotonicTime> working_;  // since when
  std::map<std::string, Delayed> delayed_;
  std::map<std::string, std::uint32_t> failures_;     // in a row
  std::map<std::string, MonotonicTime> last_starts_;  // of keys with a min_interval
};

}  // namespace berth
