// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/workqueue.h"

#include <algorithm>
#include <utility>

namespace berth {

WorkQueue::WorkQueue(Loop& loop, QueueObserver& observer, Options options,
                     std::function<void()> on_ready)
    : loop_(loop),
      observer_(observer),
      options_(std::move(options)),
      on_ready_(std::move(on_ready)),
      retries_(options_.retries) {}

WorkQueue::~WorkQueue() { shut_down(); }

void WorkQueue::add(const std::string& key) {
  if (shut_down_) return;
  if (const auto it = delayed_.find(key); it != delayed_.end()) {
    loop_.cancel(it->second.timer);
    delayed_.erase(it);
  }
  if (dirty_.contains(key)) return;
  if (const auto interval = min_interval(key); interval.count() > 0 && !working_.contains(key)) {
    const auto last = last_starts_.find(key);
    if (last != last_starts_.end() && loop_.now() < last->second + interval) {
      add_after(key, last->second + interval - loop_.now());
      return;
    }
  }
  dirty_.insert(key);
  observer_.on_add();
  if (!working_.contains(key)) make_ready(key);
}

void WorkQueue::add_after(const std::string& key, std::chrono::nanoseconds delay) {
  if (shut_down_) return;
  if (delay.count() <= 0) return add(key);
  const MonotonicTime due = loop_.now() + delay;
  if (const auto it = delayed_.find(key); it != delayed_.end()) {
    if (it->second.due <= due) return;
    loop_.cancel(it->second.timer);
    delayed_.erase(it);
  }
  const Loop::TimerId timer = loop_.call_after(delay, [this, key] {
    delayed_.erase(key);
    add(key);
  });
  delayed_.emplace(key, Delayed{due, timer});
}

void WorkQueue::add_rate_limited(const std::string& key) {
  const std::uint32_t doublings = std::min<std::uint32_t>(failures_[key]++, 30);
  observer_.on_retry();
  const auto own =
      std::min(options_.first_backoff * (std::int64_t{1} << doublings), options_.longest_backoff);
  add_after(key, std::max(own, retries_.take(loop_.now())));
}

std::optional<std::string> WorkQueue::take() {
  std::deque<Ready>& queue = urgent_.empty() ? ready_ : urgent_;
  if (shut_down_ || queue.empty()) return std::nullopt;
  const Ready next = std::move(queue.front());
  queue.pop_front();
  dirty_.erase(next.key);
  working_[next.key] = loop_.now();
  if (min_interval(next.key).count() > 0) last_starts_[next.key] = loop_.now();
  observer_.on_depth(depth());
  observer_.on_start(loop_.now() - next.since);
  return next.key;
}

void WorkQueue::done(const std::string& key) {
  const auto it = working_.find(key);
  if (it == working_.end()) return;
  observer_.on_done(loop_.now() - it->second);
  working_.erase(it);
  if (dirty_.erase(key) > 0) add(key);
}

void WorkQueue::shut_down() {
  shut_down_ = true;
  for (const auto& [key, delayed] : delayed_) loop_.cancel(delayed.timer);
  delayed_.clear();
  urgent_.clear();
  ready_.clear();
  dirty_.clear();
}

std::uint32_t WorkQueue::failures(const std::string& key) const {
  const auto it = failures_.find(key);
  return it == failures_.end() ? 0 : it->second;
}

WorkQueue::Unfinished WorkQueue::unfinished() const {
  Unfinished unfinished;
  for (const auto& [key, since] : working_) {
    unfinished.total += loop_.now() - since;
    unfinished.longest = std::max(unfinished.longest, loop_.now() - since);
  }
  return unfinished;
}

void WorkQueue::make_ready(const std::string& key) {
  const bool urgent =
      std::any_of(options_.urgent_prefixes.begin(), options_.urgent_prefixes.end(),
                  [&](const std::string& prefix) { return key.starts_with(prefix); });
  (urgent ? urgent_ : ready_).push_back({key, loop_.now()});
  observer_.on_depth(depth());
  on_ready_();
}

std::chrono::nanoseconds WorkQueue::min_interval(std::string_view key) const {
  for (const auto& [prefix, interval] : options_.min_intervals)
    if (key.substr(0, prefix.size()) == prefix) return interval;
  return std::chrono::nanoseconds(0);
}

}  // namespace berth
