// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "controller/live/reread_file.h"
#include "controller/live/spdlog_log.h"
#include "controller/live/system_host.h"
#include "controller/live/uv_loop.h"
#include "tests/client/fake_host.h"
#include "tests/io/fake_loop.h"
#include "tests/io/recording_log.h"
#include "tests/support/places.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

TEST(UvLoop, RunsPostedWorkInOrderAndTimersWhenDue) {
  UvLoop loop;
  std::vector<std::string> order;
  loop.call_after(20ms, [&] {
    order.push_back("later");
    loop.stop();
  });
  loop.call_after(5ms, [&] { order.push_back("sooner"); });
  loop.call_after(0ms, [&] { order.push_back("at once"); });
  const auto cancelled = loop.call_after(1ms, [&] { order.push_back("never"); });
  loop.cancel(cancelled);
  loop.cancel(cancelled);
  loop.cancel(0);
  loop.post([&] {
    order.push_back("a");
    loop.post([&] { order.push_back("c"); });
  });
  loop.post([&] { order.push_back("b"); });
  EXPECT_TRUE(order.empty());
  const MonotonicTime begun = loop.now();
  loop.run();
  EXPECT_GE(loop.now() - begun, 20ms);
  ASSERT_EQ(order.size(), 6u);
  std::erase(order, "at once");  // its turn depends on when the loop first looks at the clock
  EXPECT_THAT(order, ElementsAre("a", "b", "c", "sooner", "later"));
}

// Both are due before the loop looks at its timers, so both fire in one turn.
TEST(UvLoop, ATimerThatHasFiredCanStillBeCancelledUntilItBegins) {
  UvLoop loop;
  std::vector<std::string> order;
  Loop::TimerId second = 0;
  loop.call_after(1ms, [&] {
    order.push_back("first");
    loop.cancel(second);
    loop.call_after(1ms, [&] { loop.stop(); });
  });
  second = loop.call_after(1ms, [&] { order.push_back("second"); });
  std::this_thread::sleep_for(3ms);
  loop.run();
  EXPECT_THAT(order, ElementsAre("first"));
}

TEST(UvLoop, WorkThatPostsForEverDoesNotStarveTimers) {
  UvLoop loop;
  std::function<void()> again = [&] { loop.post(again); };
  loop.post(again);
  loop.call_after(10ms, [&] { loop.stop(); });
  loop.run();
}

TEST(UvLoop, HearsOtherThreadsAndSignals) {
  UvLoop loop;
  const std::thread::id mine = std::this_thread::get_id();
  int heard = 0;
  loop.on_signal(SIGTERM, [&] {
    ++heard;
    loop.stop();
  });
  std::thread other([&] {
    loop.post_from_any_thread([&] {
      EXPECT_EQ(std::this_thread::get_id(), mine);
      ++heard;
      ::kill(::getpid(), SIGTERM);
    });
  });
  loop.run();
  other.join();
  EXPECT_EQ(heard, 2);
}

TEST(RereadFile, KeepsTheLastGoodText) {
  FakeLoop loop;
  FakeHost host;
  RecordingLog log;
  host.files["/t"] = "one";
  RereadFile file(loop, host, log, "/t", 60s);
  EXPECT_EQ(file.text(), "one");
  host.files["/t"] = "two";
  loop.run_for(59s);
  EXPECT_EQ(file.text(), "one");
  loop.run_for(1s);
  EXPECT_EQ(file.text(), "two");
  for (const char* broken : {FakeHost::kUnreadable, ""}) {
    host.files["/t"] = broken;
    loop.run_for(60s);
    EXPECT_EQ(file.text(), "two");
  }
  EXPECT_EQ(log.lines.size(), 1u) << "a lasting failure is said once";
  host.files["/t"] = "three";
  EXPECT_TRUE(file.refresh());
  EXPECT_FALSE(file.refresh());
}

TEST(SystemHost, TellsMissingFromUnreadable) {
  const SystemHost host;
  EXPECT_TRUE(host.read_file("/nonexistent/x").missing);
  const FileText folder = host.read_file("/tmp");
  EXPECT_FALSE(folder.missing);
  EXPECT_FALSE(folder.text.has_value());
  EXPECT_EQ(folder.error, "Is a directory");
  EXPECT_THAT(*host.read_file(test::source_dir() + "/CMakeLists.txt").text,
              HasSubstr("project(berth"));
  EXPECT_EQ(host.env("BERTH_NO_SUCH_VARIABLE"), std::nullopt);
}

class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe2(fds_, O_CLOEXEC | O_NONBLOCK), 0); }
  ~Pipe() {
    ::close(fds_[0]);
    ::close(fds_[1]);
  }
  int in() const { return fds_[1]; }
  std::string drain() {
    std::string out;
    char buffer[65536];
    for (ssize_t n; (n = ::read(fds_[0], buffer, sizeof buffer)) > 0;) {
      out.append(buffer, static_cast<std::size_t>(n));
    }
    return out;
  }

 private:
  int fds_[2];
};

TEST(SpdlogLog, WritesJsonAndTextAndHonoursTheLevel) {
  Pipe json_pipe;
  SpdlogLog json({.format = LogFormat::kJson, .level = LogLevel::kInfo, .fd = json_pipe.in()});
  json.debug("unheard");
  json.warn("node held", {{"node", "n\"1\n"},
                          {"why", "x"},
                          {"took_ms", 12},
                          {"dry_run", false},
                          {"port", "8080"},
                          {"error", ""}});
  EXPECT_THAT(json_pipe.drain(),
              MatchesRegex("\\{\"time\":\"[0-9T:.-]+Z\",\"level\":\"warn\",\"message\":"
                           "\"node held\",\"node\":\"n\\\\\"1\\\\n\",\"why\":\"x\",\"took_ms\":12,"
                           "\"dry_run\":false,\"port\":\"8080\"\\}\n"))
      << "numbers and truths are such, texts are not, and what is empty is left out";
  Pipe text_pipe;
  SpdlogLog text({.level = LogLevel::kDebug, .fd = text_pipe.in()});
  text.debug("started", {{"percent", "100%d {}"}});
  EXPECT_THAT(text_pipe.drain(),
              MatchesRegex("[0-9T:.-]+Z debug +started percent=\"100%d \\{\\}\"\n"));
}

TEST(SpdlogLog, AFullPipeCostsLinesNotTheController) {
  Pipe pipe;
  SpdlogLog log({.level = LogLevel::kInfo, .fd = pipe.in()});
  const std::string big(3'000, 'x');
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < 200; ++i) log.info("line", {{"big", big}});
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 5s);
  pipe.drain();
  log.info("back");
  const std::string after = pipe.drain();
  EXPECT_THAT(after, HasSubstr("log lines were lost"));
  EXPECT_THAT(after, HasSubstr("back"));
}

}  // namespace
}  // namespace berth
