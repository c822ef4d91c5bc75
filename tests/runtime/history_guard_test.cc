// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/history_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/runtime/world.h"

namespace berth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kNamespaces[] = "GET /api/v1/namespaces";

class HistoryGuardTest : public ::testing::Test {
 protected:
  HistoryGuardTest() {
    spawn(world_.loop,
          guard_history(
              world_.client, [this] { return seen_; },
              [this](std::string why) { told_.push_back(std::move(why)); }, stop_.get_token()));
  }
  ~HistoryGuardTest() override {
    stop_.request_stop();
    world_.loop.run_for(std::chrono::minutes(1));
  }
  // The next look is answered so.
  void answer(const std::string& version) {
    world_.transport.script(
        kNamespaces, {200, R"({"metadata":{"resourceVersion":")" + version + R"("},"items":[]})"});
    world_.loop.run_for(kBetweenHistoryLooks);
  }

  World world_;
  std::stop_source stop_;
  std::string seen_ = "900";
  std::vector<std::string> told_;
};

TEST_F(HistoryGuardTest, TellsOnceThatTwoAnswersInARowAreOlderThanTheCache) {
  answer("1000");
  seen_ = "1000";
  answer("400");
  EXPECT_THAT(told_, IsEmpty()) << "one answer may be a proxy's";
  answer("410");
  EXPECT_THAT(told_, ElementsAre(HasSubstr("from version 1000 to 410")));
  answer("420");
  EXPECT_EQ(told_.size(), 1u);
}

TEST_F(HistoryGuardTest, OneOlderAnswerAndAnErrorSayNothing) {
  for (const char* version : {"1000", "400", "1000", "400"}) answer(version);
  EXPECT_THAT(told_, IsEmpty());
  seen_.clear();
  answer("1"), answer("1");
  EXPECT_THAT(told_, IsEmpty()) << "the cache is not filled yet";
}

}  // namespace
}  // namespace berth
