// SPDX-License-Identifier: Apache-2.0
// berth charges records of a later version of berth and does not change them.
#include "controller/queue/status/newer_records.h"

#include <nlohmann/json.hpp>

#include "controller/queue/cycle/queue_report.h"
#include "controller/queue/recall/reconcile.h"
#include "controller/queue/record/recall.h"
#include "controller/queue/record/restart.h"
#include "controller/queue/status/reconcile.h"
#include "tests/queue/framework_fixture.h"

namespace berth::queue {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kNewerGang[] = "PodGroup/a/gang";

// A record of a later version: a list where this one expects a number, and new fields.
std::string of_later(std::string_view record) {
  nlohmann::json later = nlohmann::json::parse(record);
  later["version"] = 2;
  later["epoch"] = {3, 1};
  later["lease"] = "gold";
  return later.dump();
}

class NewerRecordsTest : public FrameworkGangsTest {
 protected:
  void make_newer(const std::string& name) {
    berth::Pod pod = pod_named(name);
    pod.meta.annotations.set(
        names::kAdmittedAnnotation,
        Text(of_later(pod.meta.annotations.get(names::kAdmittedAnnotation).view())));
    add(pod);
  }
  void make_newer_in_ledger(const std::string& key) {
    ConfigMap taken = *ledger();
    taken.data[key] = of_later(taken.data[key]);
    add(taken);
  }
  std::string told() {
    std::string text;
    for (const StatusUpdate& status : reconcile_queues(snapshot()).statuses) {
      text += status.body;
      for (const EventNote& event : status.events) text += event.reason + ": " + event.note;
    }
    return text;
  }
  std::string reason_of_pending(const std::string& workload) const {
    const FactsIndex& facts = cluster.view<ClusterIndex>().facts();
    const Survey survey(facts, 10);
    return reason_of(survey.outcome(*facts.find(workload)));
  }
};

TEST_F(NewerRecordsTest, AGangIsChargedAndGetsNoMembers) {
  begin();
  start(kNewerGang, {member("g0", "2"), member("g1", "2")});
  make_newer("g0");
  lose("g1"), add(member("g2", "2"));
  EXPECT_EQ(used(), 8);
  EXPECT_THAT(follow(kNewerGang), IsEmpty());
  EXPECT_THAT(told(), HasSubstr("RecordNewer: 1 workload is left alone, as a later berth has "
                                "recorded the admission, with version 2 where this one knows 1: "
                                "PodGroup/a/gang"));
}

TEST_F(NewerRecordsTest, NothingOfItIsTakenBack) {
  begin();
  start(kNewerGang, {member("g0", "2"), member("g1", "2")});
  for (const char* name : {"g0", "g1"}) {
    berth::Pod pod = pod_named(name);
    pod.meta.owner_references = {
        {.kind = "ReplicaSet", .name = "web", .uid = "web", .controller = true}};
    add(pod);
  }
  GPUQueue drained = queue_of("vision", 16);
  drained.spec.stop_policy = StopPolicy::kHoldAndDrain;
  add(drained);
  ASSERT_THAT(reconcile_requeue(snapshot(), kNewerGang).objects, Not(IsEmpty()));
  make_newer("g1");
  EXPECT_THAT(reconcile_requeue(snapshot(), kNewerGang).objects, IsEmpty());
}

TEST_F(NewerRecordsTest, ASuspendedJobIsNotAdmittedAgain) {
  add(job_of("a", "train", 4));
  begin();
  ASSERT_THAT(reconcile_admissions(snapshot()).objects, SizeIs(1));
  berth::Job job = job_of("a", "train", 4);
  note_admission(job.meta, "vision", {{"nvidia.com/gpu", 4}});
  job.meta.annotations.set(
      names::kAdmittedAnnotation,
      Text(of_later(job.meta.annotations.get(names::kAdmittedAnnotation).view())));
  add(job);
  EXPECT_THAT(reconcile_admissions(snapshot()).objects, IsEmpty());
  EXPECT_EQ(reason_of_pending("Job/a/train"), "RecordNewer");
}

// It counts, and is neither released nor dropped. berth still admits other workloads.
TEST_F(NewerRecordsTest, AnEntryOfTheLedgerStays) {
  begin();
  add(gated(AdmissionsTest::gated("solo", 4), 4));
  decide();
  ASSERT_THAT(in_flight(), ElementsAre("Pod/a/solo"));
  make_newer_in_ledger("solo");
  EXPECT_EQ(used(), 4);
  EXPECT_THAT(follow("Pod/a/solo"), IsEmpty());
  const std::string before = ledger()->data.at("solo");
  add(gated(AdmissionsTest::gated("other", 4), 4));
  decide();
  now += std::chrono::minutes(10);
  settle();
  EXPECT_EQ(ledger()->data.at("solo"), before);
  EXPECT_TRUE(ledger()->data.contains("other"));
}

TEST_F(NewerRecordsTest, AMarkOfTheLedgerStays) {
  begin();
  start(kNewerGang, {member("g0", "2"), member("g1", "2")});
  ConfigMap marked = *ledger();
  const RecallFact recall{.workload = "PodGroup/a/other", .since = 5, .at = 7, .why = "idle"};
  marked.data[recall_key("x")] = encode_recall(recall);
  const RestartFact restart{.workload = "PodGroup/a/third",
                            .admission = {.uid = "u", .pool = "training"},
                            .makers = {"m"}};
  marked.data[restart_key("y")] = encode_restart(restart);
  add(marked);
  make_newer_in_ledger(recall_key("x")), make_newer_in_ledger(restart_key("y"));
  now += std::chrono::hours(1);
  settle();
  EXPECT_TRUE(ledger()->data.contains(recall_key("x")));
  EXPECT_TRUE(ledger()->data.contains(restart_key("y")));
}

// It is unknown which queue's quota the entry holds.
TEST_F(NewerRecordsTest, NobodyIsAdmittedBesideAnEntryThatCannotBeRead) {
  begin();
  ConfigMap found = *ledger();
  found.data["u"] = R"({"version":2,"of":["PodGroup","a","gang"]})";
  add(found);
  add(gated(AdmissionsTest::gated("solo", 4), 4));
  EXPECT_THAT(reconcile_admissions(snapshot()).objects, IsEmpty());
  EXPECT_THAT(told(), HasSubstr(R"("type":"AdmissionsPaused","status":"True")"));
  EXPECT_THAT(told(),
              HasSubstr("RecordNewer: nobody is admitted: ConfigMap berth-admissions has an "
                        "entry of a later berth that this one can't read (u)"));
  ConfigMap mended = *ledger();
  mended.data.erase("u");
  add(mended);
  EXPECT_THAT(reconcile_admissions(snapshot()).objects, SizeIs(1));
}

// It says its version; all else may be different.
TEST_F(NewerRecordsTest, ARecordThatCannotBeReadHoldsItsObject) {
  begin();
  start(kNewerGang, {member("g0", "2"), member("g1", "2")});
  for (const char* name : {"g0", "g1"}) {
    berth::Pod pod = pod_named(name);
    pod.meta.annotations.set(names::kAdmittedAnnotation, R"({"version":7,"queue":["vision"]})");
    add(pod);
  }
  EXPECT_EQ(used(), 8);
  add(member("g2", "2"));
  EXPECT_THAT(follow(kNewerGang), IsEmpty());
  settle();
  EXPECT_THAT(in_flight(), IsEmpty()) << "nothing of it is admitted a second time";
}

}  // namespace
}  // namespace berth::queue
