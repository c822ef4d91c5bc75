// SPDX-License-Identifier: Apache-2.0
// The page: what its state tells of a small cluster, and that no name gets out of it.
#include "controller/page/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apis/names.h"
#include "controller/disruption/rollout_annotation.h"
#include "controller/page/page_state.h"
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
  json state() const { return json::parse(page_state(snapshot(), no_clues())); }

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
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0], json::parse(R"({
      "name": "n1", "pool": "training", "service": "InService",
      "product": "NVIDIA-A100-SXM4-80GB", "gpus": 8,
      "parts": [{"resource": "nvidia.com/gpu", "offered": 8, "units": 8, "held": [
          {"namespace": "a", "pod": "early", "count": 1},
          {"namespace": "a", "pod": "late", "count": 2}]}]})"));
  EXPECT_EQ(nodes[1]["name"], "n2");
}

TEST_F(Page, TellsTheMemoryThatIsInNoSlice) {
  Node node = a100("n1", 1);
  node.allocatable.set("nvidia.com/gpu", Quantity::whole(0));
  node.allocatable.set("nvidia.com/mig-1g.10gb", Quantity::whole(7));
  add(node);
  const json cut = state()["nodes"][0];
  EXPECT_EQ(cut["unused"], 1) << cut;
  EXPECT_EQ(cut["parts"][0]["units"], 1) << cut;
}

TEST_F(Page, TellsNothingOfMemoryWhereDevicesAreShared) {
  Node node = a100("n1", 1);
  node.allocatable.set("nvidia.com/gpu", Quantity::whole(0));
  node.allocatable.set("nvidia.com/mig-1g.10gb", Quantity::whole(3));
  node.allocatable.set("nvidia.com/mig-1g.10gb.shared", Quantity::whole(8));
  add(node);
  EXPECT_FALSE(state()["nodes"][0].contains("unused")) << state()["nodes"][0];
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
  EXPECT_EQ(nodes[0]["service"], "Cordoned");
  EXPECT_EQ(nodes[0]["rollout"], json::parse(R"({"layout": "mixed", "phase": "Failed",
      "since": "2026-11-21T12:00:00Z", "why": "mig-manager reported failed"})"));
  EXPECT_EQ(nodes[1]["service"], "NotReady");
  EXPECT_FALSE(nodes[1].contains("rollout"));
}

TEST_F(Page, TellsWhatWaitsAndWhy) {
  add(a100("n1", 2));
  add(pod("big", "", "nvidia.com/gpu", 4));
  const json waiting = state()["waiting"];
  ASSERT_EQ(waiting.size(), 1u);
  EXPECT_EQ(waiting[0]["subject"], "Pod/a/big");
  EXPECT_NE(waiting[0]["reason"], "");
  EXPECT_NE(waiting[0]["message"], "");
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
  EXPECT_EQ(carried["nodes"][0]["parts"][0]["held"][0]["pod"], hostile);
}

TEST_F(Page, IsWholeAndAsksNobody) {
  const std::string page = print_page(snapshot(), no_clues());
  EXPECT_THAT(page, Not(HasSubstr("{{")));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  for (const char* reach : {"http://", "https://", "innerHTML", "src=", "fetch("})
    EXPECT_THAT(page, Not(HasSubstr(reach)));
  EXPECT_LT(page.size(), 100u << 10);
}

}  // namespace
}  // namespace berth
