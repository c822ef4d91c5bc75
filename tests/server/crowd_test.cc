// SPDX-License-Identifier: Apache-2.0
// Which connection goes when there is no place for one more.
#include "controller/server/crowd.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

using State = Standing::State;

PeerAddress peer(std::uint8_t last) {
  PeerAddress address{};
  address[15] = last;
  return address;
}

TEST(Crowd, TheOneThatGoesIs) {
  struct Case {
    const char* which;
    std::vector<Standing> all;
    std::size_t goes;
  };
  const PeerAddress a = peer(1), b = peer(2), c = peer(3);
  const Case cases[] = {
      {"the longest silent, not the one that is kept",
       {{a, State::kIdle, 1}, {b, State::kNew, 3}, {c, State::kNew, 2}},
       2},
      {"of those that asked once, the longest idle, where they crowd",
       {{a, State::kIdle, 5}, {b, State::kIdle, 4}, {c, State::kNew, 1}},
       1},
      {"none in the middle of a request, while another is idle",
       {{a, State::kBusy, 1}, {b, State::kIdle, 9}, {c, State::kBusy, 2}},
       1},
      {"of busy ones the one that has been for longest",
       {{a, State::kBusy, 2}, {b, State::kBusy, 1}, {c, State::kBusy, 3}},
       1},
      {"one that has been told everything, before all others",
       {{a, State::kNew, 1}, {b, State::kTold, 9}, {c, State::kNew, 2}},
       1},
      {"one of the address that holds more than half, though others are idle for longer",
       {{a, State::kNew, 1}, {b, State::kIdle, 8}, {b, State::kIdle, 7}, {b, State::kBusy, 2}},
       2},
      {"of the address that crowds, one of its larger group",
       {{a, State::kNew, 1}, {b, State::kBusy, 8}, {b, State::kBusy, 9}, {b, State::kNew, 2}},
       1},
      {"any, where an address holds half of them and no more",
       {{a, State::kNew, 5}, {a, State::kNew, 4}, {b, State::kNew, 1}, {c, State::kNew, 6}},
       2},
      {"the only one there is", {{a, State::kBusy, 1}}, 0},
  };
  for (const Case& one : cases) EXPECT_EQ(choose_who_goes(one.all), one.goes) << one.which;
}

}  // namespace
}  // namespace berth
