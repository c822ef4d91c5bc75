// SPDX-License-Identifier: Apache-2.0
// The page: what its state tells of a small cluster, and that no name gets out of it.
#include "controller/page/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <vector>

#include "apis/base/names.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/page/page_state.h"
#include "controller/page/page_why.h"
#include "tests/queue/queue_objects.h"

namespace berth {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class Page : public ::testing::Test {
 protected:
  template <class T>
  void add(T object) {
    cluster.upsert(std::move(object), now);
  }
  // Of an A100-80GB each: 8 memory units to a GPU.
  static Node a100(const std::string& name, int gpus) {
    Node node = queue::node_of(name, gpus);
    node.meta.labels.set("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB");
    node.meta.labels.set("nvidia.com/gpu.count", std::to_string(gpus));
    node.meta.labels.set("nvidia.com/mig.strategy", "mixed");
    node.meta.labels.set(names::kPoolLabel, "training");
    return node;
  }
  static Pod pod(const std::string& name, const std::string& node, const std::string& resource,
                 int count) {
    Pod pod;
    pod.meta.namespace_ = "a";
    pod.meta.name = pod.meta.uid = name;
    pod.node_name = node;
    pod.phase = PodPhase::kRunning;
    pod.shape.edit()->requests.set(resource, Quantity::whole(count));
    return pod;
  }
  Snapshot snapshot() const { return {cluster, answers, settings, now}; }
  json state() const { return json::parse(print_json(page_state(snapshot(), no_clues()))); }

  ClusterState cluster;
  Answers answers;
  Settings settings;
  Time now = *parse_time("2026-11-21T12:00:00Z");
};

TEST_F(Page, TellsOfEachNodeWithGPUsWhatItOffersAndWhoHoldsIt) {
  add(a100("n2", 8)), add(a100("n1", 8));
  Node without;
  without.meta.name = without.meta.uid = "n0";
  add(without);
  add(pod("late", "n1", "nvidia.com/gpu", 2)), add(pod("early", "n1", "nvidia.com/gpu", 1));
  Pod done = pod("done", "n1", "nvidia.com/gpu", 4);
  done.phase = PodPhase::kSucceeded;
  add(done);

  const json nodes = state()["nodes"];
  ASSERT_EQ(nodes.size(), 2u) << nodes;
  EXPECT_EQ(nodes["n1"], json::parse(R"({
      "pool": "training", "service": "InService",
      "product": "NVIDIA-A100-SXM4-80GB", "gpus": 8, "units": 8,
      "parts": [{"resource": "nvidia.com/gpu", "offered": 8, "units": 8, "held": [
          ["a", "early", 1], ["a", "late", 2]]}]})"));
  EXPECT_TRUE(nodes.contains("n2"));
}

TEST_F(Page, TellsOfWhichQueueWhoeverHoldsItIs) {
  add(a100("n1", 8));
  Pod early = pod("early", "n1", "nvidia.com/gpu", 1);
  early.meta.labels.set(names::kQueueLabel, "vision");
  add(early);
  EXPECT_EQ(state()["nodes"]["n1"]["parts"][0]["held"],
            json::parse(R"([["a", "early", 1, "vision"]])"));
}

// Pieces are kept from one look to the next: whatever comes between, they say what they would anew.
TEST_F(Page, SaysTheSameWhateverItHasSaidBefore) {
  const auto anew = [&] {
    ClusterState made;
    for (const auto& node : cluster.nodes()) made.upsert(*node, now);
    for (const auto& one : cluster.pods()) made.upsert(*one, now);
    const Snapshot all{made, answers, settings, now};
    return json::parse(print_json(page_state(all, no_clues())));
  };
  const std::vector<std::function<void()>> changes = {
      [&] { add(a100("n1", 8)), add(a100("n2", 8)); },
      [&] { add(pod("p", "n1", "nvidia.com/gpu", 2)); },
      [&] { add(pod("p", "n2", "nvidia.com/gpu", 2)); },
      [&] {
        Node node = a100("n1", 8);
        node.unschedulable = true;
        add(node);
      },
      [&] {
        Pod done = pod("p", "n2", "nvidia.com/gpu", 2);
        done.phase = PodPhase::kSucceeded;
        add(done);
      },
      [&] { cluster.erase<Pod>("a", "p"); },
      [&] { cluster.erase<Node>("", "n1"); },
      [&] { add(a100("n1", 4)); },
  };
  json before;
  for (const auto& change : changes) {
    change();
    const json told = state();
    EXPECT_EQ(told["nodes"], anew()["nodes"]);
    if (&change != &changes[5]) {
      EXPECT_NE(told["nodes"], before) << "each is news, but who has ended";
    }
    before = told["nodes"];
  }
}

TEST_F(Page, TellsTheMemoryThatIsInNoSlice) {
  Node node = a100("n1", 1);
  node.allocatable.set("nvidia.com/gpu", Quantity::whole(0));
  node.allocatable.set("nvidia.com/mig-1g.10gb", Quantity::whole(7));
  add(node);
  const json cut = state()["nodes"]["n1"];
  EXPECT_EQ(cut["unused"], 1) << cut;
  EXPECT_EQ(cut["parts"][0]["units"], 1) << cut;
}

TEST_F(Page, TellsNothingOfMemoryWhereDevicesAreShared) {
  Node node = a100("n1", 1);
  node.allocatable.set("nvidia.com/gpu", Quantity::whole(0));
  node.allocatable.set("nvidia.com/mig-1g.10gb", Quantity::whole(3));
  node.allocatable.set("nvidia.com/mig-1g.10gb.shared", Quantity::whole(8));
  add(node);
  EXPECT_FALSE(state()["nodes"]["n1"].contains("unused")) << state()["nodes"]["n1"];
}

TEST_F(Page, TellsWhoIsOutAndWhereARolloutStands) {
  Node node = a100("n1", 8);
  node.unschedulable = true;
  node.meta.annotations.set(names::kRolloutAnnotation,
                            encode_rollout({.node_uid = "n1",
                                            .layout = "mixed",
                                            .phase = RolloutPhase::kFailed,
                                            .since = now,
                                            .why = "mig-manager reported failed"}));
  add(node);
  node = a100("n2", 8);
  node.ready = false;
  add(node);
  const json nodes = state()["nodes"];
  EXPECT_EQ(nodes["n1"]["service"], "Cordoned");
  EXPECT_EQ(nodes["n1"]["rollout"], json::parse(R"({"layout": "mixed", "phase": "Failed",
      "since": "2026-11-21T12:00:00Z", "why": "mig-manager reported failed"})"));
  EXPECT_EQ(nodes["n2"]["service"], "NotReady");
  EXPECT_FALSE(nodes["n2"].contains("rollout"));
}

TEST_F(Page, TellsWhatWaitsAndWhy) {
  add(a100("n1", 2));
  add(pod("big", "", "nvidia.com/gpu", 4));
  const json waiting = state()["waiting"];
  ASSERT_EQ(waiting.size(), 1u) << waiting;
  const json big = waiting["Pod/a/big"];
  EXPECT_NE(big["reason"], "");
  EXPECT_NE(big["message"], "");
}

TEST_F(Page, TellsWhatGPUsDoWhereThatIsMeasured) {
  add(a100("n1", 2));
  Samples samples{.measured_at = now};
  samples.nodes["n1"] = {
      {.index = Text("0"),
       .holders = {{Text("a"), Text("early")}},
       .activity = 0.414f,
       .seen = now},
      {.index = Text("1"), .activity = 0.9f, .seen = now - std::chrono::hours(1)}};
  const Snapshot measured{
      .cluster = cluster, .answers = answers, .settings = settings, .now = now, .samples = samples};
  const json node = json::parse(print_json(page_state(measured, no_clues())))["nodes"]["n1"];
  EXPECT_EQ(node["seen"], json::parse(R"([{"gpu": "0", "busy": 41, "held": [["a", "early"]]}])"))
      << "what was seen long ago is not what it does";
}

TEST_F(Page, TellsOfQueuesAndOfWhatWaitsInThem) {
  GPUQueue queue;
  queue.meta.name = queue.meta.uid = "research";
  queue.spec.cohort_name = "all";
  queue.status.totals = {.admitted = 2, .pending = 1, .used = "6/8"};
  queue.status.usage = {{"nvidia.com/gpu", "training", "8", "10", "2", "4"}};
  queue.status.pending = {{"a/big", 1, now, 1, "QuotaExceeded", "asks for 4"}};
  queue.status.pending.front().reserved_from = now + std::chrono::hours(1);
  add(queue);
  EXPECT_EQ(state()["queues"]["research"], json::parse(R"({
      "cohort": "all", "stop": "None", "admitted": 2, "waits": 1,
      "quotas": [{"resource": "nvidia.com/gpu", "pool": "training", "nominal": "8", "used": "10",
                  "borrowed": "2", "asked": "4"}],
      "pending": [{"workload": "a/big", "pods": 1, "position": 1, "reason": "QuotaExceeded",
                   "message": "asks for 4", "since": "2026-11-21T12:00:00Z",
                   "reserved": "2026-11-21T13:00:00Z"}]})"));
}

TEST_F(Page, TellsWhatABudgetHasLeftAndHowAQueueStands) {
  GPUQueue queue;
  queue.meta.name = queue.meta.uid = "research";
  queue.status.totals.oldest_pending = now - std::chrono::hours(2);
  queue.status.budget.emplace();
  queue.status.budget->used_gpu_hours = "12";
  queue.status.budget->remaining_gpu_hours = "88";
  queue.status.budget->period_ends = now + std::chrono::hours(12);
  queue.status.pending = {{"a/big", 1, now, 1, "QuotaExceeded", "asks for 4"}};
  queue.status.pending.front().earliest_start = now + std::chrono::hours(1);
  queue.status.pending.front().latest_start = now + std::chrono::hours(2);
  queue.status.conditions = {
      {.type = "Ready", .status = "True", .reason = "Fits", .message = "in its quota"},
      {.type = "Stalled", .status = "False", .reason = "No", .message = "no"}};
  add(queue);
  const json told = state()["queues"]["research"];
  EXPECT_EQ(told["budget"], json::parse(R"({"used": "12", "remaining": "88",
      "ends": "2026-11-22T00:00:00Z"})"));
  EXPECT_EQ(told["oldest"], "2026-11-21T10:00:00Z");
  EXPECT_EQ(told["pending"][0]["earliest"], "2026-11-21T13:00:00Z");
  EXPECT_EQ(told["pending"][0]["latest"], "2026-11-21T14:00:00Z");
  EXPECT_EQ(told["ready"],
            json::parse(R"({"status": "True", "reason": "Fits", "message": "in its quota"})"));
}

TEST_F(Page, TellsHowALayoutGoesOnNodeByNode) {
  MIGLayout layout;
  layout.meta.name = layout.meta.uid = "mixed";
  layout.status.nodes = {
      .selected = 6, .updated = 1, .in_progress = 2, .blocked = 3, .failed = 4, .pending = 5};
  layout.status.details = {{.node = "n1",
                            .phase = "Draining",
                            .reason = "PodBlocks",
                            .message = "a/b is protected",
                            .since = now}};
  add(layout);
  EXPECT_EQ(state()["layouts"]["mixed"], json::parse(R"({
      "selected": 6, "updated": 1, "inProgress": 2, "blocked": 3, "failed": 4, "pending": 5,
      "details": [{"node": "n1", "phase": "Draining", "reason": "PodBlocks",
                   "message": "a/b is protected", "since": "2026-11-21T12:00:00Z"}]})"));
}

TEST_F(Page, TellsWhenItWasTakenAndWhatPoolsHaveAndCost) {
  add(a100("n1", 8));
  const json told = state();
  EXPECT_EQ(told["apiVersion"], "page.gpu.berth.dev/v1");
  EXPECT_EQ(told["takenAt"], "2026-11-21T12:00:00Z");
  ASSERT_EQ(told["pools"]["rows"].size(), 1u) << told["pools"];
  EXPECT_EQ(told["pools"]["rows"][0][0], "training");
  EXPECT_EQ(told["costs"]["columns"][0], "NAMESPACE");
  EXPECT_EQ(told["poolCosts"]["columns"][0], "POOL");
}

TEST_F(Page, TellsWhyOfAHundredNodesAndNoMore) {
  for (int i = 0; i < 101; ++i) {
    Node node = a100("n" + std::to_string(i), 1);
    node.unschedulable = true;
    add(std::move(node));
  }
  EXPECT_EQ(why_out_of_service(snapshot(), no_clues()).size(), 100u);
}

TEST_F(Page, SaysWhyANodeIsOutOfService) {
  Node node = a100("n1", 8);
  node.unschedulable = true;
  add(node), add(a100("n2", 8));
  const std::map<std::string, std::string> why = why_out_of_service(snapshot(), no_clues());
  ASSERT_EQ(why.size(), 1u);
  EXPECT_NE(json::parse(why.at("Node/n1"))["message"], "");
  const Result<std::string> asked = page_why(snapshot(), no_clues(), "node/n1");
  ASSERT_TRUE(asked.has_value()) << describe(asked.error());
  EXPECT_EQ(*asked, why.at("Node/n1"));
  EXPECT_FALSE(page_why(snapshot(), no_clues(), "node/n9").has_value());
}

TEST_F(Page, NoNameEndsTheScriptThatCarriesIt) {
  const std::string hostile = "</script><img src=x onerror=alert(1)>";
  add(a100("n1", 8));
  add(pod(hostile, "n1", "nvidia.com/gpu", 1));
  const std::string page = print_page(snapshot(), no_clues());
  EXPECT_THAT(page, Not(HasSubstr("<img")));

  const std::string begin = "id=\"state\">";
  const std::size_t from = page.find(begin) + begin.size();
  const json carried = json::parse(page.substr(from, page.find("</script>", from) - from));
  EXPECT_EQ(carried["nodes"]["n1"]["parts"][0]["held"][0][1], hostile);
}

TEST_F(Page, IsWholeAndAsksNobody) {
  std::string page = print_page(snapshot(), no_clues());
  const std::size_t whose = page.find("/*! https://github.com/leeoniya/uPlot");
  ASSERT_NE(whose, std::string::npos) << "uPlot's licence wants its name told";
  page.erase(whose, page.find("*/", whose) - whose);
  EXPECT_THAT(page, HasSubstr("\nconst uPlot="));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  for (const char* reach : {"http://", "https://", "innerHTML", "src=", "export ", "import "})
    EXPECT_THAT(page, Not(HasSubstr(reach)));
  EXPECT_LT(page.size(), 128u << 10);
}

// What the modules keep to themselves they must not call by the same name: as one file they share
// it.
TEST_F(Page, ItsModulesCallNothingByTheSameName) {
  std::set<std::string> seen;
  const std::regex declared(R"((?:^|\n)(?:export )?(?:async )?(?:function|class|const|let) (\w+))");
  for (const PageFile& file : page_files()) {
    if (!file.name.ends_with(".js")) continue;
    const std::string text(file.text);
    for (std::sregex_iterator at(text.begin(), text.end(), declared), end; at != end; ++at)
      EXPECT_TRUE(seen.insert((*at)[1]).second) << (*at)[1] << " in " << file.name;
  }
  EXPECT_GT(seen.size(), 30u);
}

TEST_F(Page, LoadsItsFilesFromBesideIt) {
  const std::string page = page_files().front().text;
  EXPECT_THAT(page, HasSubstr("href=\"page.css\""));
  EXPECT_THAT(page, HasSubstr("src=\"main.js\""));
  EXPECT_THAT(page, Not(HasSubstr("<style")));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
  for (const PageFile& file : page_files())
    EXPECT_THAT(file.text, Not(HasSubstr("innerHTML"))) << file.name;
}

}  // namespace
}  // namespace berth
