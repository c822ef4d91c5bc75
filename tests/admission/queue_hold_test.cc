// SPDX-License-Identifier: Apache-2.0
// The webhook holds new workloads of queues: it suspends Jobs and gates other pods.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/admission/queue_hold_fixture.h"

namespace berth::test {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(QueueHold, APodThatAsksForGpusIsGatedInItsNamespacesDefault) {
  const Answer answer = mutated(gpu_pod());
  EXPECT_EQ(at(answer.object, "/spec/schedulingGates/0/name"), R"("gpu.berth.dev/queue")");
  EXPECT_EQ(at(answer.object, kLabel), R"("vision")");
  Request again = gpu_pod();
  again.object = answer.object;
  EXPECT_EQ(mutated(again).patch, "") << "held once is held";
}

TEST_F(QueueHold, AJobIsSuspendedAndItsTemplateLeftAlone) {
  const Answer answer = mutated(gpu_job());
  EXPECT_EQ(at(answer.object, "/spec/suspend"), "true");
  EXPECT_EQ(at(answer.object, kLabel), R"("vision")");
  EXPECT_EQ(at(answer.object, "/spec/template/spec/schedulingGates"), "absent");
  Request again = gpu_job();
  again.object = answer.object;
  EXPECT_EQ(mutated(again).patch, "");
}

TEST_F(QueueHold, WhatNamesAQueueIsInItWhateverItAsks) {
  const Request named = with(pod(container("{}")), kLabel, "batch");
  EXPECT_TRUE(gated(named));
  EXPECT_EQ(at(mutated(named).object, kLabel), R"("batch")");
  EXPECT_FALSE(gated(pod(container("{}"))));
}

TEST_F(QueueHold, OtherGatesStay) {
  const Request request = with(gpu_pod(), kGates, {{{"name", "example.com/wait"}}});
  const Answer answer = mutated(request);
  EXPECT_EQ(at(answer.object, "/spec/schedulingGates/0/name"), R"("example.com/wait")");
  EXPECT_EQ(at(answer.object, "/spec/schedulingGates/1/name"), R"("gpu.berth.dev/queue")");
}

// The creator of a pod can write any owner, and the mirror annotation.
TEST_F(QueueHold, APodThatClaimsANodeOrADaemonSetForItsOwnerIsGated) {
  for (const char* kind : {"DaemonSet", "Node", "ReplicaSet"})
    EXPECT_TRUE(gated(owned(gpu_pod(), kind))) << kind;
  EXPECT_TRUE(gated(with(gpu_pod(), "/metadata/annotations/kubernetes.io~1config.mirror", "x")));
  Request named = owned(gpu_pod(), "DaemonSet");
  named.user = "system:serviceaccount:team-a:daemon-set-controller";
  EXPECT_TRUE(gated(named));
  Request grouped = owned(gpu_pod(), "Node");
  grouped.user_group = "system:nodes";
  EXPECT_TRUE(gated(grouped)) << "a kubelet has a node's name, too";
}

TEST_F(QueueHold, WhoeverCannotWaitIsLeftAlone) {
  EXPECT_FALSE(gated(by_daemon_sets(owned(gpu_pod(), "DaemonSet"))));
  EXPECT_TRUE(gated(by_daemon_sets(owned(gpu_pod(), "ReplicaSet"))))
      << "kube-controller-manager may ask for all of them as one";
  EXPECT_FALSE(gated(with(gpu_pod(), "/spec/nodeName", "n1")));
  EXPECT_FALSE(gated(by_kubelet(gpu_pod())));
  for (const char* name : {"kube-system", "berth-system", "gpu-operator"}) {
    Request systems = gpu_pod();
    systems.ns = name;
    EXPECT_FALSE(gated(systems)) << name;
  }
}

TEST_F(QueueHold, APodOfAQueueMayNotNameItsNode) {
  const auto asked = [&](const Request& request) {
    return ask(kValidate, request, cluster, settings);
  };
  const Request bound = with(gpu_pod(), "/spec/nodeName", "n1");
  for (const Request& request :
       {bound, with(bound, "/metadata/annotations/kubernetes.io~1config.mirror", "x"),
        with(with(pod(container("{}")), "/spec/nodeName", "n1"), kLabel, "batch")}) {
    const Answer refused = asked(request);
    EXPECT_FALSE(refused.allowed) << request.object;
    EXPECT_THAT(refused.message,
                HasSubstr("spec.nodeName: a pod of a queue may not name its node"));
  }
  EXPECT_TRUE(asked(with(pod(container("{}")), "/spec/nodeName", "n1")).allowed) << "of no queue";
  EXPECT_TRUE(asked(by_kubelet(bound)).allowed);
  Request elsewhere = bound;
  elsewhere.ns = "shop";
  EXPECT_TRUE(asked(elsewhere).allowed) << "no queue is shop's default";
}

TEST_F(QueueHold, PodsOfAJobGoWithItAndThoseOfAnotherControllersJobByThemselves) {
  const char* annotation = "/metadata/annotations/gpu.berth.dev~1admitted";
  const Request child = owned(gpu_pod(), "Job", "job-uid");
  EXPECT_TRUE(gated(child)) << "its Job was not admitted";
  EXPECT_FALSE(gated(with(child, annotation, record("job-uid"))));
  EXPECT_TRUE(gated(with(child, annotation, record("another"))));
  EXPECT_TRUE(gated(with(child, annotation, "yes")));
  EXPECT_TRUE(gated(with(owned(gpu_pod(), "ReplicaSet", "rs"), annotation, record("rs"))));

  EXPECT_EQ(at(mutated(owned(gpu_job(), "JobSet")).object, "/spec/suspend"), "absent");
  EXPECT_EQ(at(mutated(owned(gpu_job(), "CronJob")).object, "/spec/suspend"), "true");
}

TEST_F(QueueHold, AResumedJobWaitsOn) {
  const json waits = {{"spec", {{"suspend", true}}}};
  const Answer answer = mutated(changed(waits, "/spec/suspend", false));
  EXPECT_EQ(at(answer.object, "/spec/suspend"), "true");
  EXPECT_THAT(answer.warnings, ElementsAre(HasSubstr("queue vision resumes it")));
  EXPECT_EQ(mutated(changed(waits, "/spec/suspend", true)).patch, "");
  EXPECT_EQ(mutated(changed({{"spec", {{"suspend", false}}}}, "/spec/suspend", false)).patch, "");
}

TEST_F(QueueHold, AnAdmittedJobMayOnlyShrink) {
  json runs = {{"spec", {{"suspend", false}, {"parallelism", 4}}}};
  const auto asked = [&](int parallelism) {
    return ask(kValidate, changed(runs, "/spec/parallelism", parallelism), cluster, settings);
  };
  EXPECT_TRUE(asked(8).allowed) << "nobody admitted it";
  runs["metadata"]["annotations"]["gpu.berth.dev/admitted"] = record("job-uid");
  EXPECT_TRUE(asked(3).allowed);
  const Answer refused = asked(8);
  EXPECT_FALSE(refused.allowed);
  EXPECT_THAT(refused.message, HasSubstr("set spec.suspend: true with it"));
  runs["spec"]["suspend"] = true;
  EXPECT_TRUE(asked(8).allowed);
}

// Other workloads' start times rely on it.
TEST_F(QueueHold, TheDeadlineOfAnAdmittedJobMayOnlyFall) {
  json runs = {{"spec", {{"suspend", false}, {"activeDeadlineSeconds", 60}}}};
  const auto asked = [&](json deadline) {
    return ask(kValidate, changed(runs, "/spec/activeDeadlineSeconds", std::move(deadline)),
               cluster, settings);
  };
  EXPECT_TRUE(asked(61).allowed) << "nobody admitted it";
  runs["metadata"]["annotations"]["gpu.berth.dev/admitted"] = record("job-uid");
  EXPECT_TRUE(asked(59).allowed);
  EXPECT_THAT(asked(61).message, HasSubstr("spec.activeDeadlineSeconds: was admitted with 60 s"));
  EXPECT_FALSE(asked(nullptr).allowed) << "without one it ends when it likes";
  runs["spec"].erase("activeDeadlineSeconds");
  EXPECT_TRUE(asked(60).allowed) << "none is the longest";
  runs["spec"]["suspend"] = true, runs["spec"]["activeDeadlineSeconds"] = 60;
  EXPECT_TRUE(asked(61).allowed);
}

// If the namespace has no default queue, any user could resume a Job without label.
TEST_F(QueueHold, AJobThatWaitsOrWasAdmittedKeepsItsLabel) {
  add(queue_of("vision", "team-a", false));
  const auto change = [&](bool suspended, const std::string& admitted, json label, bool resumes) {
    json old = {{"metadata", {{"labels", {{"gpu.berth.dev/queue", "batch"}}}}},
                {"spec", {{"suspend", suspended}}}};
    if (!admitted.empty())
      old["metadata"]["annotations"]["gpu.berth.dev/admitted"] = record(admitted.c_str());
    Request request = changed(old, "/spec/suspend", suspended && !resumes);
    json object = json::parse(request.object);
    if (label.is_null())
      object["metadata"].erase("labels");
    else
      object["metadata"]["labels"]["gpu.berth.dev/queue"] = label;
    request.object = object.dump();
    return request;
  };
  EXPECT_EQ(at(mutated(change(true, "", nullptr, true)).object, "/spec/suspend"), "true");
  for (const Request& request : {change(true, "", nullptr, true), change(true, "", nullptr, false),
                                 change(false, "job-uid", nullptr, false)})
    EXPECT_THAT(ask(kValidate, request, cluster, settings).message,
                HasSubstr("metadata.labels[gpu.berth.dev/queue]: is batch, and a Job that waits"));
  for (const Request& request :
       {change(true, "", "vision", false), change(false, "", nullptr, false)})
    EXPECT_TRUE(ask(kValidate, request, cluster, settings).allowed) << request.object;
}

TEST_F(QueueHold, ALabelThatLeadsNowhereIsTold) {
  const Answer unknown = ask(kValidate, with(gpu_pod(), kLabel, "visoin"), cluster, settings);
  EXPECT_TRUE(unknown.allowed);
  EXPECT_THAT(unknown.warnings, ElementsAre(HasSubstr("there is no GPUQueue visoin")));
  EXPECT_TRUE(gated(with(gpu_pod(), kLabel, "visoin"))) << "a slip of the pen is no way past";
  const Answer foreign = ask(kValidate, with(gpu_pod(), kLabel, "other"), cluster, settings);
  EXPECT_FALSE(foreign.allowed);
  EXPECT_THAT(foreign.message, HasSubstr("GPUQueue other is not for namespace team-a"));
}

// With an invalid size the pods would be admitted one by one.
TEST_F(QueueHold, AGangSaysItsSizeAsANumberOrNotAtAll) {
  const auto refusal = [&](const char* annotation, json value) {
    Request request = gpu_pod();
    json annotations{{annotation, std::move(value)}};
    const Answer answer =
        ask(kValidate, with(request, "/metadata/annotations", annotations), cluster, settings);
    return answer.allowed ? std::string() : answer.message;
  };
  for (const char* size : {"gpu.berth.dev/pod-group-size", "gpu.berth.dev/pod-role-size"}) {
    EXPECT_EQ(refusal(size, "4"), "");
    for (const char* none : {"four", "0", "-1", "", "4 "})
      EXPECT_THAT(refusal(size, none),
                  HasSubstr(fmt::format("metadata.annotations[{}]: is '{}', and has to be a whole "
                                        "number of pods, 1 or more",
                                        size, none)));
  }
  EXPECT_EQ(refusal("gpu.berth.dev/fast-admission", "false"), "");
  EXPECT_THAT(refusal("gpu.berth.dev/fast-admission", "yes"), HasSubstr("true or false"));
}

// Its group depends on labels that the webhook does not change.
TEST_F(QueueHold, APodOfAFrameworksGangIsGatedLikeAnyOther) {
  Request request = with(owned(gpu_pod(), "StatefulSet"), "/metadata/labels",
                         {{"leaderworkerset.sigs.k8s.io/name", "llm"},
                          {"leaderworkerset.sigs.k8s.io/group-index", "0"}});
  const std::string made = mutated(request).object;
  EXPECT_EQ(at(made, "/spec/schedulingGates/0/name"), R"("gpu.berth.dev/queue")");
  EXPECT_EQ(at(made, "/metadata/labels/leaderworkerset.sigs.k8s.io~1name"), R"("llm")");
  EXPECT_EQ(at(made, "/metadata/labels/leaderworkerset.sigs.k8s.io~1group-index"), R"("0")");
  EXPECT_EQ(at(made, kLabel), R"("vision")");
}

TEST_F(QueueHold, MaxPerPodBoundsOnePod) {
  GPUQueue queue = queue_of("vision", "team-a", true);
  queue.spec.namespace_quota = {
      .enabled = true, .hard = {}, .max_per_pod = {{"nvidia.com/gpu", 4}}};
  add(queue);
  const auto asked = [&](const Request& request) {
    return ask(kValidate, request, cluster, settings);
  };
  EXPECT_TRUE(asked(pod(asks("nvidia.com/gpu", 4))).allowed);
  const Answer refused = asked(job(asks("nvidia.com/gpu", 5)));
  EXPECT_FALSE(refused.allowed);
  EXPECT_THAT(refused.message, HasSubstr("a pod may ask for 4 nvidia.com/gpu in queue vision"));
}

TEST_F(QueueHold, AClassThatTheQueueDoesNotAcceptIsRefused) {
  const auto add_class = [&](const char* name, bool everybodys = false) {
    PriorityClass made;
    made.meta.name = made.meta.uid = name;
    made.value = 1000;
    made.preemption_policy = "Never";
    made.global_default = everybodys;
    cluster.upsert(made, Time{});
  };
  for (const char* name : {"urgent", "prod", "system-node-critical"}) add_class(name);
  add_class("everybodys", true);
  const auto labelled = [&](Request request, const char* name) {
    return ask(kValidate,
               with(std::move(request), "/metadata/labels/gpu.berth.dev~1priority-class", name),
               cluster, settings);
  };
  const auto classed = [&](Request request, const char* name) {
    const char* path =
        request.kind == "Job" ? "/spec/template/spec/priorityClassName" : "/spec/priorityClassName";
    return ask(kValidate, with(std::move(request), path, name), cluster, settings);
  };
  for (const Request& request : {gpu_pod(), gpu_job()}) {
    for (const char* name : {"urgent", "system-node-critical", "nobody"}) {
      EXPECT_THAT(labelled(request, name).message,
                  HasSubstr("metadata.labels[gpu.berth.dev/priority-class]: queue vision does not "
                            "accept PriorityClass"));
      EXPECT_THAT(classed(request, name).message,
                  HasSubstr("priorityClassName: queue vision does not accept"));
    }
    EXPECT_TRUE(classed(request, "everybodys").allowed) << "pods have it without asking";
    EXPECT_TRUE(ask(kValidate, request, cluster, settings).allowed);
  }
  EXPECT_TRUE(labelled(pod(container("{}")), "urgent").allowed) << "of no queue";

  GPUQueue queue = queue_of("vision", "team-a", true);
  queue.spec.priority_classes = {"prod"};
  add(queue);
  EXPECT_TRUE(labelled(gpu_job(), "prod").allowed);
  EXPECT_THAT(labelled(gpu_job(), "urgent").message, HasSubstr("; write prod, or add it to"));
  queue.spec.priority_classes.reset();
  add(queue);
  GPUClusterPolicy policy = *make_cluster().gpu_policies().find("cluster");
  policy.spec.priority_classes = {{.name = "urgent", .value = 1000}};
  cluster.upsert(policy, Time{});
  EXPECT_TRUE(labelled(gpu_job(), "urgent").allowed) << "the policy makes it";
  EXPECT_FALSE(labelled(gpu_job(), "prod").allowed);
}

// kube-scheduler preempts single pods, and gangs have several.
TEST_F(QueueHold, AClassThatPreemptsIsRefused) {
  accept({"urgent", "calm", "lowest", "unknown"});
  const auto add_class = [&](const char* name, std::int32_t value, const char* policy) {
    PriorityClass made;
    made.meta.name = made.meta.uid = name;
    made.value = value;
    made.preemption_policy = policy;
    made.global_default = std::string_view(name) == "default";
    cluster.upsert(made, Time{});
  };
  add_class("urgent", 1000, "PreemptLowerPriority"), add_class("calm", 1000, "Never");
  add_class("lowest", 0, "PreemptLowerPriority");
  const auto of = [&](Request request, const char* name) {
    const char* path =
        request.kind == "Job" ? "/spec/template/spec/priorityClassName" : "/spec/priorityClassName";
    return ask(kValidate, with(std::move(request), path, name), cluster, settings);
  };
  const Answer pods = of(gpu_pod(), "urgent"), jobs = of(gpu_job(), "urgent");
  EXPECT_FALSE(pods.allowed);
  EXPECT_THAT(pods.message, HasSubstr("spec.priorityClassName: for pods of class urgent"));
  EXPECT_THAT(pods.message, HasSubstr("write one with preemptionPolicy: Never, as calm, or"));
  EXPECT_FALSE(jobs.allowed);
  EXPECT_THAT(jobs.message, HasSubstr("spec.template.spec.priorityClassName: for pods"));
  for (const char* good : {"calm", "lowest", "unknown"}) {
    EXPECT_TRUE(of(gpu_pod(), good).allowed) << good;
    EXPECT_TRUE(of(gpu_job(), good).allowed) << good;
  }
  EXPECT_TRUE(of(pod(container("{}")), "urgent").allowed) << "of no queue";

  const auto asked = [&] { return ask(kValidate, gpu_job(), cluster, settings).allowed; };
  EXPECT_TRUE(asked());
  add_class("default", 10, "PreemptLowerPriority");
  EXPECT_FALSE(asked()) << "its pods would have the class that is everybody's";
}

TEST_F(QueueHold, WhereThePolicyWarnsAClassThatPreemptsIsToldOf) {
  accept({"urgent"});
  PriorityClass urgent;
  urgent.meta.name = urgent.meta.uid = "urgent";
  urgent.value = 1000;
  cluster.upsert(urgent, Time{});
  GPUClusterPolicy policy = *make_cluster().gpu_policies().find("cluster");
  const auto asked = [&](Enforcement enforcement) {
    policy.spec.admission.enforcement = enforcement;
    cluster.upsert(policy, Time{});
    return ask(kValidate, with(gpu_pod(), "/spec/priorityClassName", "urgent"), cluster, settings);
  };
  EXPECT_FALSE(asked(Enforcement::kEnforce).allowed);
  for (const Enforcement lenient : {Enforcement::kWarn, Enforcement::kOff}) {
    const Answer warned = asked(lenient);
    EXPECT_TRUE(warned.allowed);
    EXPECT_THAT(warned.warnings, ::testing::Contains(HasSubstr("for pods of class urgent")));
  }
}

TEST_F(QueueHold, KueuesLabelIsAnAliasWhereKueueIsNot) {
  const Request named =
      with(pod(container("{}")), "/metadata/labels/kueue.x-k8s.io~1queue-name", "batch");
  EXPECT_FALSE(gated(named));
  settings.kueue_label = true;
  EXPECT_TRUE(gated(named));
  EXPECT_EQ(at(mutated(named).object, kLabel), R"("batch")");
}

TEST_F(QueueHold, APolicyMayWantAQueue) {
  cluster = make_cluster([](GPUClusterPolicySpec& spec) { spec.admission.require_queue = true; });
  const Answer refused = ask(kValidate, pod(asks("nvidia.com/gpu", 1)), cluster, settings);
  EXPECT_FALSE(refused.allowed);
  EXPECT_THAT(refused.message, HasSubstr("requireQueue"));
  EXPECT_TRUE(ask(kValidate, pod(container("{}")), cluster, settings).allowed);
}

TEST_F(QueueHold, WithAPolicyAPodIsHeldAndRepaired) {
  const ClusterState queues = cluster;
  cluster = make_cluster();
  const Answer before = mutated(gpu_pod());
  EXPECT_EQ(at(before.object, kGates), "absent") << "without queues nobody waits";
  for (const auto& queue : queues.gpu_queues()) add(*queue);
  Namespace team = *cluster.namespaces().find("team-a");
  team.meta.labels.set("kubernetes.io/metadata.name", "team-a");
  cluster.upsert(team, Time{});
  json after = json::parse(mutated(gpu_pod()).object);
  EXPECT_TRUE(after["spec"].contains("schedulingGates"));
  after["spec"].erase("schedulingGates");
  after["metadata"].erase("labels");
  EXPECT_EQ(after, json::parse(before.object)) << "all else as without a queue";
}

}  // namespace
}  // namespace berth::test
