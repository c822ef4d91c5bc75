// SPDX-License-Identifier: Apache-2.0
// The content of views, and that after many changes they equal new ones.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "apis/base/names.h"
#include "controller/admission/gpu_offers.h"
#include "controller/disruption/pod_groups.h"
#include "controller/disruption/rollouts.h"
#include "controller/disruption/slots.h"
#include "controller/fleet/gpu_users.h"
#include "controller/observe/idle_pods.h"
#include "tests/support/builders.h"

namespace berth::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr char kGpu[] = "nvidia.com/gpu";

std::vector<std::string> names(const auto& objects) {
  std::vector<std::string> out;
  for (const auto* object : objects) out.push_back(object->meta.name);
  return out;
}

std::string record(std::string_view phase, std::string_view failed = {}) {
  NodeRollout rollout;
  rollout.seq = 1;
  rollout.layout = "a";
  rollout.failed_config = failed;
  std::string text = encode_rollout(rollout);
  const std::string idle = R"("phase":"Idle")";
  return text.replace(text.find(idle), idle.size(), fmt::format(R"("phase":"{}")", phase));
}

Node with_record(const std::string& name, const std::string& text) {
  return node(name).annotation(names::kRolloutAnnotation, text);
}

ConfigMap ledger_of(const std::string& entry) {
  ConfigMap map;
  map.meta.name = names::kSlotsConfigMap;
  map.meta.namespace_ = "berth-system";
  map.meta.uid = "ledger";
  if (!entry.empty())
    map.data[entry] = encode_slot({.node_uid = "uid-" + entry, .holder = "MIGLayout/a"});
  return map;
}

TEST(Rollouts, NodesUnderWayAndWithFailuresAreKnownByTheirRecord) {
  ClusterState cluster;
  cluster.upsert(Node(node("new")), {});
  cluster.upsert(with_record("back", record("Idle")), {});
  cluster.upsert(with_record("out", record("Cordoned")), {});
  cluster.upsert(with_record("edited", R"({"phase": "Idle"})"), {});
  cluster.upsert(with_record("lost", record("Failed", "berth-a-1")), {});
  EXPECT_THAT(names(nodes_under_way(cluster)), ElementsAre("edited", "lost", "out"));
  EXPECT_THAT(names(cluster.view<Rollouts>().with_failures()), ElementsAre("lost"));

  cluster.upsert(with_record("out", record("Idle")), {});
  cluster.erase<Node>("", "lost");
  EXPECT_THAT(names(nodes_under_way(cluster)), ElementsAre("edited"));
  EXPECT_THAT(cluster.view<Rollouts>().with_failures(), IsEmpty());
}

TEST(Rollouts, ARecordIsReadOncePerChangeAndAnotherNodesIsNone) {
  ClusterState cluster;
  (void)cluster.view<Rollouts>();
  NodeRollout rollout;
  rollout.node_uid = "uid-n1";
  Node n1 = with_record("n1", encode_rollout(rollout));
  cluster.upsert(n1, {});
  EXPECT_TRUE(read_rollout(cluster, *cluster.nodes().find("n1")).rollout);
  n1.meta.labels.set("a", "b");
  cluster.upsert(n1, {});
  EXPECT_TRUE(read_rollout(cluster, *cluster.nodes().find("n1")).rollout) << "the heartbeat's";
  // Re-created with the same name, and the record in its template.
  n1.meta.uid = "uid-2";
  cluster.upsert(n1, {});
  EXPECT_TRUE(read_rollout(cluster, *cluster.nodes().find("n1")).foreign);
  n1.meta.uid = "uid-n1";
  EXPECT_TRUE(read_rollout(cluster, n1).rollout) << "not the one in the store: read from it";
}

TEST(GpuUsers, AreWhoHoldsSome) {
  ClusterState cluster;
  cluster.upsert(Pod(pod("a").on("n1").gpu(1)), {});
  cluster.upsert(Pod(pod("b").on("n1").gpu(2)), {});
  cluster.upsert(Pod(pod("idle").on("n1").gpu(0)), {});
  cluster.upsert(Pod(pod("unbound").gpu(1)), {});
  const auto users = [&] { return names(cluster.view<GpuUsers>().of(kGpu)); };
  EXPECT_THAT(users(), UnorderedElementsAre("a", "b"));
  cluster.upsert(Pod(pod("a").on("n1").gpu(1).phase(PodPhase::kSucceeded)), {});
  EXPECT_THAT(users(), ElementsAre("b"));
  cluster.erase<Pod>("team-a", "b");
  EXPECT_THAT(users(), IsEmpty());
}

TEST(PodGroups, CountTheirBoundPodsByNamespace) {
  ClusterState cluster;
  const auto size = [&](const char* in) { return cluster.view<PodGroups>().size_of(in, "ring"); };
  cluster.upsert(Pod(pod("a").on("n1").label(names::kPodGroupLabel, "ring")), {});
  cluster.upsert(Pod(pod("b").label(names::kPodGroupLabel, "ring")), {});
  EXPECT_EQ(size("team-a"), 1);
  EXPECT_EQ(size("team-b"), 0);
  cluster.upsert(Pod(pod("b").on("n1").label(names::kPodGroupLabel, "ring")), {});
  EXPECT_EQ(size("team-a"), 2);
  cluster.erase<Pod>("team-a", "a");
  cluster.upsert(Pod(pod("b").on("n1")), {});
  EXPECT_EQ(size("team-a"), 0);
}

TEST(SlotLedgers, AreReadAsTheyStand) {
  ClusterState cluster;
  Settings settings;
  settings.berth_namespace = "berth-system";
  EXPECT_EQ(read_ledger(cluster, settings).config_map, nullptr);
  cluster.upsert(ledger_of("n1"), {});
  EXPECT_NE(read_ledger(cluster, settings).find("n1"), nullptr);
  EXPECT_EQ(read_ledger(cluster, settings).config_map,
            cluster.config_maps().find("berth-system", names::kSlotsConfigMap));
  ConfigMap elsewhere = ledger_of("n2");
  elsewhere.meta.namespace_ = "default";
  cluster.upsert(elsewhere, {});
  EXPECT_EQ(read_ledger(cluster, settings).find("n2"), nullptr);
  cluster.erase<ConfigMap>("berth-system", names::kSlotsConfigMap);
  EXPECT_THAT(read_ledger(cluster, settings).slots, IsEmpty());
}

// The content of a view as text: by name, not by address.
std::string says(const Rollouts& rollouts, const ClusterState& cluster) {
  std::string out;
  for (const auto& node : cluster.nodes()) {
    const RolloutRecord* kept = rollouts.find(*node);
    const RolloutRecord read = read_rollout(*node);
    if ((kept != nullptr) != read.text.has_value()) out += node->meta.name + " is kept wrongly; ";
    if (kept != nullptr)
      out += fmt::format("{} {} {} {} {}; ", node->meta.name, *kept->text, kept->seq(),
                         kept->foreign, kept->rollout == read.rollout);
  }
  return fmt::format("{} under way {} failed {}", out,
                     ::testing::PrintToString(names(rollouts.under_way())),
                     ::testing::PrintToString(names(rollouts.with_failures())));
}
std::string says(const GpuUsers& users, const ClusterState& cluster) {
  std::string out;
  for (const auto& pod : cluster.pods())
    out += fmt::format("{} {}; ", pod->meta.name, users.of(kGpu).contains(pod.get()));
  return fmt::format("{} of {}", out, users.of(kGpu).size());
}
std::string says(const PodGroups& groups, const ClusterState&) {
  return fmt::format("{} {}", groups.size_of("team-a", "g0"), groups.size_of("team-a", "g1"));
}
std::string says(const SlotLedgers& ledgers, const ClusterState& cluster) {
  const SlotLedger& ledger = ledgers.in("berth-system");
  std::string out = fmt::format(
      "{} of the store: {}; ", ledger.epoch,
      ledger.config_map == cluster.config_maps().find("berth-system", names::kSlotsConfigMap));
  for (const auto& [node, slot] : ledger.slots) out += node + "=" + encode_slot(slot) + "; ";
  return out;
}
std::string says(const KeptOffers& kept, const ClusterState& cluster) {
  std::string out;
  const GpuOffers& offers = kept.of(cluster);
  for (const std::string& resource : offers.resources()) {
    out += resource;
    for (const NodeClass* of : offers.find(resource)->classes)
      for (const auto& node : of->nodes)
        out += fmt::format(" {}/{}/{}", of->number, node->meta.name,
                           node->meta.labels.get("zone").view());
  }
  return out;
}

std::string says(const WarnedPods& warned, const ClusterState& cluster) {
  std::string out;
  for (const auto& [key, pod] : warned.all())
    out += fmt::format("{} {}; ", key,
                       pod == cluster.pods().find(pod->meta.namespace_.view(), pod->meta.name));
  return out;
}

template <class View>
void expect_kept(const ClusterState& cluster, int step) {
  EXPECT_EQ(says(cluster.view<View>(), cluster), says(cluster.rebuilt<View>(), cluster))
      << "at step " << step;
}

// A random object of a small cluster changes, is re-created, or is deleted.
class Chance {
 public:
  explicit Chance(unsigned seed) : random_(seed) {}
  int below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }
  std::string name(const char* stem) { return stem + std::to_string(below(4)); }

  void change(ClusterState& cluster) {
    switch (below(8)) {
      case 0:
        cluster.erase<Node>("", name("n"));
        return;
      case 1:
        cluster.erase<Pod>("team-a", name("p"));
        return;
      case 2:
        if (below(3) == 0)
          cluster.erase<ConfigMap>("berth-system", names::kSlotsConfigMap);
        else
          cluster.upsert(ledger_of(below(2) == 0 ? "" : name("n")), {});
        return;
      case 3:
        if (below(2) == 0)
          cluster.erase<MIGLayout>("", "layout");
        else
          cluster.upsert(MIGLayout(layout("layout").priority(below(3))), {});
        return;
      case 4:
      case 5:
        cluster.upsert(some_node(), {});
        return;
      default:
        cluster.upsert(some_pod(), {});
    }
  }

 private:
  Node some_node() {
    static constexpr const char* kPhases[] = {"Idle", "Cordoned", "Failed"};
    Node made = node(name("n")).a100_80(1 + below(2)).label("zone", name("z"));
    if (below(2) == 0) made.meta.labels.set("tier", "mig");
    made.meta.resource_version = std::to_string(below(1000));
    if (below(6) == 0) made.meta.uid += "-again";
    if (below(3) > 0) {
      std::string text = record(kPhases[below(3)], below(2) == 0 ? "berth-a-1" : "");
      if (below(5) == 0) text = text.substr(0, text.size() / 2);
      made.meta.annotations.set(names::kRolloutAnnotation, text);
    }
    return made;
  }
  Pod some_pod() {
    Pod made = pod(name("p")).gpu(below(3));
    if (below(4) > 0) made.node_name = name("n");
    if (below(3) == 0) made.phase = PodPhase::kSucceeded;
    if (below(2) == 0) made.meta.labels.set(names::kPodGroupLabel, below(2) == 0 ? "g0" : "g1");
    if (below(2) == 0) made.meta.annotations.set(names::kReclaimAfterAnnotation, "a time");
    return made;
  }
  std::mt19937 random_;
};

TEST(Views, KeptChangeByChangeTheySayWhatTheyWouldMadeAnew) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Chance chance(seed);
    ClusterState cluster;
    std::vector<ClusterState> copies;
    for (int step = 0; step < 150 && !::testing::Test::HasFailure(); ++step) {
      // A copy changes on its own; its changes do not affect the original.
      if (step % 40 == 20) copies.push_back(cluster);
      if (!copies.empty()) chance.change(copies.back());
      chance.change(cluster);
      for (const ClusterState* state : {&cluster, copies.empty() ? &cluster : &copies.back()}) {
        expect_kept<Rollouts>(*state, step);
        expect_kept<GpuUsers>(*state, step);
        expect_kept<PodGroups>(*state, step);
        expect_kept<SlotLedgers>(*state, step);
        expect_kept<KeptOffers>(*state, step);
        expect_kept<WarnedPods>(*state, step);
      }
    }
  }
}

}  // namespace
}  // namespace berth::test
