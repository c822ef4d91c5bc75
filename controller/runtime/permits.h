// SPDX-License-Identifier: Apache-2.0
// Permits: at most so many of something at once; the others wait in order. Loop thread only.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
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

  // Bounded by the deadlines of those who hold the permits.
  Task<Permit> acquire() {
    if (free_ > 0) {
      --free_;
      co_return Permit(this);
    }
    auto turn = std::make_shared<Handoff<bool>>(loop_);
    waiting_.push_back(turn);
    co_await turn->wait();
    co_return Permit(this);
  }
  std::size_t free() const { return free_; }

 private:
  void give_back() {
    if (waiting_.empty()) {
      ++free_;
      return;
    }
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    next->set(true);
  }

  Loop& loop_;
  std::size_t free_;
  std::deque<std::shared_ptr<Handoff<bool>>> waiting_;
};

}  // namespace berth
