// SPDX-License-Identifier: Apache-2.0
// The history of 2,000 nodes takes less than 1 MiB of memory: while a write is on its way, while
// the API server refuses it for hours, and at rest.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "controller/runtime/history.h"
#include "tests/heap/counted_heap.h"
#include "tests/runtime/world.h"

namespace berth {
namespace {

using namespace std::chrono_literals;

constexpr int kNodes = 2'000;
constexpr std::size_t kMost = 1 << 20;

class HistoryMemory : public ::testing::Test {
 protected:
  HistoryMemory() {
    world_.transport.respond_with([this](const HttpRequest& request) { return answer(request); });
    before_ = held_bytes();
    history_.emplace(History::Parts{.client = world_.client,
                                    .log = world_.log,
                                    .namespace_ = "berth-system",
                                    .keeps = true,
                                    .time_left = [] { return 1h; }});
    history_->start();
  }
  ~HistoryMemory() override {
    spawn(world_.loop, history_->finish(false), [] {});
    world_.loop.run_for(1min);
    history_.reset();
  }
  // All nodes wait for another reason, a quarter of them in each half minute.
  void pass_rounds(int rounds) {
    for (int round = 0; round < rounds; ++round)
      for (int node = 0; node < kNodes; ++node) {
        history_->note({.object = fmt::format("Node/gpu-{:04}.example.com", node),
                        .what = kWaits,
                        .reason = fmt::format("MaxUnavailable: {} of {} nodes are unavailable; "
                                              "number {} of {} still to go",
                                              round, round, node, kNodes),
                        .cause = fmt::format("MIGLayout/inference generation {}", round)});
        if (node % (kNodes / 4) == 0) look();
      }
  }
  void look() {
    world_.loop.run_for(30s);
    world_.transport.exchanges.clear();
    world_.log.lines.clear();
    at_rest_ = std::max(at_rest_, held_bytes() - before_);
  }

  World world_;
  bool refuses_ = false;
  std::size_t before_ = 0, at_rest_ = 0, in_flight_ = 0;
  int written_ = 0;
  std::optional<History> history_;

 private:
  std::optional<FakeReply> answer(const HttpRequest& request) {
    in_flight_ = std::max(in_flight_, held_bytes() - before_);
    if (request.method == "GET") return FakeReply{404, status_json(404, "NotFound")};
    if (refuses_) return FakeReply{403, status_json(403, "Forbidden")};
    ++written_;
    const std::string name =
        request.method == "POST"
            ? nlohmann::json::parse(request.body)["metadata"]["name"].get<std::string>()
            : request.target.substr(request.target.rfind('/') + 1);
    return FakeReply{200, fmt::format(R"({{"metadata":{{"name":"{}","namespace":"berth-system",)"
                                      R"("uid":"{}","resourceVersion":"{}"}}}})",
                                      name, name, written_)};
  }
};

TEST_F(HistoryMemory, IsBoundedWhileAllIsWritten) {
  pass_rounds(20);
  EXPECT_GT(written_, 40);
  EXPECT_LT(at_rest_, kMost);
  EXPECT_LT(in_flight_, kMost);
  EXPECT_GT(in_flight_, kMaxChunkText) << "else chunks never fill, and nothing is shown";
}

TEST_F(HistoryMemory, IsBoundedWhileNothingCanBeWritten) {
  pass_rounds(2);
  refuses_ = true;
  pass_rounds(20);
  EXPECT_LT(at_rest_, kMost);
  EXPECT_LT(in_flight_, kMost);
  refuses_ = false;
  const int before = written_;
  pass_rounds(1);
  EXPECT_GT(written_, before) << "it goes on";
}

}  // namespace
}  // namespace berth
