// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/world/virtual_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "controller/sim/kube/actor_queue.h"
#include "controller/sim/kube/simulation.h"

namespace berth::sim {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

struct LoopTest : testing::Test {
  std::function<void()> note(std::string what) {
    return [this, what] { seen.push_back(what); };
  }
  VirtualClock clock;
  VirtualLoop loop{clock};
  std::vector<std::string> seen;
};

TEST_F(LoopTest, WorkRunsInTheOrderInWhichItWasPostedAndNeverInline) {
  loop.post([this] {
    loop.post(note("posted by the first"));
    seen.push_back("first");
  });
  loop.post(note("second"));
  EXPECT_TRUE(seen.empty());
  EXPECT_EQ(loop.run_ready(), 3u);
  EXPECT_THAT(seen, ElementsAre("first", "second", "posted by the first"));
}

TEST_F(LoopTest, TimersFireByTimeThenInTheOrderOfTheirMaking) {
  loop.call_after(2s, note("late"));
  loop.call_after(1s, note("early"));
  loop.call_after(1s, note("early too"));
  const Loop::TimerId cancelled = loop.call_after(1s, note("cancelled"));
  loop.cancel(cancelled);
  loop.cancel(cancelled);
  EXPECT_EQ(loop.next_due(), std::optional<MonotonicTime>(1s));
  EXPECT_EQ(loop.run_ready(), 0u);
  clock.move_to(2s);
  loop.run_ready();
  EXPECT_THAT(seen, ElementsAre("early", "early too", "late"));
  EXPECT_EQ(loop.next_due(), std::nullopt);
}

TEST_F(LoopTest, ATimerThatHasFiredCanStillBeCancelledUntilItBegins) {
  Loop::TimerId second = 0;
  loop.call_after(1s, [&] {
    seen.push_back("first");
    loop.cancel(second);
  });
  second = loop.call_after(1s, note("second"));
  clock.move_to(1s);
  loop.run_ready();
  EXPECT_THAT(seen, ElementsAre("first"));
  EXPECT_EQ(loop.timers(), 0u);
}

TEST_F(LoopTest, AWallClockThatIsSetMovesNoTimer) {
  const auto before = loop.wall_now();
  loop.call_after(1s, note("timer"));
  loop.step_wall(24h);
  EXPECT_EQ(loop.wall_now() - before, 24h);
  EXPECT_EQ(loop.run_ready(), 0u);
}

TEST_F(LoopTest, ALoopThatLeftTheWorldRunsToItsEndOnItsOwnTime) {
  loop.call_after(30min, note("half an hour later"));
  bool ended = false;
  loop.call_after(40min, [&] { ended = true; });
  loop.call_after(50min, note("after the end"));
  loop.run_alone_until([&] { return ended; });
  EXPECT_THAT(seen, ElementsAre("half an hour later"));
  EXPECT_EQ(clock.now(), 0ns);
}

TEST(Simulation, AFrozenProgramHearsOfTimeOnlyWhenItThaws) {
  Simulation world(1);
  VirtualLoop program(world.clock());
  world.add(program);
  std::vector<std::chrono::nanoseconds> fired;
  const auto fire = [&] { fired.push_back(program.now()); };
  program.call_after(1s, fire);
  program.call_after(10s, fire);
  world.run_for(2s);
  world.remove(program);
  world.run_for(60s);
  EXPECT_THAT(fired, ElementsAre(1s));
  world.add(program);
  world.run_for(1s);
  EXPECT_THAT(fired, ElementsAre(1s, 62s));
}

TEST(ActorQueue, AKeyThatWaitsIsLookedAtAtTheEarlierOfBothTimes) {
  Simulation world(1);
  std::vector<std::chrono::nanoseconds> looks;
  ActorQueue queue(world, 100ms, [&](const StoreKey&) { looks.push_back(world.now()); });
  const StoreKey key{nullptr, "", "n1"};
  queue.wake(key, 60s);
  queue.wake(key, 10s);
  queue.wake(key, 30s);
  world.run_for(5min);
  EXPECT_THAT(looks, ElementsAre(10s));
  queue.wake(key, 60s);
  queue.wake(key);
  world.run_for(1s);
  EXPECT_EQ(looks.size(), 2u);
}

TEST(Random, EqualSeedsGiveEqualNumbersOnEveryMachine) {
  Random random(42);
  EXPECT_EQ(random.next(), 13679457532755275413u);
  EXPECT_EQ(random.next(), 2949826092126892291u);
  EXPECT_EQ(Random(7).uuid(), Random(7).uuid());
  EXPECT_EQ(Random(7).uuid().size(), 36u);
}

}  // namespace
}  // namespace berth::sim
