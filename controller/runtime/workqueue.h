// SPDX-License-Identifier: Apache-2.0
// WorkQueue: the keys to reconcile, each at most once at a time. If a key is added while it is
// being processed, the queue returns it again afterwards. Loop thread only.
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

// What a queue reports about itself; metrics.h counts it.
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
    // For the retries of all keys together, as in client-go: many keys that fail at once, each with
    // a short backoff, must not cause a storm of requests.
    TokenBucket retries{10, 100};
    // Keys with such a prefix start at most once per interval.
    std::vector<std::pair<std::string, std::chrono::nanoseconds>> min_intervals;
    // Keys with such a prefix run before the others.
    std::vector<std::string> urgent_prefixes;
  };
  // `on_ready` is called when a key is ready; it must not call take() itself.
  WorkQueue(Loop& loop, QueueObserver& observer, Options options, std::function<void()> on_ready);
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;
  ~WorkQueue();

  void add(const std::string& key);
  // The earliest of several delays counts.
  void add_after(const std::string& key, std::chrono::nanoseconds delay);
  // After a failure: waits 5 ms, doubled for each failure in a row, up to a minute, and longer if
  // many keys have failed.
  void add_rate_limited(const std::string& key);
  void forget(const std::string& key) { failures_.erase(key); }

  // The next key; it is in progress until done().
  std::optional<std::string> take();
  void done(const std::string& key);

  // No key is returned or accepted any more; keys in progress may still call done().
  void shut_down();

  std::size_t depth() const { return urgent_.size() + ready_.size(); }
  std::uint32_t failures(const std::string& key) const;
  // The age of the keys in progress: their sum and the largest.
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
  std::set<std::string, std::less<>> dirty_;      // in one of these, or added while in progress
  std::map<std::string, MonotonicTime> working_;  // keys in progress, since when
  std::map<std::string, Delayed> delayed_;
  std::map<std::string, std::uint32_t> failures_;     // in a row
  std::map<std::string, MonotonicTime> last_starts_;  // for keys with a min_interval
};

}  // namespace berth
