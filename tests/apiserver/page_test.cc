// SPDX-License-Identifier: Apache-2.0
// `berth ui` on a live API server: changes in the cluster reach clients that follow the page.
#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "tests/apiserver/plane_fixture.h"
#include "tests/server/plain_connection.h"

namespace berth::test {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

class LivePageTest : public PlaneTest {
 protected:
  void SetUp() override {
    PlaneTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    const std::string kubeconfig = plane().write_kubeconfig("berth");
    ui_ = std::make_unique<Child>(
        std::vector<std::string>{berth_program(), "ui", "--kubeconfig", kubeconfig},
        plane().scratch() + "/ui.log");
    wait_until("the page's address", seconds(60), [&]() -> std::string {
      const std::string said = ui_->log_text(), before = "http://127.0.0.1:";
      const std::size_t at = said.find(before);
      if (at == std::string::npos || said.find("/ui/", at) == std::string::npos) return said + " ";
      port_ = std::stoi(said.substr(at + before.size()));
      return "";
    });
  }
  void TearDown() override {
    if (ui_ != nullptr) {
      ui_->signal(SIGINT);
      EXPECT_EQ(ui_->wait(seconds(30)), 0) << ui_->log_tail();
    }
    ui_.reset();
    PlaneTest::TearDown();
  }
  std::string get(const std::string& target) {
    Connection connection(port_);
    connection.send("GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    return connection.receive();
  }
  // As soon as there is one.
  std::string state() {
    std::string got;
    wait_until("the state", seconds(60), [&]() -> std::string {
      got = get("/ui/state");
      return got.starts_with("HTTP/1.1 200") ? "" : got + " ";
    });
    return got;
  }
  static std::string id_in(const std::string& state) {
    const std::string before = "\"id\":\"";
    const std::size_t from = state.find(before) + before.size();
    return state.substr(from, state.find('"', from) - from);
  }

  std::unique_ptr<Child> ui_;
  int port_ = 0;
};

TEST_F(LivePageTest, WhoFollowsItIsToldWhatChangesAndCanGoOnWhereHeWas) {
  const std::string id = id_in(state());
  Connection follower(port_);
  ASSERT_TRUE(follower.send("GET /ui/events?since=" + id + " HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  cluster().add_gpu_node({.name = "n1"});
  EXPECT_THAT(follower.receive_until("\"n1\":{"), HasSubstr("\"set\":{\"nodes\":{\"n1\":{"));
  kube().patch({"nodes", "n1"}, PatchType::kMerge, R"({"spec":{"unschedulable":true}})");
  EXPECT_THAT(follower.receive_until("\"Cordoned\""), HasSubstr("\"Cordoned\""));
  EXPECT_THAT(get("/ui/why?subject=node/n1"), HasSubstr("\"name\":\"n1\""));

  Connection again(port_);
  ASSERT_TRUE(
      again.send("GET /ui/events?since=gone HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: " + id +
                 "\r\n\r\n"));
  EXPECT_THAT(again.receive_until("\"Cordoned\""), Not(HasSubstr("event: again")))
      << "what it missed is told, and no more";

  cluster().remove_node("n1");
  EXPECT_THAT(follower.receive_until("\"gone\":{\"nodes\":[\"n1\"]"), HasSubstr("\"gone\""));
}

}  // namespace
}  // namespace berth::test
