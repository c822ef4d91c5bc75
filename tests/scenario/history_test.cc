// SPDX-License-Identifier: Apache-2.0
// The history as it is kept on the simulated API server: across crashes, for how long, and how much
// of it.
#include "controller/runtime/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apis/codec/decode.h"
#include "controller/client/api_client.h"
#include "controller/history/history_chunk.h"
#include "controller/scenario/run_report.h"
#include "controller/sim/kube/actor_client.h"
#include "controller/sim/kube/simulation.h"
#include "controller/sim/server/wire.h"
#include "tests/io/recording_log.h"
#include "tests/scenario/play.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kNamespace[] = "berth-system";

std::vector<std::string> lines_in(sim::Store& store) {
  std::vector<ConfigMap> found;
  for (const sim::ObjectPtr& object :
       store.list(*sim::find_resource_type("configmaps"), kNamespace)) {
    std::string text = object->dump();
    if (auto read = decode_object<ConfigMap>(text)) found.push_back(*std::move(read));
  }
  std::vector<std::string> lines;
  for (const HistoryLine& line : lines_of(found)) lines.push_back(format(line));
  return lines;
}

// A history of its own on the simulated API server.
struct HistoryTest : testing::Test {
  HistoryTest() {
    person.create("namespaces", {{"metadata", {{"name", kNamespace}}}});
    world.add(loop);
    world.store().observe([this](const sim::Change& change) {
      if (change.key.name.starts_with("berth-history-")) ++writes;
    });
    history.start();
  }
  ~HistoryTest() override { end(false); }
  void end(bool in_order) {
    bool ended = false;
    spawn(loop, history.finish(in_order), [&] { ended = true; });
    world.run_until([&] { return ended; }, 1min);
    EXPECT_TRUE(ended);
  }
  void note(int i) {
    history.note({.actor = "berth",
                  .object = "Node/n" + std::to_string(i),
                  .what = "jsonpatch",
                  .reason = "cordon for MIGLayout halves, the " + std::to_string(i) + "th",
                  .cause = "MIGLayout/halves generation 4"});
  }
  std::vector<std::string> lines() { return lines_in(world.store()); }
  std::size_t stored_bytes() {
    std::size_t bytes = 0;
    for (const std::string& name : history_config_maps())
      if (const sim::ObjectPtr object = person.get("configmaps", kNamespace, name))
        bytes += object->dump().size();
    return bytes;
  }

  sim::Simulation world{7};
  sim::ActorClient person{world.server(), "person"};
  int writes = 0;
  sim::VirtualLoop loop{world.clock()};
  sim::Wire wire{loop, world.loop(), world.server(), "berth-0", world.fork_random()};
  RecordingLog log;
  ApiClient client{loop, wire, log, {"test", "controller"}};
  std::chrono::nanoseconds time_left = 10s;
  History history{{client, log, kNamespace, true, [this] { return time_left; }}};
};

TEST_F(HistoryTest, IsWrittenInBatches) {
  note(1);
  note(2);
  world.run_for(25s);
  EXPECT_EQ(writes, 0);
  world.run_for(10s);
  EXPECT_EQ(writes, 1);
  EXPECT_THAT(lines(), SizeIs(2));
  world.run_for(1h);
  EXPECT_EQ(writes, 1);
}

TEST_F(HistoryTest, WhatIsNotWrittenYetIsAtAnOrderlyEnd) {
  note(1);
  end(true);
  EXPECT_THAT(lines(), SizeIs(1));
  note(2);
  world.run_for(1h);
  EXPECT_THAT(lines(), SizeIs(1));
}

TEST_F(HistoryTest, OneThatDoesNotLeadAnyMoreWritesNothing) {
  int sent = 0;
  wire.faults.on_request = [&](const HttpRequest&) {
    ++sent;
    return sim::ExchangeFault{};
  };
  note(1);
  time_left = 0s;
  world.run_for(1h);
  EXPECT_EQ(sent, 0);
}

TEST_F(HistoryTest, IsWrittenTwiceAMinuteOnAverageHoweverMuchHappens) {
  for (int i = 0; i < 120'000; ++i) {
    note(i);
    if (i % 200 == 0) world.run_for(1s);
  }
  EXPECT_LE(writes, 2 * 10 + 8 + 1);
  EXPECT_LT(stored_bytes(), 1u << 20);
}

TEST_F(HistoryTest, StaysWithinItsBoundsUnderTwentyThousandSteps) {
  constexpr int kSteps = 20'000;
  const MonotonicTime begun = world.now();
  for (int i = 0; i < kSteps; ++i) {
    note(i);
    world.run_for(500ms);
    if (i % 1000 == 0) {
      EXPECT_LT(stored_bytes(), 1u << 20);
    }
  }
  world.run_for(1min);
  EXPECT_LT(stored_bytes(), 1u << 20);
  EXPECT_LE(writes, 2 * ((world.now() - begun) / 1min) + 8);
  const std::vector<std::string> kept = lines();
  EXPECT_GT(kept.size(), 10'000u);
  EXPECT_LT(kept.size(), 20'000u);
  EXPECT_THAT(kept.back(), HasSubstr("the 19999th"));
  EXPECT_THAT(kept, Not(Contains(HasSubstr("the 1th "))));
}

TEST_F(HistoryTest, ThatComesAllAtOnceSaysWhatIsMissing) {
  for (int i = 0; i < 20'000; ++i) note(i);
  world.run_for(10min);
  EXPECT_THAT(lines(), Contains(HasSubstr("lines are missing here")));
  EXPECT_THAT(lines().back(), HasSubstr("the 19999th"));
  EXPECT_LE(writes, 8);
}

TEST_F(HistoryTest, ALostWriteIsSentAgain) {
  int refused = 0;
  wire.faults.on_request = [&](const HttpRequest& request) {
    const bool write = request.method != "GET";
    return write && ++refused <= 3
               ? sim::ExchangeFault{.fate = sim::ExchangeFate::kRefused, .code = 500}
               : sim::ExchangeFault{};
  };
  note(1);
  world.run_for(5min);
  EXPECT_THAT(lines(), SizeIs(1));
  EXPECT_THAT(log.lines, Contains(HasSubstr("warn history not written")).Times(1));
  EXPECT_THAT(log.lines, Contains(HasSubstr("history is written again")));
}

TEST_F(HistoryTest, AWriteWhoseReplyWasLostStandsThereOnce) {
  int sent = 0;
  wire.faults.on_request = [&](const HttpRequest& request) {
    return request.method != "GET" && ++sent == 1
               ? sim::ExchangeFault{.fate = sim::ExchangeFate::kReplyLost}
               : sim::ExchangeFault{};
  };
  note(1);
  world.run_for(40s);
  note(2);
  world.run_for(5min);
  EXPECT_THAT(lines(), SizeIs(2));
}

TEST_F(HistoryTest, GoesOnAfterAnotherLeadersLinesAndAfterADeletion) {
  note(1);
  world.run_for(1min);
  {
    History other{{client, log, kNamespace, true, [] { return 10s; }}};
    other.start();
    other.note({.actor = "berth", .object = "Node/x", .what = "leads"});
    bool ended = false;
    spawn(loop, other.finish(true), [&] { ended = true; });
    ASSERT_TRUE(world.run_until([&] { return ended; }, 1min));
  }
  note(2);
  world.run_for(1min);
  EXPECT_THAT(lines(), ::testing::ElementsAre(HasSubstr("the 1th"), HasSubstr("leads"),
                                              HasSubstr("the 2th")));
  person.remove("configmaps", kNamespace, config_map_of_chunk(1));
  note(3);
  world.run_for(1min);
  EXPECT_THAT(lines(), ::testing::ElementsAre(HasSubstr("the 3th")));
}

TEST_F(HistoryTest, AnObjectsLineIsNotToldTwiceRunning) {
  note(1);
  note(1);
  world.run_for(1min);
  EXPECT_THAT(lines(), SizeIs(1));
}

TEST_F(HistoryTest, WhyThingsWaitIsLoggedOnceAndNoFloodFillsTheLog) {
  const auto wait = [&](int i, const std::string& why) {
    history.note({.object = "Node/n" + std::to_string(i), .what = kWaits, .reason = why});
  };
  wait(1, "Held: held by Anna");
  wait(1, "Held: held by Anna");
  EXPECT_THAT(log.lines,
              ::testing::ElementsAre(AllOf(HasSubstr("info waits object=Node/n1 reason=Held "),
                                           HasSubstr("message=held by Anna"))));
  for (int i = 2; i < 10'000; ++i) wait(i, "Held: held by Anna");
  EXPECT_LT(log.lines.size(), 300u);
  world.run_for(10s);
  wait(1, "NodeNotReady: NotReady");
  EXPECT_THAT(log.lines.back(), HasSubstr("not_logged=97"));
}

// What a night leaves: berth is killed in the middle of a rollout, and every event is gone.
TEST(PlayedHistory, TellsTheNightAcrossACrashWithoutAnyEvent) {
  Result<Scenario> scenario = parse_scenario(test::small_scenario(2) + R"(
- {whenPhase: Applying, node: n1, after: 40s, crash: leader}
- {at: 1h, hold: n1}
limit: 2h
)",
                                             "scenario.yaml");
  ASSERT_TRUE(scenario) << describe(scenario.error());
  scenario->history = true;
  std::map<std::string, nlohmann::json> stands;
  int writes = 0;
  const RunReport report = play_scenario(*scenario, 1, {}, [&](ScenarioRun& run) {
    run.simulation().store().observe([&](const sim::Change& change) {
      if (!change.key.name.starts_with("berth-history-")) return;
      ++writes;
      stands[change.key.name] = *change.after;
    });
  });
  EXPECT_EQ(report.unsettled, "");
  EXPECT_LE(writes, 12);
  std::vector<ConfigMap> found;
  for (const auto& [name, object] : stands) {
    std::string text = object.dump();
    found.push_back(decode_object<ConfigMap>(text).value());
  }
  std::string told;
  for (const HistoryLine& line : lines_of(found)) told += format(line) + "\n";
  SCOPED_TRACE(told);
  EXPECT_THAT(told, HasSubstr("epoch 1"));
  EXPECT_THAT(told, HasSubstr("epoch 2"));
  for (const char* node : {"n1", "n2"})
    EXPECT_THAT(told,
                ::testing::ContainsRegex(std::string(node) +
                                         " .* berth: cordon.*\\(MIGLayout/small generation 1"));
  EXPECT_THAT(told, ::testing::ContainsRegex(" n2 .* waits: "));
  EXPECT_THAT(told, Not(HasSubstr("berth-node-slots")));
  EXPECT_THAT(told, ::testing::ContainsRegex("small .* is Ready: AllNodesUpdated"));
}

}  // namespace
}  // namespace berth
