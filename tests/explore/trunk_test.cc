// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/trunk.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "tests/explore/crew.h"

namespace berth::explore {
namespace {

using namespace std::chrono_literals;

Scenario load(const std::string& name) {
  const std::string path = fmt::format("{}/{}.yaml", BERTH_SCENARIOS, name);
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Result<Scenario> scenario = parse_scenario(text, path);
  return std::move(scenario).value();
}

// A run, to the last byte of its transcript.
struct Story {
  std::size_t hash = 0;
  RunOptions options() {
    RunOptions options;
    options.quiet = 1min;
    options.transcript = [this](const std::string& line) {
      hash = std::hash<std::string>()(std::to_string(hash) + line);
    };
    return options;
  }
  std::string tell(const RunReport& report) const {
    return fmt::format("{:x}, {} ns, {} steps: {}", hash, report.simulated.count(), report.steps,
                       report.failure);
  }
};

using Stories = std::map<std::size_t, std::string>;

// The reports of a process: "NUMBER STORY".
Stories gather(const std::function<void(const Crew::Say&)>& work) {
  Stories stories;
  Crew crew(1);
  for (crew.start(0, work); !crew.is_idle();)
    for (const Crew::News& news : crew.wait())
      if (news.ended)
        EXPECT_EQ(news.line, "");
      else
        stories[std::stoul(news.line)] = news.line.substr(news.line.find(' ') + 1);
  return stories;
}

class TrunkTest : public testing::Test {
 protected:
  Scenario scenario_ = load("two-nodes");

  Stories from_the_start(const std::vector<Branch>& branches) {
    return gather([&](const Crew::Say& say) {
      for (const Branch& branch : branches) {
        Story story;
        const RunReport report = explore(scenario_, branch.schedule, story.options());
        say(fmt::format("{} {}", branch.number, story.tell(report)));
      }
    });
  }

  Stories from_the_trunk(const std::vector<Branch>& branches) {
    return gather([&](const Crew::Say& say) {
      Story story;
      TrunkHooks hooks;
      hooks.goes_on = [] { return true; };
      hooks.on_end = [&](const Branch& branch, const RunReport& report) {
        say(fmt::format("{} {}", branch.number, story.tell(report)));
      };
      hooks.on_death = [&](const Branch& branch, const std::string& how) {
        say(fmt::format("{} {}", branch.number, how));
      };
      hooks.on_unreached = [&](const Branch& branch) {
        say(fmt::format("{} unreached", branch.number));
      };
      play_trunk(scenario_, branches.front().schedule.beginning(), branches, story.options(),
                 hooks);
    });
  }
};

std::vector<Branch> branches(const std::vector<std::string>& texts) {
  std::vector<Branch> branches;
  for (const std::string& text : texts)
    branches.push_back({.number = branches.size(), .schedule = parse_schedule(text).value()});
  return branches;
}

TEST_F(TrunkTest, ABranchIsTheSameAsIfItHadBeenPlayedFromTheStart) {
  const std::vector<Branch> each =
      branches({"write:3:before", "write:5:applied", "write:8:next-step", "write:4:late",
                "request:20:503", "request:3:429", "frame:12:coalesced", "frame:30:lost",
                "actor:4:uncordon", "stale:3:10s", "write:6:reply-lost,frame:40:delayed"});
  EXPECT_EQ(from_the_trunk(each), from_the_start(each));
}

TEST_F(TrunkTest, ReviewsBranchOffToo) {
  scenario_ = load("webhook-ordinary");
  const std::vector<Branch> each =
      branches({"review:1:unreachable", "review:2:slow", "review:3:doubled", "review:4:crash",
                "review:5:freeze", "review:6:again", "review:7:late"});
  EXPECT_EQ(from_the_trunk(each), from_the_start(each));
}

TEST_F(TrunkTest, WhatIsThereFromTheBeginningIsPartOfTheTrunk) {
  const std::vector<Branch> each = branches({"berths:2,freeze:3:20s", "berths:2,stuck:5:20s"});
  EXPECT_EQ(from_the_trunk(each), from_the_start(each));
}

TEST_F(TrunkTest, TellsOfABranchThatItNeverComesTo) {
  EXPECT_EQ(from_the_trunk(branches({"write:100000:before"})), Stories({{0, "unreached"}}));
}

TEST(CrewTest, TellsHowAProcessDied) {
  Crew crew(2);
  crew.start(1, [](const Crew::Say& say) { say("here"), std::_Exit(3); });
  std::vector<std::string> told;
  while (!crew.is_idle())
    for (const Crew::News& news : crew.wait()) told.push_back(news.line);
  EXPECT_THAT(told, testing::ElementsAre("here", "the process ended: 3"));
}

}  // namespace
}  // namespace berth::explore
