// SPDX-License-Identifier: Apache-2.0
// Queues with the chart's policies and its webhook: what users try, a webhook that dies, two
// versions of the chart at once, and an uninstall while workloads are pending.
#include <fmt/format.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <thread>

#include "tests/apiserver/webhook_fixture.h"
#include "tests/support/places.h"

namespace berth::test {
namespace {

using std::chrono::seconds;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kPods[] = "/api/v1/namespaces/gpu-team/pods";
constexpr char kJobs[] = "/apis/batch/v1/namespaces/gpu-team/jobs";
constexpr char kMerge[] = "application/merge-patch+json";
constexpr char kOneGpu[] = R"("limits": {"nvidia.com/gpu": "1"})";

bool is_gated(const Object& pod) {
  for (const Object& gate : pod.items("/spec/schedulingGates"))
    if (gate.text("/name") == "gpu.berth.dev/queue") return true;
  return false;
}

std::string job(const std::string& name, const std::string& spec = "") {
  return fmt::format(
      R"({{"apiVersion": "batch/v1", "kind": "Job", "metadata": {{"name": "{}"}}, "spec": {{{})"
      R"( "template": {{"spec": {{"restartPolicy": "Never", "containers": [{{"name": "main",)"
      R"( "image": "x", "resources": {{{}}}}}]}}}}}}}})",
      name, spec, kOneGpu);
}

class QueueLife : public WebhookTest {
 protected:
  // Nodes w1, w2, … with eight GPUs, in addition to n1, all of them in the pool.
  void add_nodes(int count) { cluster().add_gpu_nodes(count, {.gpus = 8}, "w"); }
  void start(int nominal, const std::string& namespaces = "gpu-team") {
    start_with_a_pool("nvidia.com/gpu.present: 'true'");
    kube().apply(fmt::format(R"(
apiVersion: gpu.berth.dev/v1alpha1
kind: GPUQueue
metadata: {{name: vision}}
spec:
  default: true
  namespaceSelector: {{matchExpressions: [{{key: kubernetes.io/metadata.name, operator: In, values: [{}]}}]}}
  quotas: [{{resource: nvidia.com/gpu, pool: training, nominalQuota: {}}}]
)",
                             namespaces, nominal));
    wait_for("the webhook to know the queue", 30, [&]() -> std::string {
      return is_gated(create_pod("gpu-team", pod("probe", kOneGpu), true).body) ? "" : "not yet";
    });
  }
  // For kube-scheduler, unlike those of pod().
  void make_pod(const std::string& name) {
    kube().create(
        "pods", "gpu-team",
        fmt::format(R"({{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "{}"}},)"
                    R"( "spec": {{"containers": [{{"name": "main", "image": "x",)"
                    R"( "resources": {{{}}}}}]}}}})",
                    name, kOneGpu));
  }
  std::size_t gated_pods() {
    const auto pods = kube().list("pods", "gpu-team");
    return static_cast<std::size_t>(std::count_if(pods.begin(), pods.end(), is_gated));
  }
  std::size_t running_pods() {
    const auto pods = kube().list("pods", "gpu-team");
    return static_cast<std::size_t>(std::count_if(pods.begin(), pods.end(), [](const Object& pod) {
      return pod.text("/status/phase") == "Running" && !pod.has("/metadata/deletionTimestamp");
    }));
  }
  Object totals() { return kube().get({"gpuqueues", "vision"}).at("/status/totals"); }
  void wait_pending(int count) {
    wait_for(fmt::format("{} workloads to wait", count), 60, [&]() -> std::string {
      return totals().number("/pending") == count ? "" : totals().dump();
    });
  }
  std::string leader() {
    return kube().get({"leases", "berth-controller", "berth-system"}).text("/spec/holderIdentity");
  }
  void wait_empty_ledger() {
    wait_for("an empty ledger", 30, [&]() -> std::string {
      const Object ledger = kube().get({"configmaps", "berth-admissions", "berth-system"});
      return ledger.has("/data") ? ledger.dump() : "";
    });
  }
  std::vector<std::string> left_of_release() {
    std::vector<std::string> left;
    for (const std::string resource :
         {"validatingadmissionpolicies", "validatingadmissionpolicybindings",
          "mutatingwebhookconfigurations", "validatingwebhookconfigurations"}) {
      const Reply all = kube().send("GET", "/apis/admissionregistration.k8s.io/v1/" + resource);
      for (const Object& object : all.body.items())
        if (object.name().starts_with("berth")) left.push_back(resource + "/" + object.name());
    }
    return left;
  }
  Said berth_release(const Credentials& who, std::vector<std::string> words) {
    words.insert(words.begin(), {berth_program(), "release", "--kubeconfig",
                                 plane().write_kubeconfig("release.kubeconfig", who)});
    return run(words);
  }

  // The audit log of the namespace's pods with one GPU each, in the order of etcd.
  struct Story {
    std::size_t most = 0;                        // most GPUs released and not yet ended
    std::map<std::string, int> releases;         // by uid
    std::vector<std::string> never_held, early;  // created without a gate; bound with one
  };
  Story tell_story() {
    Story story;
    std::set<std::string> waiting, holding;
    std::map<std::string, std::string> uids;
    std::set<std::string> unanswered;  // the pod's next answer shows whether it was released
    for (const AuditEvent& event : events()) {
      if (event.resource != "pods" || event.ns != "gpu-team" || event.dry_run()) continue;
      if (event.unanswered() && event.by_berth()) unanswered.insert(event.name);
      if (!event.ok()) continue;
      if (event.subresource == "binding" && waiting.contains(uids[event.name]) &&
          !unanswered.contains(event.name))
        story.early.push_back(event.describe());
      if (event.response.text("/kind") != "Pod") continue;
      const std::string uid = event.response.uid();
      uids[event.name] = uid;
      if (event.verb == "create" && !is_gated(event.response))
        story.never_held.push_back(event.describe());
      if (is_gated(event.response))
        waiting.insert(uid);
      else if (waiting.erase(uid) > 0)
        ++story.releases[uid], holding.insert(uid);
      if (event.verb == "delete" &&
          event.response.number("/metadata/deletionGracePeriodSeconds") == 0)
        waiting.erase(uid), holding.erase(uid);
      story.most = std::max(story.most, holding.size());
    }
    return story;
  }
};

TEST_F(QueueLife, WhatPeopleTryAgainstAQueueIsRefusedOrPutBack) {
  start(2);
  Kube tenant(person("tenant", "edit", "gpu-team"));
  const auto ask = [&](const std::string& method, const std::string& path,
                       const std::string& body) {
    return tenant.send(method, path, body, method == "PATCH" ? kMerge : "application/json");
  };
  // Two Jobs run, a third one and a pod are pending.
  for (const char* name : {"first", "second", "third"})
    ASSERT_EQ(ask("POST", kJobs, job(name)).status, 201) << name;
  wait_for("two Jobs to run", 60,
           [&]() -> std::string { return running_pods() == 2 ? "" : totals().dump(); });
  ASSERT_EQ(create_pod("gpu-team", pod("waits", kOneGpu)).status, 201);
  wait_pending(2);
  std::string waiting, running;
  for (const Object& one : kube().list("jobs", "gpu-team"))
    (one.truth("/spec/suspend") ? waiting : running) = one.name();

  const auto expect_refused = [&](const char* what, const std::string& method,
                                  const std::string& path, const std::string& body,
                                  const char* words) {
    SCOPED_TRACE(what);
    const Reply reply = ask(method, path, body);
    EXPECT_EQ(reply.status, 403) << reply.body.dump();
    EXPECT_THAT(reply.body.text("/message"), HasSubstr(words));
  };
  const std::string of_waiting = std::string(kJobs) + "/" + waiting;
  const std::string of_running = std::string(kJobs) + "/" + running;
  const std::string forged = R"({"metadata": {"annotations": {"gpu.berth.dev/admitted": "{}"}}})";
  expect_refused("remove a gate", "PATCH", std::string(kPods) + "/waits",
                 R"({"spec": {"schedulingGates": null}})", "only berth takes the gate");
  for (const std::string& path : {std::string(kPods) + "/waits", of_waiting, of_running})
    expect_refused("forge an admission", "PATCH", path, forged, "only berth writes");
  expect_refused("raise parallelism", "PATCH", of_running, R"({"spec": {"parallelism": 2}})",
                 "may only fall");
  const char* names_node = R"("nodeName": "n1",)";
  expect_refused("choose its node", "POST", kPods, pod("bound", kOneGpu, names_node),
                 "may not name its node");
  std::string mirror = pod("mirror", kOneGpu, names_node);
  mirror.insert(mirror.find("\"name\""), R"("annotations": {"kubernetes.io/config.mirror": "x"},)");
  expect_refused("pass for a kubelet's pod", "POST", kPods, mirror, "may not name its node");

  // If a user resumes it, it stays suspended, and the user gets a warning.
  const Reply resumed = ask("PATCH", of_waiting, R"({"spec": {"suspend": false}})");
  EXPECT_EQ(resumed.status, 200) << resumed.body.dump();
  EXPECT_TRUE(resumed.body.truth("/spec/suspend"));
  EXPECT_THAT(resumed.warnings, Contains(HasSubstr("queue vision resumes it")));

  // To get more pods, it is suspended and raised, and then admitted when there is quota.
  const Reply raised = ask("PATCH", of_running, R"({"spec": {"suspend": true, "parallelism": 2}})");
  EXPECT_EQ(raised.status, 200) << raised.body.dump();
  wait_for("it to run no more than there is quota for", 60, [&]() -> std::string {
    return running_pods() == 2 && totals().text("/used") == "2/2" ? "" : totals().dump();
  });
  EXPECT_THAT(refused_to_berth(), IsEmpty());
}

TEST_F(QueueLife, AWebhookThatDiesUnderChurnLetsNoPodPastItsQueue) {
  constexpr int kReplicas = 50, kNominal = 30;
  add_nodes(4);
  start(kNominal);
  Workload serve{.name = "serve", .ns = "gpu-team", .replicas = 0};
  cluster().add_deployment(serve);
  const auto scale = [&](int replicas) {
    kube().patch({"deployments", "serve", "gpu-team"}, PatchType::kMerge,
                 fmt::format(R"({{"spec": {{"replicas": {}}}}})", replicas));
  };
  const auto pods = [&] { return kube().list("pods", "gpu-team"); };
  for (int round = 0; round < 3; ++round) {
    scale(kReplicas);
    wait_for("some pods", 60,
             [&]() -> std::string { return pods().size() > 10u ? "" : "too few"; });
    kill_webhook();
    // Deleted pods are re-created, but not while the webhook is down.
    for (const Object& one : pods())
      kube().remove({"pods", one.name(), "gpu-team"}, R"({"gracePeriodSeconds": 0})");
    wait_for("a pod to be refused for want of the webhook", 60, [&]() -> std::string {
      for (const AuditEvent& event : events())
        if (event.resource == "pods" && event.verb == "create" && event.ns == "gpu-team" &&
            event.code == 500 && event.user.ends_with("kube-controller-manager"))
          return "";
      return "none was";
    });
    EXPECT_EQ(create_pod("gpu-team", pod("refused", kOneGpu)).status, 500);
    start_webhook();
    wait_answering();
    // After each refusal its controller waits longer, up to minutes, unless the number of replicas
    // changes.
    scale(0);
    wait_for("none to be left", 60,
             [&]() -> std::string { return pods().empty() ? "" : "some are"; });
  }
  scale(kReplicas);
  wait_for("all there is quota for to run, and the rest to wait", 120, [&]() -> std::string {
    const std::string told = fmt::format("{} run, {} wait", running_pods(), gated_pods());
    return told == fmt::format("{} run, {} wait", kNominal, kReplicas - kNominal) ? "" : told;
  });
  wait_empty_ledger();
  const Story story = tell_story();
  EXPECT_THAT(story.never_held, IsEmpty());
  EXPECT_THAT(story.early, IsEmpty());
  EXPECT_LE(story.most, std::size_t{kNominal});
  for (const auto& [uid, times] : story.releases) EXPECT_EQ(times, 1) << uid;
  EXPECT_THAT(refused_to_berth(), IsEmpty());
}

// The chart with another version's name.
std::string next_chart(const std::string& scratch) {
  const std::string next = scratch + "/next-chart";
  std::filesystem::copy(source_dir() + "/helm/berth", next,
                        std::filesystem::copy_options::recursive);
  std::ifstream chart(next + "/Chart.yaml");
  const std::string text((std::istreambuf_iterator<char>(chart)), {});
  chart.close();
  std::ofstream(next + "/Chart.yaml")
      << std::regex_replace(text, std::regex("ersion: 0[.]1[.]0"), "ersion: 0.2.0");
  return next;
}

TEST_F(QueueLife, TwoVersionsOfTheChartAdmitEachPodOnce) {
  constexpr int kCount = 40, kNominal = 10;
  add_nodes(2);
  start(kNominal);
  for (int i = 0; i < kCount; ++i) make_pod(fmt::format("p{}", i));
  // So many may end, one by one, and others take their place.
  std::atomic<int> may_end = 5, ended = 0;
  std::thread work([&] {
    Kube own(plane().kube().credentials());
    while (may_end >= 0 && ended < kCount)
      for (const Object& one : own.list("pods", "gpu-team")) {
        if (ended >= may_end || one.text("/status/phase") != "Running") continue;
        own.remove({"pods", one.name(), "gpu-team"}, R"({"gracePeriodSeconds": 0})");
        ++ended;
      }
  });
  const auto let_end = [&](int count) {
    may_end = count;
    wait_until(fmt::format("{} pods to end", count), seconds(90),
               [&] { return ended >= count ? "" : std::to_string(ended); });
  };
  try {
    let_end(5);

    // The chart's next version is installed (as a patch: the port is the fixture's) during
    // releases, and its leader runs next to the old one.
    may_end = 10;
    const Said upgraded = helm({"upgrade", "berth", next_chart(plane().scratch()),
                                "--server-side=false", "--reuse-values", "--set", "replicas=3"});
    EXPECT_EQ(upgraded.code, 0) << upgraded.text;
    let_end(10);
    Berth next(plane(), {.name = "berth-next",
                         .kubeconfig = plane().write_kubeconfig("next.kubeconfig", account()),
                         .flags = chart_flags("berth", "--node-")});
    let_end(15);
    const std::string first = leader();
    berth().process().freeze();
    let_end(20);
    wait_until("the new one to lead", seconds(60),
               [&] { return leader() != first ? "" : "the old one does"; });
    berth().process().thaw();
    let_end(25);
    EXPECT_TRUE(berth().process().wait(seconds(60)).has_value()) << "it does not lead any more";

    // Back again, and the new one dies.
    may_end = 30;
    const Said back = helm({"rollback", "berth", "1", "--server-side=false"});
    EXPECT_EQ(back.code, 0) << back.text;
    start_berth_as_account();
    next.process().kill_now();
    let_end(kCount);
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
  may_end = -1;
  work.join();

  const Story story = tell_story();
  EXPECT_THAT(story.never_held, IsEmpty());
  EXPECT_LE(story.most, std::size_t{kNominal});
  EXPECT_EQ(story.releases.size(), std::size_t{kCount});
  for (const auto& [uid, times] : story.releases) EXPECT_EQ(times, 1) << uid;
  wait_empty_ledger();
  wait_pending(0);
}

TEST_F(QueueLife, AnUninstallIsRefusedWhileWorkWaitsAndAfterAReleaseStrandsNothing) {
  start(2, "gpu-team, team-b");
  for (int i = 0; i < 60; ++i) make_pod(fmt::format("pod-{}", i));
  for (int i = 0; i < 41; ++i) kube().create("jobs", "gpu-team", job(fmt::format("job-{}", i)));
  // One that a user holds, and one in a namespace that no webhook reviews.
  kube().create("jobs", "gpu-team", job("on-hold"));
  kube().set_annotation({"jobs", "on-hold", "gpu-team"}, "gpu.berth.dev/hold", "true");
  kube().create("jobs", "team-b", job("by-hand", R"("suspend": true,)"));
  wait_pending(100);

  // 1. Refused, with a helpful message, and nothing is removed.
  const Said refused = helm({"uninstall", "berth"});
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.text, HasSubstr("100 workloads wait in GPUQueue vision"));
  EXPECT_THAT(refused.text, HasSubstr("berth release --all"));
  EXPECT_THAT(left_of_release(), Contains("mutatingwebhookconfigurations/berth-webhook"));

  // 2. A user without the right to release gets that message at once.
  const Credentials tenant = person("tenant", "edit", "gpu-team");
  for (const char* where : {"--all", "--namespace=gpu-team"}) {
    const Said forbidden = berth_release(tenant, {where, "--yes"});
    EXPECT_EQ(forbidden.code, 1);
    EXPECT_THAT(forbidden.text, HasSubstr("verb `release` on gpuqueues.gpu.berth.dev"));
    EXPECT_EQ(std::count(forbidden.text.begin(), forbidden.text.end(), '\n'), 1) << forbidden.text;
  }
  EXPECT_GE(gated_pods(), 58u);

  // 3. A user with the right releases everything except what a user holds.
  const Said released = berth_release(person("rescuer", "berth-release"), {"--all", "--yes"});
  EXPECT_EQ(released.code, 0) << released.text;
  EXPECT_THAT(released.text, HasSubstr("100 of 100 workloads released"));
  EXPECT_THAT(released.text, Not(HasSubstr("on-hold")));
  wait_pending(0);
  wait_empty_ledger();

  // 4. The uninstall now succeeds.
  wait_for("the uninstall to be let through", 30, [&]() -> std::string {
    const Said gone = helm({"uninstall", "berth", "--wait"});
    return gone.code == 0 ? "" : gone.text;
  });
  stop_berth();
  kill_webhook();
  EXPECT_THAT(left_of_release(), IsEmpty());
  EXPECT_EQ(gated_pods(), 0u);
  for (const char* ns : {"gpu-team", "team-b"})
    for (const Object& one : kube().list("jobs", ns))
      EXPECT_EQ(one.truth("/spec/suspend"), one.name() == "on-hold") << one.dump();
  const Reply free = create_pod("gpu-team", pod("free", kOneGpu));
  EXPECT_EQ(free.status, 201) << free.body.dump();
  EXPECT_FALSE(is_gated(free.body));
  const Reply resumed = kube().send("PATCH", std::string(kJobs) + "/on-hold",
                                    R"({"spec": {"suspend": false}})", kMerge);
  EXPECT_FALSE(resumed.body.truth("/spec/suspend")) << resumed.body.dump();
}

}  // namespace
}  // namespace berth::test
