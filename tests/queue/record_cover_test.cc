// SPDX-License-Identifier: Apache-2.0
// A gang's admission releases no more than it was made for, and what runs beyond it is charged.
#include "controller/queue/facts/record_cover.h"

#include <fmt/format.h>

#include "controller/queue/cycle/queue_report.h"
#include "controller/queue/cycle/uncovered.h"
#include "controller/queue/record/admission_record.h"
#include "controller/queue/record/restart.h"
#include "tests/queue/framework_fixture.h"

namespace berth::queue {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr char kCoveredGang[] = "PodGroup/a/gang";
constexpr char kStatefulSet[] = "PodGroup/a/StatefulSet:web";

class RecordCoverTest : public FrameworkGangsTest {
 protected:
  static berth::Pod part(const std::string& name, int gpus, const std::string& size = "2") {
    berth::Pod pod = member(name, size);
    pod.meta.labels.set(names::kQueueLabel, "vision");
    pod.shape.edit()->requests.set("nvidia.com/gpu", Quantity::whole(gpus));
    return pod;
  }
  // A pod of a StatefulSet whose template makes its pods a gang.
  static berth::Pod ordinal(int i, int gpus, const std::string& uid = "") {
    berth::Pod pod = sized(gated(test::stateful_pod("web", i), gpus), "4");
    pod.meta.labels.set(names::kQueueLabel, "vision");
    pod.meta.uid = pod.meta.name + uid;
    return pod;
  }
  static berth::Pod ungated(berth::Pod pod, const std::string& node) {
    pod.shape.edit()->scheduling_gates.clear();
    pod.node_name = Text(node);
    return pod;
  }
  // Rewrites the records in the form before records had shapes and versions.
  void age_records() {
    for (const auto& each : cluster.pods()) {
      berth::Pod pod = *each;
      const auto record =
          decode_admission(pod.meta.annotations.get(names::kAdmittedAnnotation).view());
      if (!record) continue;
      AdmissionFact old = *record;
      old.version = 0;
      old.shapes.clear();
      pod.meta.annotations.set(names::kAdmittedAnnotation, Text(encode_admission(old)));
      add(pod);
    }
  }
  // "2 of 16": what the queue holds of its GPUs.
  std::string holds() const {
    const Survey survey(cluster.view<ClusterIndex>().facts(), 0);
    const QuotaReport& quota = survey.find("vision")->quotas.front();
    return fmt::format("{} of {}", quota.used, quota.nominal);
  }
  std::vector<std::string> uncovered(const std::string& gang) const {
    const FactsIndex& facts = cluster.view<ClusterIndex>().facts();
    std::vector<std::string> all;
    for (const UncoveredMember& member : uncovered_members(*facts.find(gang), facts))
      all.push_back(*member.pod->uid + " " + member.why);
    return all;
  }
};

// The gang is admitted with the requests of its oldest member, times its size.
TEST_F(RecordCoverTest, LaterMembersOfAFastGangMayAskNoMoreThanItWasAdmittedWith) {
  begin();
  start(kCoveredGang, {fast(part("c0", 0, "4"))});
  EXPECT_EQ(holds(), "0 of 16");
  for (const char* name : {"c1", "c2", "c3"}) add(fast(part(name, 8, "4")));
  EXPECT_THAT(follow(kCoveredGang), IsEmpty());
  EXPECT_EQ(holds(), "0 of 16");
  EXPECT_THAT(
      uncovered(kCoveredGang),
      testing::Contains(
          "c1 asks for 8 nvidia.com/gpu, and its gang was admitted with 4 pods of no GPU, of which "
          "1 is released; ask for no more, or delete all pods of the gang, and it queues again"));
  add(fast(part("c4", 0, "4")));
  EXPECT_THAT(follow(kCoveredGang), ElementsAre("c4"));
}

TEST_F(RecordCoverTest, AFastGangOfOneGpuEachStaysOne) {
  begin();
  start(kCoveredGang, {fast(part("c0", 1, "4"))});
  add(fast(part("c1", 8, "4"))), add(fast(part("c2", 1, "4")));
  EXPECT_THAT(follow(kCoveredGang), ElementsAre("c2"));
  EXPECT_EQ(holds(), "4 of 16");
}

TEST_F(RecordCoverTest, ASuccessorMayNotAskForMore) {
  begin();
  start(kCoveredGang, {part("g0", 1), part("g1", 1)});
  lose("g1");
  add(part("more", 8));
  EXPECT_THAT(follow(kCoveredGang), IsEmpty());
  EXPECT_EQ(holds(), "2 of 16");
  add(part("same", 1));
  EXPECT_THAT(follow(kCoveredGang), ElementsAre("same"));
  EXPECT_EQ(holds(), "2 of 16");
  lose("same"), add(part("less", 0));
  EXPECT_THAT(follow(kCoveredGang), ElementsAre("less"));
}

// Otherwise the members that it seems to lack would be charged, and would block other queues.
TEST_F(RecordCoverTest, AGangWhoseSizeIsRaisedHoldsNoMore) {
  begin();
  start(kCoveredGang, {part("g0", 2, "1")});
  EXPECT_EQ(holds(), "2 of 16");
  berth::Pod running = **cluster.pods().begin();
  running.meta.annotations.set(names::kPodGroupSizeAnnotation, "9");
  add(running);
  EXPECT_EQ(holds(), "2 of 16");
}

// The quota does not include a resource that the gang never requested.
TEST_F(RecordCoverTest, ASuccessorMayNotAskForAnotherResource) {
  begin();
  start(kCoveredGang, {part("g0", 1), part("g1", 1)});
  lose("g1");
  berth::Pod other = part("other", 1);
  other.shape.edit()->requests.set("nvidia.com/mig-1g.10gb", Quantity::whole(1));
  add(other);
  EXPECT_THAT(follow(kCoveredGang), IsEmpty());
}

// The template of a StatefulSet is edited, and its rolling update re-creates the last pod.
TEST_F(RecordCoverTest, AnEditedTemplateDoesNotGrowByTheOldAdmission) {
  begin();
  start(kStatefulSet, {ordinal(0, 1), ordinal(1, 1), ordinal(2, 1), ordinal(3, 1)});
  lose("web-3"), add(ordinal(3, 8, "-next"));
  EXPECT_THAT(follow(kStatefulSet), IsEmpty());
  EXPECT_EQ(holds(), "4 of 16");
  // Once all pods are deleted, the gang queues with its new requests.
  for (const char* name : {"web-0", "web-1", "web-2", "web-3"}) lose(name);
  settle();
  for (int i = 0; i < 4; ++i) add(ordinal(i, 4, "-next"));
  EXPECT_THAT(follow(kStatefulSet), IsEmpty());
  settle();
  now += kRestartsWithin;
  settle();
  EXPECT_THAT(follow(kStatefulSet), SizeIs(4));
  EXPECT_EQ(holds(), "16 of 16");
}

// The sum of the old requests would cover some of the new pods, and the others would wait forever.
TEST_F(RecordCoverTest, AnEditedGangDoesNotStartByHalves) {
  begin();
  start(kStatefulSet, {ordinal(0, 1), ordinal(1, 1), ordinal(2, 1), ordinal(3, 1)});
  for (const char* name : {"web-0", "web-1", "web-2", "web-3"}) remove(name);
  settle();
  for (const char* name : {"web-0", "web-1", "web-2", "web-3"}) lose(name);
  for (int i = 0; i < 4; ++i) add(ordinal(i, 2, "-next"));
  settle();
  EXPECT_THAT(follow(kStatefulSet), IsEmpty());
}

// The webhook was down while the pods were re-created.
TEST_F(RecordCoverTest, WhatRunsBeyondTheAdmissionIsCharged) {
  begin();
  start(kStatefulSet, {ordinal(0, 1), ordinal(1, 1), ordinal(2, 1), ordinal(3, 1)});
  lose("web-3"), run(ungated(ordinal(3, 8, "-next"), "n1"));
  EXPECT_EQ(holds(), "11 of 16");
  lose("web-2"), run(ungated(ordinal(2, 8, "-next"), "n2"));
  EXPECT_EQ(holds(), "18 of 16");
  remove("web-2");
  const FactsIndex& facts = cluster.view<ClusterIndex>().facts();
  EXPECT_EQ(facts.find(kStatefulSet)->standing.charges.front().leaving, 8);
  lose("web-2"), lose("web-3");
  EXPECT_EQ(holds(), "4 of 16");
}

// The admitted members of the gang request no GPU, so nothing was charged.
TEST_F(RecordCoverTest, WhatRunsBeyondAnAdmissionOfNothingIsCharged) {
  begin();
  start(kCoveredGang, {part("g0", 0), part("g1", 0)});
  lose("g1"), run(ungated(part("g2", 8), "n1"));
  EXPECT_EQ(holds(), "8 of 16");
}

TEST_F(RecordCoverTest, AGatedMemberThatIsNotCoveredTakesNoRoom) {
  add(queue_of("vision", 64));
  begin();
  start(kCoveredGang, {fast(part("c0", 0, "3"))});
  add(fast(part("c1", 8, "3"))), add(fast(part("c2", 8, "3")));
  add(AdmissionsTest::gated("other", 8));
  decide();
  EXPECT_THAT(in_flight(), ElementsAre("Pod/a/other"));
}

TEST_F(RecordCoverTest, ARecordOfAnEarlierBerthBoundsItsGangToo) {
  begin();
  start(kCoveredGang, {part("g0", 1), part("g1", 1)});
  age_records();
  lose("g1");
  add(part("more", 8));
  EXPECT_THAT(follow(kCoveredGang), IsEmpty());
  EXPECT_EQ(holds(), "2 of 16");
  add(part("same", 1));
  EXPECT_THAT(follow(kCoveredGang), ElementsAre("same"));
}

// It says nothing about resources that no quota counts.
TEST_F(RecordCoverTest, ARecordOfAnEarlierBerthBoundsNoResourceWithoutAnAmount) {
  const auto with_nic = [](berth::Pod pod) {
    pod.shape.edit()->requests.set("rdma/hca", Quantity::whole(1));
    return pod;
  };
  for (const char* name : {"n1", "n2"}) {
    Node node = node_of(name, 8);
    node.allocatable.set("rdma/hca", Quantity::whole(8));
    add(node);
  }
  begin();
  start(kCoveredGang, {with_nic(part("g0", 1)), with_nic(part("g1", 1))});
  age_records();
  lose("g1"), add(with_nic(part("same", 1)));
  EXPECT_THAT(follow(kCoveredGang), ElementsAre("same"));
}

TEST_F(RecordCoverTest, AMixedRecordOfAnEarlierBerthLetsASuccessorOfTheSameKindGo) {
  begin();
  start(kCoveredGang, {part("launcher", 0), part("worker", 8)});
  age_records();
  lose("worker");
  add(part("next", 8));
  EXPECT_THAT(follow(kCoveredGang), ElementsAre("next"));
}

// Its members came one by one, each with more than the gang was admitted with.
TEST_F(RecordCoverTest, WhatAnEarlierBerthReleasedBeyondTheAdmissionIsCharged) {
  begin();
  start(kCoveredGang, {fast(part("c0", 1, "3"))});
  berth::Pod grown = part("c1", 8, "3");
  grown.meta.annotations.set(
      names::kAdmittedAnnotation, Text(encode_admission([&] {
        AdmissionFact fact = *decode_admission(
            pod_named("c0").meta.annotations.get(names::kAdmittedAnnotation).view());
        fact.uid = "c1";
        return fact;
      }())));
  run(ungated(grown, "n1"));
  age_records();
  EXPECT_EQ(holds(), "9 of 16");
}

TEST(AdmissionRecord, SaysItsVersionAndShapes) {
  const AdmissionFact fact{.uid = "u",
                           .queue = "vision",
                           .pool = "training",
                           .pods = 3,
                           .amounts = {{"nvidia.com/gpu", 16}},
                           .since = 5,
                           .seats = {{"leader", 1}, {"worker", 2}},
                           .shapes = {{"leader", 1, {}}, {"worker", 2, {{"nvidia.com/gpu", 8}}}}};
  const std::string text = encode_admission(fact);
  EXPECT_THAT(text, HasSubstr(R"("version":1)"));
  EXPECT_THAT(text, HasSubstr(R"("shapes":[{"seat":"leader","pods":1,"asks":{}},)"
                              R"({"seat":"worker","pods":2,"asks":{"nvidia.com/gpu":8}}])"));
  EXPECT_EQ(decode_admission(text), fact);
  EXPECT_EQ(decode_admission(R"({"uid":"u","queue":"q","cohort":"","pool":"p","pods":1,)"
                             R"("amounts":{},"since":"2026-11-21T12:00:00.000000Z","epoch":1,)"
                             R"("shapes":[{"pods":-1,"asks":{}}]})"),
            std::nullopt);
}

TEST(AdmissionRecord, OfAnEarlierBerthCoversItsAmounts) {
  const auto fact = decode_admission(
      R"({"uid":"u","queue":"q","cohort":"","pool":"p","pods":2,"amounts":{"nvidia.com/gpu":4},)"
      R"("since":"2026-11-21T12:00:00.000000Z","epoch":1})");
  ASSERT_TRUE(fact.has_value());
  EXPECT_EQ(fact->version, 0);
  EXPECT_THAT(total_of(*fact), ElementsAre(Pair("nvidia.com/gpu", 4)));
  EXPECT_FALSE(goes_by_worth(*fact));
  EXPECT_THAT(encode_admission(*fact), testing::Not(HasSubstr("version")));
}

}  // namespace
}  // namespace berth::queue
