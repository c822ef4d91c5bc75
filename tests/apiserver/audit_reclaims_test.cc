// SPDX-License-Identifier: Apache-2.0
// Reclaims and preemptions by the checker that other tests use: evictions for an admission, and
// late deletions. Each wrong log violates one rule.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/apiserver/doctored_log.h"

namespace berth::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using namespace std::chrono_literals;

constexpr char kAlicesTime[] = "2025-12-31T23:00:00.000001Z";

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) out += c == '"' ? "\\\"" : std::string(1, c);
  return out + "\"";
}

// Alice's and Bob's queues with four GPUs each. Alice's pods run; Bob reclaims some.
class ReclaimLog : public Log {
 public:
  struct Queue {
    std::string cohort = "research";
    std::string notice = "0s";
  };
  struct Admitted {
    std::string name = "p1";
    std::string of;  // the uid in its record; "" = its own
    std::string controller, group;
    int pods = 1, gpus = 4;  // of the whole admission
    std::string phase = "Running";
    std::string deleted_at;
  };
  struct Entry {
    std::string queue = "bob";
    std::string cohort = "research";
    std::string workload = "Pod/team-a/p1";
    std::string uid = "uid-p1";
    std::string more;  // more fields of the displaced workload
  };

  ReclaimLog() {
    node(kKubectl, {});
    queue("alice"), queue("bob");
  }

  ReclaimLog& queue(const std::string& name) { return queue(name, {}); }
  ReclaimLog& queue(const std::string& name, const Queue& queue) {
    write(kKubectl, "patch", "gpuqueues", name,
          fmt::format(R"({{"kind":"GPUQueue","spec":{{"cohortName":"{}","quotas":[)"
                      R"({{"resource":"nvidia.com/gpu","pool":"training","nominalQuota":4}}],)"
                      R"("preemption":{{"noticePeriod":"{}","reclaimTimeout":"10s"}}}}}})",
                      queue.cohort, queue.notice));
    return *this;
  }
  static std::string record(const std::string& uid, const std::string& queue,
                            const std::string& cohort, const std::string& since, int pods,
                            int gpus) {
    return fmt::format(R"("uid":"{}","queue":"{}","cohort":"{}","pool":"training","pods":{},)"
                       R"("amounts":{{"nvidia.com/gpu":{}}},"since":"{}","epoch":1)",
                       uid, queue, cohort, pods, gpus, since);
  }
  ReclaimLog& admitted() { return admitted({}); }
  ReclaimLog& admitted(const Admitted& pod) {
    const std::string uid = "uid-" + pod.name;
    const std::string own = "{" +
                            record(pod.of.empty() ? uid : pod.of, "alice", "research", kAlicesTime,
                                   pod.pods, pod.gpus) +
                            "}";
    const std::string owner =
        pod.controller.empty()
            ? ""
            : fmt::format(R"(,"ownerReferences":[{{"controller":true,"uid":"{}"}}])",
                          pod.controller);
    const std::string deleted =
        pod.deleted_at.empty()
            ? ""
            : fmt::format(R"(,"deletionTimestamp":"{}","finalizers":["x"])", pod.deleted_at);
    write(kKubectl, "patch", "pods", pod.name,
          fmt::format(R"({{"kind":"Pod","metadata":{{"name":"{}","namespace":"team-a","uid":"{}",)"
                      R"("labels":{{"gpu.berth.dev/pod-group":"{}"}},)"
                      R"("annotations":{{"gpu.berth.dev/admitted":{}}}{}{}}},)"
                      R"("spec":{{"nodeName":"n1","terminationGracePeriodSeconds":30}},)"
                      R"("status":{{"phase":"{}"}}}})",
                      pod.name, uid, pod.group, quoted(own), owner, deleted, pod.phase));
    return *this;
  }
  ReclaimLog& ledger(const std::string& data) {
    write(kBerth, "patch", "configmaps", "berth-admissions",
          fmt::format(R"({{"kind":"ConfigMap","data":{{{}}}}})", data));
    return *this;
  }
  // A workload is pending from now on, for the named ones.
  ReclaimLog& reclaim() { return reclaim({}); }
  ReclaimLog& reclaim(const Entry& entry) {
    const std::string text =
        fmt::format(R"({{"workload":"Job/b/train",{},"ahead":[)"
                    R"({{"workload":"{}","uid":"{}","since":"{}","evicted":true{}}}]}})",
                    record("train", entry.queue, entry.cohort, format_micro_time(now()), 1, 4),
                    entry.workload, entry.uid, kAlicesTime, entry.more);
    return ledger("\"train\":" + quoted(text));
  }
  ReclaimLog& after(std::chrono::milliseconds time) {
    wait(time);
    return *this;
  }
  ReclaimLog& remove(const std::string& name = "p1") {
    write(kBerth, "delete", "pods", name,
          fmt::format(R"({{"kind":"Pod","metadata":{{"name":"{0}","uid":"uid-{0}",)"
                      R"("deletionGracePeriodSeconds":30,"deletionTimestamp":"{1}"}}}})",
                      name, format_time(now() + 30s)),
          fmt::format(R"({{"preconditions":{{"uid":"uid-{}"}}}})", name));
    return *this;
  }
  ReclaimLog& evict_pod(const std::string& name = "p1") {
    write(kBerth, "create", "pods/eviction", name, R"({"kind":"Status"})",
          fmt::format(R"({{"deleteOptions":{{"preconditions":{{"uid":"uid-{}"}}}}}})", name), 201);
    return *this;
  }
};

// Alice's two pods, of which Bob reclaims the first.
ReclaimLog borrowed() { return ReclaimLog().admitted().admitted({.name = "p2"}); }

auto is_s3(const std::string& why) {
  return ElementsAre(StartsWith("S3 team-a/p1 is deleted, not evicted: " + why));
}

TEST(Reclaims, DeleteWhatIsBorrowedOnceItsTimeIsOver) {
  EXPECT_THAT(borrowed().reclaim().after(10s).remove().broken(), IsEmpty());
  EXPECT_THAT(borrowed().reclaim().after(9s).remove().broken(), is_s3("budgets keep it until "));
  ReclaimLog told;
  told.queue("bob", {.notice = "5s"}).admitted().admitted({.name = "p2"}).reclaim();
  EXPECT_THAT(ReclaimLog(told).after(14s).remove().broken(), is_s3("budgets keep it until "));
  EXPECT_THAT(ReclaimLog(told).after(15s).remove().broken(), IsEmpty());
}

TEST(Reclaims, DeleteNothingThatTheNominalQuotaPaysFor) {
  constexpr char kNone[] = "queue alice has no more than its nominal quota";
  EXPECT_THAT(ReclaimLog().admitted().reclaim().after(10s).remove().broken(), is_s3(kNone));
  ReclaimLog log = borrowed().reclaim();
  log.admitted({.name = "p2", .phase = "Succeeded"});
  EXPECT_THAT(ReclaimLog(log).after(10s).remove().broken(), is_s3(kNone));
  log = borrowed().reclaim().after(10s).remove("p2").remove();
  EXPECT_THAT(log.broken(), ElementsAre(HasSubstr("p2 is deleted"), HasSubstr(kNone)))
      << "what berth takes back itself it knows of at once";
}

// It ended while berth's deletion was in flight.
TEST(Reclaims, MayNotHaveHeardOfTheLastSecond) {
  ReclaimLog log = borrowed().reclaim().after(10s);
  log.admitted({.name = "p2", .phase = "Succeeded"}).after(1s);
  EXPECT_THAT(log.remove().broken(), IsEmpty());
}

TEST(Reclaims, CountWhatLeavesOnlyIfItHangs) {
  ReclaimLog log = borrowed().reclaim();
  log.admitted({.name = "p2", .deleted_at = format_time(log.now() + 5s)});
  EXPECT_THAT(ReclaimLog(log).after(10s).remove().broken(), is_s3("queue alice has no more"));
  EXPECT_THAT(ReclaimLog(log).after(66s).remove().broken(), IsEmpty());
}

TEST(Reclaims, AreOfAnotherQueueOfTheCohortAndNotForBeingIdle) {
  const auto deleted = [](const ReclaimLog::Entry& entry) {
    return borrowed().reclaim(entry).after(10s).remove().broken();
  };
  EXPECT_THAT(deleted({.queue = "alice"}), is_s3("its own queue displaces it"));
  EXPECT_THAT(deleted({.cohort = "other"}), is_s3("queue bob is of another cohort"));
  EXPECT_THAT(deleted({.more = R"(,"idle":true)"}), is_s3("it is displaced for being idle"));
  EXPECT_THAT(deleted({.workload = "Pod/team-a/p2", .uid = "uid-p2"}), is_s3("no admission"));
}

TEST(Reclaims, EndWithTheirEntryInTheLedger) {
  ReclaimLog log = borrowed().reclaim().after(10s).ledger("");
  EXPECT_THAT(ReclaimLog(log).after(1s).remove().broken(), IsEmpty());
  EXPECT_THAT(ReclaimLog(log).after(3s).remove().broken(), is_s3("no admission displaces it"));
}

TEST(Reclaims, TakeThePodsThatAJobLeftBehind) {
  const ReclaimLog::Admitted orphan{.of = "sweep", .pods = 2, .gpus = 8};
  ReclaimLog::Admitted other = orphan;
  other.name = "p2";
  ReclaimLog log = ReclaimLog().admitted(orphan).admitted(other).reclaim();
  EXPECT_THAT(ReclaimLog(log).evict_pod().broken(), IsEmpty());
  EXPECT_THAT(ReclaimLog(log).evict_pod("p2").broken(),
              ElementsAre(StartsWith("I5 team-a/p2 is evicted from n1")));
  EXPECT_THAT(ReclaimLog(log).after(10s).remove().broken(), IsEmpty());
  EXPECT_THAT(ReclaimLog(log).after(9s).remove().broken(), is_s3("budgets keep it until "));

  ReclaimLog::Admitted kept = orphan;
  kept.controller = "sweep";
  log = ReclaimLog().admitted(kept).admitted(other).reclaim();
  EXPECT_THAT(log.after(10s).remove().broken(), is_s3("its Job is suspended instead"));
}

// Answers to the garbage collector, which removes the owner, contain only metadata.
TEST(Reclaims, SeeHowAPodIsOrphaned) {
  const ReclaimLog::Admitted owned{.of = "sweep", .controller = "sweep", .pods = 2, .gpus = 8};
  ReclaimLog log = ReclaimLog().admitted(owned).admitted({.name = "p2"});
  log.write("kube-controller-manager/v1.36.3", "patch", "pods", "p1",
            R"({"kind":"PartialObjectMetadata","metadata":{"name":"p1","uid":"uid-p1"}})");
  EXPECT_THAT(log.reclaim().after(10s).remove().broken(), IsEmpty());
}

TEST(Reclaims, TakeAGangWhole) {
  const auto member = [](const char* name) {
    return ReclaimLog::Admitted{.name = name, .group = "g", .pods = 2, .gpus = 8};
  };
  const ReclaimLog::Entry first{.workload = "PodGroup/team-a/g"};
  ReclaimLog log = ReclaimLog().admitted(member("p1")).admitted(member("p2")).reclaim(first);
  EXPECT_THAT(ReclaimLog(log).evict_pod().evict_pod("p2").broken(), IsEmpty());
  EXPECT_THAT(log.after(10s).remove().remove("p2").broken(), IsEmpty());
}

}  // namespace
}  // namespace berth::test
