// SPDX-License-Identifier: Apache-2.0
// PostRoom: limits the memory of arriving POST bodies. A body counts with the bytes that have
// arrived, whatever length it announced. Small bodies have their own space, which large ones can't
// use. If there is no space, the body that has been arriving longest loses its place. So stalled
// requests can't block others, and a body at network speed is never the oldest for long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>

namespace berth {

// Nearly all reviews are smaller.
inline constexpr std::size_t kSmallBody = 64 << 10;

class PostRoom {
 public:
  // The place of one POST, held until its body is freed. The room must outlive it.
  class Place {
   public:
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    // Counts new bytes. False: it lost its place because of them.
    bool hold(std::size_t bytes);
    bool lost() const { return lost_; }

   private:
    friend class PostRoom;
    struct Lane;
    Place(PostRoom& room, Lane& lane, std::function<void()> on_lost);
    void leave();
    void lose();

    PostRoom& room_;
    Lane& lane_;
    const std::function<void()> on_lost_;
    std::list<Place*>::iterator here_;
    std::size_t bytes_ = 0;
    bool lost_ = false;
  };

  // Half of the bytes are for small bodies and half for larger ones. There may be an eighth as many
  // larger ones. `on_large_gone` is called after each body of kLargeBody or more is freed.
  PostRoom(int posts, std::size_t bytes, std::function<void()> on_large_gone = {});
  PostRoom(const PostRoom&) = delete;
  PostRoom& operator=(const PostRoom&) = delete;
  ~PostRoom();

  static constexpr std::size_t kLargeBody = 1 << 20;

  // For a body of this announced length. `on_lost` must free the part that has arrived, and must
  // not destroy the place.
  std::unique_ptr<Place> take(std::uint64_t length, std::function<void()> on_lost);
  bool empty() const;

 private:
  const std::function<void()> on_large_gone_;
  const std::unique_ptr<Place::Lane> small_, large_;
};

}  // namespace berth
