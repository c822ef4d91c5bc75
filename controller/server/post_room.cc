// SPDX-License-Identifier: Apache-2.0
#include "controller/server/post_room.h"

#include <algorithm>
#include <utility>

namespace berth {

struct PostRoom::Place::Lane {
  const std::size_t posts;
  std::size_t free_bytes;
  std::list<Place*> places;  // oldest first
};

PostRoom::PostRoom(int posts, std::size_t bytes, std::function<void()> on_large_gone)
    : on_large_gone_(std::move(on_large_gone)),
      small_(new Place::Lane{static_cast<std::size_t>(std::max(posts, 1)), bytes / 2, {}}),
      large_(new Place::Lane{static_cast<std::size_t>(std::max(posts / 8, 1)), bytes / 2, {}}) {}

PostRoom::~PostRoom() = default;

std::unique_ptr<PostRoom::Place> PostRoom::take(std::uint64_t length,
                                                std::function<void()> on_lost) {
  Place::Lane& lane = length <= kSmallBody ? *small_ : *large_;
  if (lane.places.size() >= lane.posts) lane.places.front()->lose();
  return std::unique_ptr<Place>(new Place(*this, lane, std::move(on_lost)));
}

bool PostRoom::empty() const { return small_->places.empty() && large_->places.empty(); }

PostRoom::Place::Place(PostRoom& room, Lane& lane, std::function<void()> on_lost)
    : room_(room),
      lane_(lane),
      on_lost_(std::move(on_lost)),
      here_(lane.places.insert(lane.places.end(), this)) {}

PostRoom::Place::~Place() {
  const bool was_large = bytes_ >= kLargeBody;
  if (!lost_) leave();
  if (was_large && room_.on_large_gone_) room_.on_large_gone_();
}

bool PostRoom::Place::hold(std::size_t bytes) {
  while (!lost_ && lane_.free_bytes < bytes) lane_.places.front()->lose();
  if (lost_) return false;
  lane_.free_bytes -= bytes;
  bytes_ += bytes;
  return true;
}

void PostRoom::Place::leave() {
  lane_.places.erase(here_);
  lane_.free_bytes += bytes_;
}

void PostRoom::Place::lose() {
  leave();
  lost_ = true;
  on_lost_();
}

}  // namespace berth
