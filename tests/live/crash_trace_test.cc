// SPDX-License-Identifier: Apache-2.0
// The output of a crashing process: the test makes a child crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "tests/support/child.h"
#include "tests/support/places.h"

namespace berth::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

struct Crashed {
  int exit_code = -1;
  std::string trace;
};
Crashed crash(const std::string& how) {
  const std::string log = binary_dir() + "/crash-" + how + ".log";
  std::filesystem::remove(log);
  Child child({binary_dir() + "/berth-crash", how}, log);
  Crashed crashed;
  crashed.exit_code = child.wait(std::chrono::seconds(30)).value_or(-1);
  crashed.trace = child.log_text();
  return crashed;
}

TEST(CrashTrace, NamesTheSignalTheVersionTheBuildAndTheFrames) {
  const Crashed aborted = crash("abort");
  EXPECT_EQ(aborted.exit_code, 128 + SIGABRT);
  EXPECT_THAT(aborted.trace,
              ContainsRegex("^berth crashes: SIGABRT, berth 1.2.3, build id [0-9a-f]{40}\n"));
  EXPECT_THAT(aborted.trace, ContainsRegex("berth-crash\\([^)]*\\+0x[0-9a-f]+\\)"));
  EXPECT_THAT(aborted.trace, HasSubstr("end of the backtrace"));
}

TEST(CrashTrace, NamesTheAddress) {
  const Crashed crashed = crash("segv");
  EXPECT_EQ(crashed.exit_code, 128 + SIGSEGV);
  EXPECT_THAT(crashed.trace, HasSubstr("berth crashes: SIGSEGV at 0x18, "));
  EXPECT_THAT(crashed.trace, HasSubstr("end of the backtrace"));
}

TEST(CrashTrace, IsLeftOfAStackWithoutRoom) {
  const Crashed crashed = crash("overflow");
  EXPECT_EQ(crashed.exit_code, 128 + SIGSEGV);
  EXPECT_THAT(crashed.trace, HasSubstr("berth crashes: SIGSEGV at 0x"));
  EXPECT_THAT(crashed.trace, HasSubstr("end of the backtrace"));
}

}  // namespace
}  // namespace berth::test
