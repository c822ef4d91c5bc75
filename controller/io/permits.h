// SPDX-License-Identifier: Apache-2.0
// Permits: limits how many operations run at once. Waiting callers are served round-robin by key: a
// node with a hundred pods must not delay the one step of another node. Loop thread only.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "controller/io/loop.h"
#include "controller/io/task.h"

namespace berth {

class Permits {
 public:
  // Held until it is destroyed. Movable; an empty one holds nothing.
  class Permit {
   public:
    Permit() = default;
    explicit Permit(Permits* owner) : owner_(owner) {}
    Permit(Permit&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)) {}
    Permit& operator=(Permit&& other) noexcept {
      std::swap(owner_, other.owner_);
      return *this;
    }
    ~Permit() {
      if (owner_ != nullptr) owner_->give_back();
    }

   private:
    Permits* owner_ = nullptr;
  };

  Permits(Loop& loop, std::size_t count) : loop_(loop), free_(count) {}
  Permits(const Permits&) = delete;
  Permits& operator=(const Permits&) = delete;

  // The wait has no limit of its own; the holders' deadlines bound it.
  Task<Permit> acquire(std::string key = std::string()) {
    if (free_ > 0) {
      --free_;
      co_return Permit(this);
    }
    const Turn turn = std::make_shared<Handoff<bool>>(loop_);
    std::deque<Turn>& queue = waiting_[key];
    if (queue.empty()) order_.push_back(key);
    queue.push_back(turn);
    co_await turn->wait();
    co_return Permit(this);
  }
  std::size_t free() const { return free_; }

 private:
  using Turn = std::shared_ptr<Handoff<bool>>;
  void give_back() {
    if (order_.empty()) {
      ++free_;
      return;
    }
    std::string key = std::move(order_.front());
    order_.pop_front();
    const auto queue = waiting_.find(key);
    const Turn next = std::move(queue->second.front());
    queue->second.pop_front();
    if (queue->second.empty())
      waiting_.erase(queue);
    else
      order_.push_back(std::move(key));
    next->set(true);
  }

  Loop& loop_;
  std::size_t free_;
  std::map<std::string, std::deque<Turn>> waiting_;  // by key; no queue is empty
  std::deque<std::string> order_;                    // the keys of waiting_, in turn
};

}  // namespace berth
