// SPDX-License-Identifier: Apache-2.0
// ExecLogin with real programs: small scripts, as users' plugins often are.
#include "controller/live/exec_login.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace berth {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kVersion[] = "client.authentication.k8s.io/v1";

class ExecLoginTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/berth-exec-XXXXXX";
    folder_ = ::mkdtemp(name);
    plugin_.where = "/k: users[0].user.exec";
    plugin_.api_version = kVersion;
    plugin_.input = ExecPlugin::Input::kNever;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // A script that adds a line to `runs` each time, and then runs `body`.
  void script(const std::string& body) {
    plugin_.command = folder_ + "/plugin";
    std::ofstream(plugin_.command) << "#!/bin/sh\necho run >> " << folder_ << "/runs\n"
                                   << body << "\n";
    ::chmod(plugin_.command.c_str(), 0755);
  }
  static std::string print(const std::string& status) {
    return fmt::format(R"(echo '{{"kind":"ExecCredential","apiVersion":"{}","status":{}}}')",
                       kVersion, status);
  }
  std::string read(const std::string& name) {
    std::ifstream file(folder_ + "/" + name);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  long runs() {
    const std::string lines = read("runs");
    return std::count(lines.begin(), lines.end(), '\n');
  }
  // The results of `times` calls of prepare at once.
  std::vector<std::string> prepare(ExecLogin& login, std::size_t times = 1) {
    std::vector<std::string> told;
    bool running = false;  // an existing credential is returned at once
    for (std::size_t i = 0; i < times; ++i) {
      login.prepare([&, times](std::string fault) {
        told.push_back(std::move(fault));
        if (running && told.size() == times) loop_.stop();
      });
    }
    running = true;
    if (told.size() < times) loop_.run();
    return told;
  }
  std::string fault() {
    ExecLogin login(loop_, plugin_);
    return prepare(login).front();
  }

  std::string folder_;
  UvLoop loop_;
  ExecPlugin plugin_;
};

TEST_F(ExecLoginTest, RunsOnceForAllAndKeepsWhatNeverExpires) {
  script(print(R"({"token":"t1"})"));
  ExecLogin login(loop_, plugin_);
  EXPECT_THAT(prepare(login, 3), ::testing::ElementsAre("", "", ""));
  EXPECT_EQ(login.credential().token, "t1");
  EXPECT_EQ(prepare(login).front(), "");
  EXPECT_EQ(runs(), 1);
}

TEST_F(ExecLoginTest, RunsAgainOnceTheCredentialHasExpired) {
  const Time now = loop_.wall_now();
  script(print(fmt::format(R"({{"token":"t","expirationTimestamp":"{}"}})",
                           format_time(now + std::chrono::hours(1)))));
  ExecLogin fresh(loop_, plugin_);
  prepare(fresh);
  prepare(fresh);
  EXPECT_EQ(runs(), 1);

  script(print(fmt::format(R"({{"token":"t","expirationTimestamp":"{}"}})",
                           format_time(now - std::chrono::hours(1)))));
  ExecLogin stale(loop_, plugin_);
  EXPECT_EQ(prepare(stale).front(), "") << "it is the server's to refuse";
  prepare(stale);
  EXPECT_EQ(runs(), 3);
}

TEST_F(ExecLoginTest, RunsAgainOnceTheServerHasRefused) {
  script(print(R"({"token":"t"})"));
  ExecLogin login(loop_, plugin_);
  prepare(login);
  const std::uint64_t refused = login.run();
  login.drop(refused);
  prepare(login);
  EXPECT_EQ(runs(), 2);
  login.drop(refused);  // by another request, sent before
  prepare(login);
  EXPECT_EQ(runs(), 2);
}

TEST_F(ExecLoginTest, GivesArgumentsAndEnvironmentAndNothingElse) {
  const int open = ::open("/dev/null", O_RDONLY);  // like a parent that forgot to mark it
  ASSERT_EQ(::setenv("BERTH_TEST_A", "ours", 1), 0);
  ASSERT_EQ(::setenv("BERTH_TEST_B", "ours", 1), 0);
  script("printf '%s|' \"$@\" > " + folder_ + "/args\n" + "echo $BERTH_TEST_A $BERTH_TEST_B > " +
         folder_ + "/env\n" + "printf %s \"$KUBERNETES_EXEC_INFO\" > " + folder_ + "/info\n" +
         "cat > " + folder_ + "/stdin\n" + "ls /proc/self/fd > " + folder_ + "/fds\n" +
         print(R"({"token":"t"})"));
  plugin_.arguments = {"get token", "$(id)", "; exit 1", ""};
  plugin_.environment = {{"BERTH_TEST_B", "the file's"}};
  plugin_.cluster = R"({"server":"https://h"})";
  EXPECT_EQ(fault(), "");
  EXPECT_EQ(read("args"), "get token|$(id)|; exit 1||");
  EXPECT_EQ(read("env"), "ours the file's\n");
  EXPECT_EQ(read("info"),
            R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":)"
            R"({"cluster":{"server":"https://h"},"interactive":false}})");
  EXPECT_EQ(read("stdin"), "");
  EXPECT_EQ(read("fds"), "0\n1\n2\n3\n") << "3 is ls' own view of the folder";
  ::close(open);
}

TEST_F(ExecLoginTest, FindsANameInThePath) {
  plugin_.command = "printf";
  plugin_.arguments = {R"({"kind":"ExecCredential","apiVersion":"%s","status":{"token":"t"}})",
                       kVersion};
  EXPECT_EQ(fault(), "");
}

TEST_F(ExecLoginTest, AnotherPathInItsEnvironmentLeadsToNoOtherProgram) {
  script(print(R"({"token":"t"})"));
  plugin_.command = "plugin";
  plugin_.environment = {{"PATH", folder_}};
  EXPECT_THAT(fault(), HasSubstr("No such file or directory"));
  EXPECT_EQ(runs(), 0);
}

TEST_F(ExecLoginTest, SaysHowToGetAProgramThatIsMissing) {
  plugin_.command = "berth-no-such-plugin";
  plugin_.install_hint = "To get it: brew install plugin";
  EXPECT_EQ(fault(),
            "/k: users[0].user.exec: cannot run the credential plugin berth-no-such-plugin: No "
            "such file or directory\n\nTo get it: brew install plugin");
  script("");
  ::chmod(plugin_.command.c_str(), 0644);
  EXPECT_THAT(fault(), AllOf(HasSubstr("Permission denied"), Not(HasSubstr("brew"))));
}

TEST_F(ExecLoginTest, LeavesItsWordsToItAndTellsHowItEnded) {
  script("echo 'your session has expired: run login' >&2; exit 7");
  ::testing::internal::CaptureStderr();
  const std::string failed = fault();
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "your session has expired: run login\n");
  EXPECT_THAT(failed, HasSubstr("plugin failed with exit code 7; its own message"));
  script("kill -TERM $$");
  EXPECT_THAT(fault(), HasSubstr("was ended by signal 15"));
  script("echo hello");
  EXPECT_THAT(fault(), HasSubstr("is of no use: what it printed is not a JSON object"));
  script("exec head -c 2000000 /dev/zero");
  EXPECT_THAT(fault(), HasSubstr("printed more than 1 MiB"));
}

TEST_F(ExecLoginTest, AFailureIsNotKept) {
  script("test -f " + folder_ + "/again || { touch " + folder_ + "/again; exit 1; }\n" +
         print(R"({"token":"t"})"));
  ExecLogin login(loop_, plugin_);
  EXPECT_NE(prepare(login).front(), "");
  EXPECT_EQ(prepare(login).front(), "");
}

// The tests' standard input may be a terminal or not; a pipe never is.
TEST_F(ExecLoginTest, AsksOnlyWhereThereIsSomebodyToAsk) {
  const int input = ::dup(STDIN_FILENO);
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  ::dup2(pipe[0], STDIN_FILENO);
  script(print(R"({"token":"t"})"));
  plugin_.input = ExecPlugin::Input::kAlways;
  EXPECT_THAT(fault(), HasSubstr("has to ask you (interactiveMode: Always)"));
  EXPECT_EQ(runs(), 0);
  plugin_.input = ExecPlugin::Input::kIfAvailable;
  EXPECT_EQ(fault(), "");
  ::dup2(input, STDIN_FILENO);
  for (const int fd : {input, pipe[0], pipe[1]}) ::close(fd);
}

TEST_F(ExecLoginTest, ProgramsEndInTimeAndWithTheirOwner) {
  script("echo $$ > " + folder_ + "/pid\nexec sleep 600");
  ProgramEnd end;
  {
    ProgramRun run(loop_, {.command = plugin_.command, .environment = {}, .limit = 100ms},
                   [&](const ProgramEnd& how) {
                     end = how;
                     loop_.stop();
                   });
    loop_.run();
  }
  EXPECT_TRUE(end.timed_out);
  EXPECT_EQ(end.signal, SIGKILL);

  script("echo $$ > " + folder_ + "/pid2\nexec sleep 600");
  {
    ExecLogin login(loop_, plugin_);
    login.prepare([](const std::string&) { ADD_FAILURE() << "nobody waits any more"; });
    loop_.call_after(10s, [&] { loop_.stop(); });
    while (read("pid2").empty()) {
      loop_.call_after(10ms, [&] { loop_.stop(); });
      loop_.run();
    }
  }
  loop_.call_after(50ms, [&] { loop_.stop(); });
  loop_.run();
  std::ifstream words("/proc/" + std::to_string(std::stoi(read("pid2"))) + "/cmdline");
  EXPECT_EQ(words.get(), EOF) << "it goes on";
}

}  // namespace
}  // namespace berth
