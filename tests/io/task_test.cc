// SPDX-License-Identifier: Apache-2.0
#include "controller/io/task.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "controller/io/deadline.h"
#include "controller/io/task_group.h"
#include "tests/io/fake_loop.h"

namespace berth {
namespace {

using namespace std::chrono_literals;

TEST(FakeLoop, ATimerThatHasFiredCanStillBeCancelledUntilItBegins) {
  FakeLoop loop;
  std::vector<std::string> order;
  Loop::TimerId second = 0;
  loop.call_after(1s, [&] {
    order.push_back("first");
    loop.cancel(second);
    loop.cancel(second);
  });
  second = loop.call_after(1s, [&] { order.push_back("second"); });
  EXPECT_TRUE(loop.run_until_idle());
  EXPECT_EQ(order, std::vector<std::string>{"first"});
}

Task<int> at_once(int value) { co_return value; }

Task<std::string> after(std::chrono::nanoseconds delay, std::string value, std::stop_token stop) {
  const bool slept = co_await sleep_for(delay, stop);
  co_return slept ? value : "stopped";
}

Task<std::string> nested(int depth) {
  if (depth == 0) {
    co_return co_await after(1s, "bottom", std::stop_token());
  }
  std::string below = co_await nested(depth - 1);
  co_return below + "<";
}

TEST(Task, StartsOnlyThroughTheQueue) {
  FakeLoop loop;
  bool ran = false;
  auto task = [](bool& flag) -> Task<void> {
    flag = true;
    co_return;
  };
  spawn(loop, task(ran));
  EXPECT_FALSE(ran);
  loop.run_ready();
  EXPECT_TRUE(ran);
}

TEST(Task, PassesValuesThroughDeepNesting) {
  FakeLoop loop;
  std::string got;
  auto task = [](std::string& out) -> Task<void> { out = co_await nested(50); };
  spawn(loop, task(got));
  EXPECT_TRUE(loop.run_until_idle());
  EXPECT_EQ(got, "bottom" + std::string(50, '<'));
  EXPECT_EQ(loop.now(), 1s);
}

// A million awaits that finish at once would not fit, if each needed some stack.
TEST(Task, LongLoopOfSynchronousTasksDoesNotGrowTheStack) {
  FakeLoop loop;
  long sum = 0;
  auto task = [](long& out) -> Task<void> {
    for (int i = 0; i < 1'000'000; ++i) out += co_await at_once(1);
  };
  spawn(loop, task(sum));
  loop.run_ready();
  EXPECT_EQ(sum, 1'000'000);
}

TEST(Task, LongLoopOfSuspendingTasksDoesNotGrowTheStack) {
  FakeLoop loop;
  int count = 0;
  auto task = [](int& out) -> Task<void> {
    for (int i = 0; i < 50'000; ++i) {
      if (co_await sleep_for(1ns, std::stop_token())) ++out;
    }
  };
  spawn(loop, task(count));
  EXPECT_TRUE(loop.run_until_idle());
  EXPECT_EQ(count, 50'000);
}

TEST(Task, WakesInTheOrderOfPosting) {
  FakeLoop loop;
  std::vector<std::string> order;
  auto task = [](std::string name, std::chrono::nanoseconds delay,
                 std::vector<std::string>& out) -> Task<void> {
    out.push_back(name + " starts");
    co_await sleep_for(delay, std::stop_token());
    out.push_back(name + " ends");
  };
  spawn(loop, task("a", 20ms, order));
  spawn(loop, task("b", 10ms, order));
  spawn(loop, task("c", 10ms, order));
  EXPECT_TRUE(order.empty());
  loop.run_until_idle();
  EXPECT_EQ(order, (std::vector<std::string>{"a starts", "b starts", "c starts", "b ends", "c ends",
                                             "a ends"}));
}

TEST(Task, DoneIsCalledWhenTheFrameIsGone) {
  FakeLoop loop;
  auto witness = std::make_shared<int>(1);
  long uses_when_done = 0;
  auto task = [](std::shared_ptr<int> held) -> Task<void> {
    co_await sleep_for(1s, std::stop_token());
    held.reset();
  };
  spawn(loop, task(witness), [&] { uses_when_done = witness.use_count(); });
  loop.run_until_idle();
  EXPECT_EQ(uses_when_done, 1);
}

TEST(Task, LoopDestroyedBeforeATaskStartedFreesIt) {
  auto witness = std::make_shared<int>(1);
  {
    FakeLoop loop;
    auto task = [](std::shared_ptr<int> held) -> Task<void> {
      held.reset();
      co_return;
    };
    spawn(loop, task(witness));
  }
  EXPECT_EQ(witness.use_count(), 1);
}

TEST(SleepFor, StopWakesThroughTheQueueAndCancelsTheTimer) {
  FakeLoop loop;
  std::stop_source stop;
  std::string got;
  auto task = [](std::stop_token token, std::string& out) -> Task<void> {
    out = co_await after(1h, "slept", token);
  };
  spawn(loop, task(stop.get_token(), got));
  loop.run_for(1s);
  stop.request_stop();
  EXPECT_EQ(got, "");  // never inside request_stop()
  loop.run_ready();
  EXPECT_EQ(got, "stopped");
  EXPECT_EQ(loop.timers(), 0u);
}

// The timer fires and stop is requested in the same turn: the sleeper wakes once and is freed
// before the second wake-up runs.
TEST(SleepFor, TimerAndStopTogetherWakeOnce) {
  FakeLoop loop;
  std::stop_source stop;
  int wakes = 0;
  auto task = [](std::stop_token token, int& out) -> Task<void> {
    co_await sleep_for(5s, token);
    ++out;
  };
  loop.call_after(5s, [&] { stop.request_stop(); });
  spawn(loop, task(stop.get_token(), wakes));
  loop.run_ready();
  loop.call_after(5s, [&] { stop.request_stop(); });
  loop.run_until_idle();
  EXPECT_EQ(wakes, 1);
}

TEST(SleepFor, AlreadyStoppedDoesNotSuspend) {
  FakeLoop loop;
  std::stop_source stop;
  stop.request_stop();
  std::string got;
  auto task = [](std::stop_token token, std::string& out) -> Task<void> {
    out = co_await after(1h, "slept", token);
  };
  spawn(loop, task(stop.get_token(), got));
  loop.run_ready();
  EXPECT_EQ(got, "stopped");
}

TEST(Handoff, GivesTheValueWhicheverSideComesFirst) {
  for (const bool set_first : {true, false}) {
    FakeLoop loop;
    auto handoff = std::make_shared<Handoff<std::string>>(loop);
    std::string got;
    auto task = [](std::shared_ptr<Handoff<std::string>> h, std::string& out) -> Task<void> {
      out = co_await h->wait();
    };
    if (set_first) handoff->set("value");
    spawn(loop, task(handoff, got));
    loop.run_ready();
    if (!set_first) {
      EXPECT_EQ(got, "");
      handoff->set("value");
      handoff->set("ignored");
      EXPECT_EQ(got, "");  // never inside set()
    }
    loop.run_ready();
    EXPECT_EQ(got, "value");
  }
}

TEST(Deadline, StopsByTimeByParentOrByHand) {
  FakeLoop loop;
  std::stop_source parent;
  Deadline by_time(loop, 10s, parent.get_token());
  Deadline by_parent(loop, 60s, parent.get_token());
  Deadline by_hand(loop, 60s, parent.get_token());
  by_hand.request_stop();
  EXPECT_TRUE(by_hand.token().stop_requested());
  EXPECT_FALSE(parent.stop_requested());

  loop.run_for(4s);
  EXPECT_EQ(by_time.left(), 6s);
  loop.run_for(6s);
  EXPECT_TRUE(by_time.token().stop_requested());
  EXPECT_TRUE(by_time.expired());
  EXPECT_FALSE(by_parent.token().stop_requested());

  parent.request_stop();
  EXPECT_TRUE(by_parent.token().stop_requested());
  loop.run_until_idle();
  EXPECT_FALSE(by_parent.expired());
  EXPECT_FALSE(by_hand.expired());
}

TEST(TaskGroup, StopEndsEveryTaskThenSaysSo) {
  FakeLoop loop;
  TaskGroup group(loop);
  int ended = 0;
  bool empty = false;
  auto forever = [](std::stop_token stop, int& out) -> Task<void> {
    while (co_await sleep_for(1s, stop)) {
    }
    ++out;
  };
  for (int i = 0; i < 3; ++i) group.spawn(forever(group.token(), ended));
  loop.run_for(10s);
  EXPECT_EQ(group.running(), 3u);
  group.stop([&] {
    EXPECT_EQ(ended, 3);
    empty = true;
  });
  loop.run_ready();
  EXPECT_TRUE(empty);
  EXPECT_EQ(group.running(), 0u);
  EXPECT_EQ(loop.timers(), 0u);
}

TEST(TaskGroup, StopOfAnEmptyGroupIsPosted) {
  FakeLoop loop;
  TaskGroup group(loop);
  bool empty = false;
  group.stop([&] { empty = true; });
  EXPECT_FALSE(empty);
  loop.run_ready();
  EXPECT_TRUE(empty);
}

}  // namespace
}  // namespace berth
