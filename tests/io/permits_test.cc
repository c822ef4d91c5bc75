// SPDX-License-Identifier: Apache-2.0
#include "controller/io/permits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/io/fake_loop.h"

namespace berth {
namespace {

using ::testing::ElementsAre;

class PermitsTest : public ::testing::Test {
 protected:
  // Requests a permit, and keeps it under the name.
  void ask(const std::string& name, const std::string& key) {
    auto task = [](PermitsTest& test, std::string as, std::string of) -> Task<void> {
      Permits::Permit permit = co_await test.permits_.acquire(of);
      test.order_.push_back(as);
      test.held_.emplace(as, std::move(permit));
    };
    spawn(loop_, task(*this, name, key));
    loop_.run_ready();
  }
  void give_back(const std::string& name) {
    held_.erase(name);
    loop_.run_ready();
  }

  FakeLoop loop_;
  Permits permits_{loop_, 2};
  std::map<std::string, Permits::Permit> held_;
  std::vector<std::string> order_;
};

TEST_F(PermitsTest, AreOnlySoMany) {
  for (const char* name : {"1", "2", "3"}) ask(name, "k");
  EXPECT_THAT(order_, ElementsAre("1", "2"));
  EXPECT_EQ(permits_.free(), 0u);
  give_back("1");
  EXPECT_THAT(order_, ElementsAre("1", "2", "3"));
  give_back("2");
  give_back("3");
  EXPECT_EQ(permits_.free(), 2u);
}

TEST_F(PermitsTest, AreGivenToKeysInTurnAndWithinAKeyInOrder) {
  ask("first", "x");
  ask("second", "x");
  for (const char* name : {"a1", "a2", "a3"}) ask(name, "a");
  for (const char* name : {"b1", "b2"}) ask(name, "b");
  for (const char* name : {"first", "second", "a1", "b1", "a2"}) give_back(name);
  EXPECT_THAT(order_, ElementsAre("first", "second", "a1", "b1", "a2", "b2", "a3"));
}

TEST_F(PermitsTest, OneThatWasMovedIsGivenBackOnce) {
  ask("1", "k");
  Permits::Permit moved = std::move(held_.at("1"));
  give_back("1");
  EXPECT_EQ(permits_.free(), 1u);
  moved = Permits::Permit();
  EXPECT_EQ(permits_.free(), 2u);
}

}  // namespace
}  // namespace berth
