// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/cycle/lightest.h"

#include <utility>

namespace berth::queue {
namespace {

class Search {
 public:
  explicit Search(const Takeable& things)
      : things_(things), chosen_(things.weights.size(), true), best_(chosen_) {}

  std::vector<bool> run() {
    for (const std::int64_t weight : things_.weights) least_.first += weight;
    least_.second = best_.size() + 1;
    visit(0, {});
    for (std::size_t i = 0; i < best_.size(); ++i)
      if (!best_[i]) things_.move(i, false);
    return std::move(best_);
  }

 private:
  using Cost = std::pair<std::int64_t, std::size_t>;  // weight, and number of things

  // On entry the taken things suffice: all from `next` on, and the chosen ones before it.
  void visit(std::size_t next, Cost cost) {
    if (cost >= least_) return;
    if (next == chosen_.size()) {
      least_ = cost;
      best_ = chosen_;
      return;
    }
    things_.move(next, false);
    chosen_[next] = false;
    if (things_.suffices()) visit(next + 1, cost);
    things_.move(next, true);
    chosen_[next] = true;
    visit(next + 1, {cost.first + things_.weights[next], cost.second + 1});
  }

  const Takeable& things_;
  std::vector<bool> chosen_, best_;
  Cost least_{};
};

}  // namespace

std::vector<bool> take_lightest(const Takeable& things) { return Search(things).run(); }

}  // namespace berth::queue
