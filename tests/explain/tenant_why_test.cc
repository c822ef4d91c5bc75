// SPDX-License-Identifier: Apache-2.0
// The answers of `berth why` for a tenant with `edit` in one namespace, with and without the
// ClusterRole berth-why: it lists all pending workloads of the namespace, with the reason that the
// controller has recorded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apis/codec/decode.h"
#include "controller/explain/explain.h"
#include "controller/explain/waiting_list.h"
#include "controller/queue/recall/idle_work.h"
#include "controller/queue/status/reconcile.h"
#include "tests/queue/queue_objects.h"

namespace berth {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kTenantsNamespace[] = "nlp";

class TenantWhy : public ::testing::Test {
 protected:
  TenantWhy() {
    put(queue::policy_with("training")), put(queue::node_of("n1", 8));
    put(queue::namespace_of("nlp", "nlp")), put(queue::namespace_of("vision", "vision"));
    put(queue::queue_of("nlp", 8)), put(queue::queue_of("vision", 8));
    Job runs = queue::job_of("nlp", "runs", 8);
    runs.suspended = false;
    queue::note_admission(runs.meta, "nlp", {{"nvidia.com/gpu", 8}});
    put(runs);
    Job others = queue::job_of("vision", "secret", 8);
    others.suspended = false;
    queue::note_admission(others.meta, "vision", {{"nvidia.com/gpu", 8}});
    put(others);
  }

  template <class T>
  void put(T object) {
    object.meta.resource_version = std::to_string(++version_);
    if (object.meta.creation_timestamp == Time()) object.meta.creation_timestamp = now;
    all.upsert(std::move(object), now);
  }

  Job& submit(const std::string& name, int gpus, const std::function<void(Job&)>& edit = {}) {
    job_ = queue::job_of(kTenantsNamespace, name, gpus);
    if (edit) edit(job_);
    put(job_);
    return job_;
  }
  // A pod that berth's gate holds.
  void submit_pod(const std::string& name, const std::string& kind, const std::string& owner) {
    Pod pod;
    pod.meta.namespace_ = kTenantsNamespace;
    pod.meta.name = pod.meta.uid = name;
    if (!kind.empty())
      pod.meta.owner_references = {
          {.kind = kind.c_str(), .name = owner, .uid = owner, .controller = true}};
    pod.shape.edit()->requests = {{"nvidia.com/gpu", Quantity::whole(1)}};
    pod.shape.edit()->scheduling_gates = {names::kQueueGate};
    put(pod);
  }

  // The controller writes statuses and annotations.
  void record() {
    now += std::chrono::minutes(2);
    const Snapshot snapshot{all, answers, settings, now};
    for (const StatusUpdate& update : queue::reconcile_queues(snapshot).statuses) {
      if (!update.differs) continue;
      GPUQueue queue = *all.gpu_queues().find(update.object.name);
      nlohmann::json object = {{"metadata", {{"name", queue.meta.name}}}};
      object.merge_patch(nlohmann::json::parse(update.body));
      queue.status = decode_document<GPUQueue>(object)->status;
      put(queue);
    }
    for (bool more = true; more;) {
      more = false;
      for (const ObjectSteps& steps :
           queue::reconcile_reasons({all, answers, settings, now}).objects) {
        const auto body = nlohmann::json::parse(std::get<Write>(steps.steps.front()).body);
        const std::string text = body["metadata"]["annotations"][names::kPendingReasonAnnotation];
        const ObjectRef& object = steps.object;
        more = true;
        if (object.kind == "Job") {
          Job job = *all.jobs().find(object.namespace_, object.name);
          job.meta.annotations.set(names::kPendingReasonAnnotation, text);
          put(job);
        } else {
          Pod pod = *all.pods().find(object.namespace_, object.name);
          pod.meta.annotations.set(names::kPendingReasonAnnotation, text);
          put(pod);
        }
      }
    }
  }

  // The tenant reads what they may.
  void look(bool with_role) {
    seen = ClusterState();
    clues.unread.clear();
    const auto copy = [&]<class T>(const Store<T>& store, auto&& may) {
      for (const auto& object : store)
        if (may(*object)) seen.upsert(T(*object), now);
    };
    const auto own = [](const auto& object) {
      return object.meta.namespace_.view() == kTenantsNamespace;
    };
    const auto any = [](const auto&) { return true; };
    copy(all.pods(), own), copy(all.jobs(), own);
    copy(all.namespaces(),
         [&](const Namespace& it) { return with_role || it.meta.name == kTenantsNamespace; });
    for (const char* resource : {"pods", "jobs.batch"}) lack(resource, kTenantsNamespace);
    if (with_role) {
      copy(all.nodes(), any), copy(all.gpu_queues(), any);
      copy(all.store<GPUClusterPolicy>(), any);
      return;
    }
    for (const char* resource : {"nodes", "gpuqueues.gpu.berth.dev",
                                 "gpuclusterpolicies.gpu.berth.dev", "miglayouts.gpu.berth.dev"})
      lack(resource);
    lack("namespaces", kTenantsNamespace);
  }
  void lack(const std::string& resource, const std::string& instead = "") {
    std::erase_if(clues.unread, [&](const Unread& it) { return it.resource == resource; });
    clues.unread.push_back({.resource = resource,
                            .instead = instead,
                            .reason = "Forbidden",
                            .message = R"(User "ann" cannot list)"});
  }

  Snapshot snapshot() const {
    return {.cluster = seen, .answers = answers, .settings = settings, .now = now, .offline = true};
  }
  Explanation why(const std::string& subject) const {
    const auto name = parse_subject({subject}, kTenantsNamespace);
    const auto found = find_subject(seen, clues, *name);
    if (!found) throw std::runtime_error(describe(found.error()));
    return explain(snapshot(), *found, clues);
  }
  WaitingList list(const std::string& where = kTenantsNamespace) const {
    return list_waiting(snapshot(), where, clues);
  }

  ClusterState all, seen;
  Clues clues;
  Answers answers;
  Settings settings;
  Time now = *parse_time("2026-11-21T12:00:00Z");

 private:
  int version_ = 0;
  Job job_;
};

struct TenantQuestion {
  const char* subject;
  const char* listed;  // the text in the list
  const char* reason;
  const char* words;
  const char* with_role;  // additionally with the role
};

const TenantQuestion kTenantAsks[] = {
    {"job/misspelt", "Job/misspelt", "QueueNotFound", "the queue that it names does not exist",
     "did you mean nlp?"},
    {"job/too-big", "Job/too-big", "ExceedsMaximum", "the queue can never hold more than 16",
     "place 2 of 10"},
    {"job/behind", "Job/behind", "WaitingForQuota", "needs 4 nvidia.com/gpu", "place 3 of 10"},
    {"job/deadlines", "Job/deadlines", "WaitingForQuota", "needs 2 nvidia.com/gpu",
     "it begins between 2026-11-21T15:00:00Z and 2026-11-21T16:30:00Z"},
    {"job/displaced", "Job/displaced", "WaitingForQuota",
     "berth suspended it at 2026-11-21T11:00:00Z for Job/vision/secret of queue vision",
     "place 5 of 10"},
    {"job/reclaimed", "Job/reclaimed", "Suspended",
     "kubectl annotate job -n nlp reclaimed gpu.berth.dev/hold-", "its GPUs were idle"},
    {"job/parallel", "Job/parallel", "WaitingForQuota", "needs 4 nvidia.com/gpu", "place 6 of 10"},
    {"job/indexed", "Job/indexed", "WaitingForQuota", "needs 3 nvidia.com/gpu", "place 7 of 10"},
    {"cronjob/nightly", "Job/nightly-1", "WaitingForQuota", "needs 1 nvidia.com/gpu",
     "place 8 of 10"},
    {"sts/db", "Pod/db-0", "WaitingForQuota", "needs 1 nvidia.com/gpu", "place 9 of 10"},
    {"pod/bare", "Pod/bare", "WaitingForQuota", "needs 1 nvidia.com/gpu", "place 10 of 10"},
    {"deploy/web", "Pod/web-5d4-x", "WaitingForQuota", "needs 1 nvidia.com/gpu", "place 1 of 10"},
};

class TenantAsks : public TenantWhy {
 protected:
  TenantAsks() {
    const auto later = [&] { now += std::chrono::seconds(1); };
    submit_pod("web-5d4-x", "ReplicaSet", "web-5d4"), later();
    submit("misspelt", 1, [](Job& job) { job.meta.labels.set(names::kQueueLabel, "npl"); });
    submit("too-big", 80), later();
    submit("behind", 4), later();
    submit("deadlines", 2, [](Job& job) { job.active_deadline_seconds = 3600; }), later();
    submit("displaced", 1, [](Job& job) {
      job.meta.annotations.set(names::kPreemptedAnnotation,
                               "2026-11-21T11:00:00Z for Job/vision/secret of queue vision");
    });
    later();
    submit("reclaimed", 1,
           [](Job& job) { job.meta.annotations.set(names::kHoldAnnotation, queue::kHeldAsIdle); });
    submit("parallel", 2, [](Job& job) { job.parallelism = 2, job.completions = 2; }), later();
    submit("indexed", 1,
           [](Job& job) { job.indexed = true, job.parallelism = 3, job.completions = 3; });
    later();
    submit("nightly-1", 1, [](Job& job) {
      job.meta.owner_references = {
          {.kind = "CronJob", .name = "nightly", .uid = "cron", .controller = true}};
    });
    later();
    submit_pod("db-0", "StatefulSet", "db"), later();
    submit_pod("bare", "", "");
    record();
    // In the format of StartTeller.
    GPUQueue queue = *all.gpu_queues().find("nlp");
    for (PendingWorkload& pending : queue.status.pending)
      if (pending.workload == "nlp/deadlines") {
        pending.earliest_start = parse_time("2026-11-21T15:00:00Z").value();
        pending.latest_start = parse_time("2026-11-21T16:30:00Z").value();
      }
    put(queue);
  }
  void expect_answers(bool with_role) {
    look(with_role);
    const WaitingList waiting = list();
    const std::string text = print_text(waiting);
    EXPECT_EQ(waiting.items.size(), std::size(kTenantAsks)) << text;
    EXPECT_THAT(text, Not(HasSubstr("No pod waits")));
    for (const TenantQuestion& asked : kTenantAsks) {
      SCOPED_TRACE(asked.subject);
      EXPECT_THAT(text, HasSubstr(asked.listed));
      const Explanation answer = why(asked.subject);
      const std::string told = print_text(answer);
      EXPECT_EQ(answer.reason, asked.reason) << told;
      EXPECT_THAT(told, HasSubstr(asked.words));
      if (with_role) {
        EXPECT_THAT(told, HasSubstr(asked.with_role));
      }
    }
  }
};

TEST_F(TenantAsks, WhyOfEachOfTwelveWithTheRole) { expect_answers(true); }

TEST_F(TenantAsks, WhyOfEachOfTwelveWithEditAlone) { expect_answers(false); }

TEST_F(TenantAsks, OfGatedPodsTheQueueIsTheAnswerAndNotTheNodes) {
  look(true);
  const std::string told = print_text(why("pod/bare"));
  EXPECT_THAT(told, StartsWith("Pod/nlp/bare: Pending, WaitingForQuota\n  it is gated, and waits "
                               "in queue nlp: needs 1 nvidia.com/gpu"));
  EXPECT_THAT(told, Not(HasSubstr("would take it")));
}

TEST_F(TenantWhy, OfWhatNothingIsRecordedYetItSaysThatItWaits) {
  submit("new", 4);
  submit_pod("gated", "", "");
  for (const bool with_role : {true, false}) {
    look(with_role);
    EXPECT_THAT(why("job/new").message,
                with_role ? HasSubstr("it is suspended, and waits in queue nlp; why is not known: "
                                      "GPUQueue nlp does not list it yet")
                          : HasSubstr("it is suspended; which queue holds it, if any, is not "
                                      "known: this account may not read gpuqueues.gpu.berth.dev"));
    EXPECT_THAT(
        why("pod/gated").message,
        HasSubstr(with_role ? "it is gated, and waits in queue nlp" : "it is gated; which queue"));
    EXPECT_EQ(list().items.size(), 2u) << print_text(list());
  }
}

// A default queue is known by the namespace's label, and by the queue that lists the workload.
TEST_F(TenantWhy, WithoutTheNamespaceTheQueueThatListsTheWorkloadIsItsQueue) {
  submit("waits", 4);
  record();
  look(true);
  seen.erase<Namespace>("", kTenantsNamespace);
  EXPECT_THAT(print_text(why("job/waits")),
              AllOf(HasSubstr("and waits in queue nlp: needs 4"), HasSubstr("place 1 of 1")));
  EXPECT_EQ(list().items.size(), 1u);
}

TEST_F(TenantWhy, BeyondTheHundredThatTheStatusListsItSaysSo) {
  submit("new", 4);
  GPUQueue queue = *all.gpu_queues().find("nlp");
  queue.status.totals.pending = 101;
  for (int i = 0; i < 100; ++i)
    queue.status.pending.push_back({.workload = "nlp/old-" + std::to_string(i), .position = i + 1});
  put(queue);
  look(true);
  EXPECT_THAT(why("job/new").message, HasSubstr("GPUQueue nlp lists the 100 that have waited "
                                                "longest, and not this one"));
}

TEST_F(TenantWhy, WhatBerthDoesNotHoldIsNotListed) {
  submit("kueues", 1, [](Job& job) { job.meta.labels.set(names::kKueueQueueLabel, "main"); });
  submit("mine", 1, [](Job& job) { job.meta.annotations.set(names::kHoldAnnotation, "mine"); });
  submit("ended", 1, [](Job& job) { job.finished = true; });
  submit("no-gpu", 0);
  record();
  for (const bool with_role : {true, false}) {
    look(with_role);
    EXPECT_THAT(print_text(list()), StartsWith("No pod waits for GPUs in namespace nlp.\n"));
  }
}

TEST_F(TenantWhy, WhatMayNotBeListedIsSaidToBeUnknown) {
  look(true);
  lack("jobs.batch"), lack("pods");
  EXPECT_THAT(print_text(list()),
              StartsWith("Whether a workload waits for GPUs in namespace nlp is not known: this "
                         "account may not list pods, jobs.batch there.\n"));
  EXPECT_EQ(nlohmann::json::parse(print_json(list()))["notListed"],
            nlohmann::json({"pods", "jobs.batch"}));
  lack("pods", kTenantsNamespace);
  submit_pod("gated", "", "");
  all.store<Pod>();
  seen.upsert(Pod(*all.pods().find(kTenantsNamespace, "gated")), now);
  all.erase<Pod>(kTenantsNamespace, "gated");
  EXPECT_THAT(print_text(list()),
              AllOf(StartsWith("Pod/gated"), HasSubstr("Whether another workload waits")));
  look(true);
  EXPECT_THAT(list().not_listed, IsEmpty());
  EXPECT_THAT(print_text(list()), StartsWith("No pod waits for GPUs in namespace nlp.\n"));
  // This account may read at most one namespace.
  lack("jobs.batch"), lack("pods");
  EXPECT_THAT(print_text(list("")), StartsWith("Whether a workload waits for GPUs in all"));
}

TEST_F(TenantWhy, MissingQueuesAreAmongTheRightsThatAreMissing) {
  look(false);
  EXPECT_THAT(list().rights.resources, ::testing::Contains("gpuqueues.gpu.berth.dev"));
}

}  // namespace
}  // namespace berth
