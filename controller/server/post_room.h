// SPDX-License-Identifier: Apache-2.0
// PostRoom: what the bodies of a server's POSTs may hold while they are on their way. A body is
// charged what has come of it, whatever length was announced, and small ones have a room of their
// own, which no large one can take. Where there is no room for more, whoever has been on its way
// for longest loses its place: nobody is refused because others came first and then stood still,
// and a body that comes as fast as a network carries it is never the oldest for long.
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
  // One POST's, held until its body is gone. The room must outlive it.
  class Place {
   public:
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    // So many more bytes came. False: it lost its place over them.
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

  // Half of the bytes are for small bodies, half for larger ones, of which there may be an eighth
  // as many. `on_large_gone` is called whenever a body of kLargeBody and more has gone.
  PostRoom(int posts, std::size_t bytes, std::function<void()> on_large_gone = {});
  PostRoom(const PostRoom&) = delete;
  PostRoom& operator=(const PostRoom&) = delete;
  ~PostRoom();

  static constexpr std::size_t kLargeBody = 1 << 20;

  // For a body of this announced length. `on_lost` has to let go of what has come of it, and must
  // not end the place.
  std::unique_ptr<Place> take(std::uint64_t length, std::function<void()> on_lost);
  bool empty() const;

 private:
  const std::function<void()> on_large_gone_;
  const std::unique_ptr<Place::Lane> small_, large_;
};

}  // namespace berth
