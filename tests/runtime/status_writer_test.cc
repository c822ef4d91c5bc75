// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/status_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/runtime/world.h"

namespace berth {
namespace {

using namespace std::chrono_literals;

class StatusWriterTest : public ::testing::Test {
 protected:
  StatusWriterTest() {
    world_.transport.respond_with([](const HttpRequest&) {
      return FakeReply{200, R"({"metadata":{"resourceVersion":"9"}})"};
    });
  }
  static StatusUpdate status(int object, bool urgent = false) {
    return {.object = {"MIGLayout", "", "l" + std::to_string(object), "u"},
            .body = R"({"status":{}})",
            .differs = true,
            .urgent = urgent};
  }
  void write(const StatusUpdate& update) {
    auto task = [](StatusWriter& writer, StatusUpdate what) -> Task<void> {
      Origin origin{.key = what.object.name};
      co_await writer.write(origin, what, kKind<MIGLayout>, 30s);
    };
    spawn(world_.loop, task(writer_, update));
    world_.settle();
  }
  // As the executor does, whenever the object comes up: its next turn, in so long.
  std::chrono::nanoseconds look_at(int object) {
    const StatusUpdate update = status(object);
    const auto due = writer_.due_in(update);
    if (due) return *due;
    write(update);
    return 0s;
  }
  // Objects that want another status all the time; how many each had in so long.
  std::vector<int> busy(int objects, std::chrono::nanoseconds span) {
    std::vector<int> written(static_cast<std::size_t>(objects));
    for (const MonotonicTime end = world_.loop.now() + span; world_.loop.now() < end;
         world_.loop.run_for(100ms))
      for (int i = 0; i < objects; ++i)
        if (look_at(i) == 0s) ++written[static_cast<std::size_t>(i)];
    return written;
  }

  World world_;
  WriteBarrier barrier_{world_.loop,
                        WriteBarrier::Hooks{.cached =
                                                [](const ObjectRef&) {
                                                  return CachedVersion{"u", "9", false};
                                                },
                                            .refetch = [](const ObjectRef&) {},
                                            .released = [](const std::string&) {}}};
  StatusWriter writer_{StatusWriter::Parts{world_.client, world_.log, world_.metrics, barrier_},
                       {}};
};

TEST_F(StatusWriterTest, TheMoreObjectsWantAStatusTheLongerWaitsEach) {
  struct Case {
    int objects, least_each, most_together;
  };
  // In a minute. Twenty a second are shared, after ten seconds' worth at once.
  for (const Case& c : {Case{1, 12, 13}, Case{50, 12, 650}, Case{400, 2, 1401}}) {
    SCOPED_TRACE(c.objects);
    world_.loop.run_for(10min);
    int together = 0;
    for (const int each : busy(c.objects, 1min)) {
      EXPECT_GE(each, c.least_each);
      together += each;
    }
    EXPECT_LE(together, c.most_together);
  }
}

TEST_F(StatusWriterTest, APlaceInThePaceIsTakenOnceHoweverOftenTheObjectIsLookedAt) {
  EXPECT_EQ(look_at(1), 0s);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(look_at(1), 5s);
  EXPECT_EQ(look_at(2), 0s) << "another's is not held up by them";
  world_.loop.run_for(5s);
  EXPECT_EQ(look_at(1), 0s);
}

TEST_F(StatusWriterTest, AnUrgentStatusWaitsForNobodyAndBeginsAPeriod) {
  busy(400, 20s);
  EXPECT_EQ(writer_.due_in(status(0, /*urgent=*/true)), std::nullopt);
  write(status(0, /*urgent=*/true));
  EXPECT_GE(look_at(0), 5s);
}

TEST_F(StatusWriterTest, AStatusThatWasNotWrittenMayComeAtOnce) {
  world_.transport.respond_with([](const HttpRequest&) {
    return FakeReply{409, status_json(409, "Conflict")};
  });
  EXPECT_EQ(look_at(1), 0s);
  EXPECT_EQ(look_at(1), 0s);
  EXPECT_EQ(world_.sent().size(), 2u);
}

}  // namespace
}  // namespace berth
