// SPDX-License-Identifier: Apache-2.0
// Queues' needs: the last node that offers a resource stays.
#include "controller/disruption/queue_stakes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/reasons.h"
#include "controller/disruption/capacity_guard.h"
#include "controller/queue/record/admission_ledger.h"
#include "tests/mig/queued_job.h"
#include "tests/policy/policy_yaml.h"

namespace berth::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr char kWholes[] = "nvidia.com/gpu";
constexpr char kSlices[] = "nvidia.com/mig-1g.10gb";

// Pool "training" has n1 and n2 of four GPUs, pool "serving" n3 of seven slices.
struct QueueStakes : ::testing::Test {
  QueueStakes() {
    world.add(
        policy("pools: [{name: training, nodeSelector: {matchLabels: {tier: t}}}, "
               "{name: serving, nodeSelector: {matchLabels: {tier: s}}}]"));
    for (const char* name : {"n1", "n2"})
      world.add(node(name).allocatable(kWholes, 4).label("tier", "t"));
    world.add(node("n3").allocatable(kSlices, 7).label("tier", "s"));
    world.add(team_a());
  }
  void claim(const std::string& resource, const std::string& pool, std::int64_t nominal = 4) {
    world.add(lab_queue({{resource, pool, nominal, {}, {}}}));
  }
  // Whether the node may be claimed once `taken` are.
  std::string refusal(const std::string& name, const std::vector<std::string>& taken = {}) {
    const Snapshot snapshot = world.snapshot();
    const SlotLedger ledger = read_ledger(snapshot);
    CapacityGuard guard(snapshot, ledger, spec);
    for (const std::string& other : taken) guard.take(*world.cluster.nodes().find(other));
    const Node& node = *world.cluster.nodes().find(name);
    const auto refused = guard.refuse(node);
    last = guard.last_provided(node);
    return refused ? refused->reason + ": " + refused->message : "";
  }
  // The admission ledger with one entry.
  void admit(queue::AdmissionFact admission, const std::string& refused = "") {
    const queue::LedgerFact entry{
        .workload = "Job/team-a/train", .admission = std::move(admission), .refused = refused};
    ConfigMap map;
    map.meta.name = names::kAdmissionsConfigMap;
    map.meta.namespace_ = world.settings.berth_namespace;
    map.meta.uid = "uid-admissions";
    map.meta.annotations.set(names::kEpochAnnotation, "1");
    map.data["uid-train"] = queue::encode_entry(entry);
    world.add(std::move(map));
  }
  PlannedCluster world;
  CapacityGuardSpec spec;
  std::vector<std::string> last;
};

TEST_F(QueueStakes, ANominalQuotaKeepsTheLastNodeOfItsPool) {
  claim(kSlices, "serving");
  EXPECT_THAT(
      refusal("n3"),
      AllOf(HasSubstr("LastProvider: no other node in service of pool serving offers "
                      "nvidia.com/mig-1g.10gb, and the nominal quota of GPUQueue lab counts "
                      "on it; lower the quota, add capacity"),
            HasSubstr("spec.capacityGuard.retire: [nvidia.com/mig-1g.10gb]")));
  EXPECT_THAT(last, ElementsAre(kSlices));
  EXPECT_EQ(refusal("n1"), "") << "nobody counts on it";
  spec.retire = {kSlices};
  EXPECT_EQ(refusal("n3"), "");
  spec.retire.clear(), spec.protect_last_provider = false;
  EXPECT_EQ(refusal("n3"), "");
}

TEST_F(QueueStakes, AQuotaOfNothingOrOfAnotherPoolKeepsNone) {
  claim(kSlices, "serving", 0);
  EXPECT_EQ(refusal("n3"), "");
  claim(kSlices, "training");
  EXPECT_EQ(refusal("n3"), "");
  EXPECT_THAT(last, IsEmpty());
}

TEST_F(QueueStakes, InItsPoolTheLastCountsWhateverOthersOffer) {
  claim(kWholes, "training");
  EXPECT_EQ(refusal("n1"), "") << "n2 offers it too";
  world.add(node("n4").allocatable(kWholes, 4).label("tier", "s"));
  EXPECT_THAT(refusal("n2", {"n1"}), HasSubstr("of pool training offers nvidia.com/gpu"));
  claim(kWholes, "*");
  EXPECT_EQ(refusal("n2", {"n1"}), "") << "anywhere there is n4";
  EXPECT_THAT(refusal("n2", {"n1", "n4"}), HasSubstr("no other node in service offers nvidia.com"));
  world.claim("n1", "small");
  claim(kWholes, "training");
  EXPECT_THAT(refusal("n2"), HasSubstr("of pool training")) << "a slot is as good as a cordon";
}

TEST_F(QueueStakes, ForTheClassAnyGpuWillDo) {
  claim("gpu", "*");
  EXPECT_EQ(refusal("n2", {"n1"}), "") << "n3 offers slices";
  EXPECT_THAT(refusal("n2", {"n1", "n3"}),
              HasSubstr("no other node in service offers a GPU, and "));
  spec.retire = {kWholes};
  EXPECT_EQ(refusal("n2", {"n1", "n3"}), "");
  spec.retire.clear();
  claim("gpu", "training");
  EXPECT_THAT(refusal("n2", {"n1"}), HasSubstr("of pool training offers a GPU"));
}

TEST_F(QueueStakes, WhatIsAdmittedCountsUntilItLeaves) {
  claim(kWholes, "training", 0);
  Job job = admitted_job("train");
  job.meta.annotations.set(names::kAdmittedAnnotation, record("uid-train", "training"));
  world.add(job);
  EXPECT_THAT(refusal("n2", {"n1"}),
              HasSubstr("and work admitted by GPUQueue lab counts on it; wait "
                        "until that ends"));
  job.suspended = true;
  world.add(job);
  EXPECT_EQ(refusal("n2", {"n1"}), "");
  world.add(pod("train-0").gpu(1).on("n2").job("train").terminating());
  EXPECT_EQ(refusal("n2", {"n1"}), "") << "its last pod is about to go";
  world.cluster.erase<Pod>("team-a", "train-0");
  admit({.uid = "uid-train",
         .queue = "lab",
         .pool = "training",
         .amounts = {{kWholes, 2}},
         .since = 5});
  EXPECT_THAT(refusal("n2", {"n1"}), HasSubstr("admitted by GPUQueue lab")) << "in flight";
}

TEST_F(QueueStakes, AnAdmissionOnItsWayNamesItsNodes) {
  EXPECT_THAT(admissions_in_flight(world.snapshot()), IsEmpty());
  admit({.uid = "uid-train", .queue = "lab", .pool = "training", .amounts = {{kWholes, 2}}});
  EXPECT_THAT(admissions_in_flight(world.snapshot()), IsEmpty()) << "anywhere in its pool";
  const queue::AdmissionFact pinned{.uid = "uid-train",
                                    .queue = "lab",
                                    .pool = "training",
                                    .amounts = {{kWholes, 2}},
                                    .nodes = {"n1", "n2"}};
  admit(pinned);
  EXPECT_THAT(admissions_in_flight(world.snapshot()),
              ElementsAre(Pair("n1", "Job/team-a/train"), Pair("n2", "Job/team-a/train")));
  admit(pinned, "not on Fridays");
  EXPECT_THAT(admissions_in_flight(world.snapshot()), IsEmpty()) << "it was withdrawn";
}

}  // namespace
}  // namespace berth::test
