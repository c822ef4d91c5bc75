// SPDX-License-Identifier: Apache-2.0
// `berth log-level`, sent to a running berth.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>

#include "tests/cmd/program.h"
#include "tests/support/child.h"
#include "tests/support/places.h"

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// A controller that waits for an API server which never answers.
struct RunningBerth {
  RunningBerth() {
    std::filesystem::remove(log);
    child.emplace(
        std::vector<std::string>{binary_dir() + "/berth", "controller", "--kubeconfig",
                                 scratch_file("kubeconfig", kNowhere), "--metrics-bind-address=0",
                                 "--health-probe-bind-address=0"},
        log);
    EXPECT_TRUE(says("starting")) << child->log_text();
  }
  bool says(const std::string& text) {
    for (int i = 0; i < 200; ++i) {
      if (child->log_text().find(text) != std::string::npos) return true;
      std::this_thread::sleep_for(50ms);
    }
    return false;
  }
  Ran level(const std::string& level) {
    return run_berth({"log-level", level, "--pid", std::to_string(child->pid())});
  }

  static constexpr char kNowhere[] = R"(
apiVersion: v1
kind: Config
current-context: a
contexts: [{name: a, context: {cluster: a, user: a}}]
clusters: [{name: a, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: a, user: {token: t}}]
)";
  std::string log = scratch_file("running.log", "");
  std::optional<Child> child;
};

TEST(LogLevel, IsChangedAndChangedBackWithoutARestart) {
  RunningBerth berth;
  EXPECT_EQ(berth.level("debug").exit_code, 0);
  EXPECT_TRUE(berth.says("log level changed level_now=\"debug\"")) << berth.child->log_text();
  EXPECT_EQ(berth.level("flag").exit_code, 0);
  EXPECT_TRUE(berth.says("log level changed level_now=\"info\"")) << berth.child->log_text();
  EXPECT_TRUE(berth.child->running());
}

TEST(LogLevel, IsSentToNoOtherProgram) {
  const Ran other = run_berth({"log-level", "debug", "--pid", std::to_string(getpid())});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.err, HasSubstr("is no berth; run this in berth's container"));
  EXPECT_THAT(run_berth({"log-level"}).err, HasSubstr("write debug or flag"));
  EXPECT_THAT(run_berth({"log-level", "trace"}).err, HasSubstr("must be one of debug|flag"));
  EXPECT_THAT(run_berth({"log-level", "debug", "--pid=999999999"}).err,
              HasSubstr("there is no process"));
}

}  // namespace
}  // namespace berth::test
