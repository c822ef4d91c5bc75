// SPDX-License-Identifier: Apache-2.0
// Repeated syncs of GitOps tools, under the chart's policies and its webhook: `kubectl apply`,
// server-side apply and the three-way merge of Argo CD. One Job manifest does not mention
// `suspend`, another sets it to false. Neither may start a pending Job nor disturb a running one,
// and a repeated sync must change nothing.
#include <fmt/format.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/apiserver/webhook_fixture.h"

namespace berth::test {
namespace {

using nlohmann::json;
using ::testing::IsEmpty;

constexpr char kLastApplied[] = "kubectl.kubernetes.io/last-applied-configuration";
constexpr char kAdmitted[] = "gpu.berth.dev/admitted";
constexpr char kHold[] = "gpu.berth.dev/hold";
constexpr char kReason[] = "gpu.berth.dev/pending-reason";

enum class Tool { kKubectl, kServerSide, kArgo };

const json kPodSpec = {
    {"containers",
     {{{"name", "main"}, {"image", "x"}, {"resources", {{"limits", {{"nvidia.com/gpu", 1}}}}}}}}};

json named(const char* version, const char* kind, const char* name) {
  return {{"apiVersion", version},
          {"kind", kind},
          {"metadata", {{"name", name}, {"namespace", "gpu-team"}}}};
}

// With a node selector of their own; server-side apply would own the whole map (docs/gpuqueue.md).
json pod_spec(Tool tool) {
  json spec = kPodSpec;
  if (tool != Tool::kServerSide) spec["nodeSelector"] = {{"kubernetes.io/os", "linux"}};
  return spec;
}

std::vector<json> manifests_for(Tool tool) {
  json silent = named("batch/v1", "Job", "silent"),
       outspoken = named("batch/v1", "Job", "outspoken");
  for (json* job : {&silent, &outspoken}) {
    (*job)["spec"]["template"]["spec"] = pod_spec(tool);
    (*job)["spec"]["template"]["spec"]["restartPolicy"] = "Never";
  }
  outspoken["spec"]["suspend"] = false;
  json alone = named("v1", "Pod", "alone"), serve = named("apps/v1", "Deployment", "serve");
  alone["spec"] = pod_spec(tool);
  const json labels = {{"app", "serve"}};
  serve["spec"] = {{"selector", {{"matchLabels", labels}}},
                   {"template", {{"metadata", {{"labels", labels}}}, {"spec", pod_spec(tool)}}}};
  return {silent, outspoken, alone, serve};
}

Ref ref_of(const json& manifest) {
  const std::string kind = manifest["kind"];
  return {kind == "Job"   ? "jobs"
          : kind == "Pod" ? "pods"
                          : "deployments",
          manifest["metadata"]["name"], "gpu-team"};
}

// The patch for `live`: everything in `desired`, without what only `last` had. The server merges
// containers by name.
json merge_of_three(const json& last, const json& live, const json& desired) {
  json patch = json::object();
  for (const auto& [key, wanted] : desired.items()) {
    const json now = live.value(key, json());
    if (!wanted.is_object() || !now.is_object()) {
      if (now != wanted) patch[key] = wanted;
      continue;
    }
    json inner = merge_of_three(last.value(key, json::object()), now, wanted);
    if (!inner.empty()) patch[key] = std::move(inner);
  }
  for (const auto& [key, said] : last.items())
    if (!desired.contains(key) && live.contains(key)) patch[key] = nullptr;
  return patch;
}

class GitOps : public WebhookTest, public ::testing::WithParamInterface<Tool> {
 protected:
  void SetUp() override {
    WebhookTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    // By default, GitOps tools have all rights, and users do not.
    const bool everything = GetParam() != Tool::kKubectl;
    tool_ = std::make_unique<Kube>(everything ? person("argocd", "cluster-admin")
                                              : person("tenant", "edit", "gpu-team"));
    kubeconfig_ = plane().write_kubeconfig("tool.kubeconfig", tool_->credentials());
    start_with_a_pool();
    kube().apply(R"(
apiVersion: gpu.berth.dev/v1alpha1
kind: GPUQueue
metadata: {name: vision}
spec:
  default: true
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: gpu-team}}
  quotas: [{resource: nvidia.com/gpu, pool: training, nominalQuota: 4}]
)");
    wait_for("the webhook to know the queue", 30, [&]() -> std::string {
      const std::string probe = pod("probe", R"("limits": {"nvidia.com/gpu": "1"})");
      const Reply made = create_pod("gpu-team", probe, true);
      return made.body.has("/spec/schedulingGates") ? "" : made.body.dump();
    });
  }

  std::vector<json> manifests() { return manifests_for(GetParam()); }
  void send_all() {
    if (GetParam() == Tool::kArgo) {
      for (const json& manifest : manifests()) send_merged(manifest);
      return;
    }
    const std::string file = plane().scratch() + "/manifests.json";
    std::ofstream(file) << json{{"apiVersion", "v1"}, {"kind", "List"}, {"items", manifests()}};
    std::vector<std::string> words = {control_plane_binaries() + "/kubectl",
                                      "--kubeconfig=" + kubeconfig_, "apply", "--filename", file};
    if (GetParam() == Tool::kServerSide)
      words.insert(words.end(),
                   {"--server-side", "--force-conflicts", "--field-manager=kustomize-controller"});
    const Said said = run(words, {"HOME=" + plane().scratch()});
    EXPECT_EQ(said.code, 0) << said.text;
  }
  void send_merged(json desired) {
    desired["metadata"]["annotations"][kLastApplied] = desired.dump();
    const Ref ref = ref_of(desired);
    const std::string query = "?fieldManager=argocd-controller";
    const auto live = kube().find(ref);
    const std::string last = live ? live->annotation(kLastApplied) : "";
    const Reply reply =
        live ? tool_->send("PATCH", path_of(ref) + query,
                           merge_of_three(json::parse(last), live->value(), desired).dump(),
                           "application/strategic-merge-patch+json")
             : tool_->send("POST", collection_path(ref.resource, ref.ns) + query, desired.dump());
    EXPECT_TRUE(reply.ok()) << ref.name << ": " << reply.body.dump();
  }

  // By then berth has reacted to every change.
  void let_berth_act() {
    std::set<std::string> renewals;
    wait_for("berth to go on", 30, [&]() -> std::string {
      renewals.insert(
          kube().get({"leases", "berth-controller", "berth-system"}).resource_version());
      return renewals.size() > 3 ? "" : "its Lease is not renewed";
    });
  }
  std::map<std::string, std::string> versions() {
    std::map<std::string, std::string> all;
    for (const json& manifest : manifests()) {
      const Object now = kube().get(ref_of(manifest));
      all[now.name()] = now.resource_version() + now.annotation(kReason);
    }
    return all;
  }
  // Repeats until a sync changes nothing, and so do the next ones. Between two syncs berth may
  // write a pending reason once.
  void send_until_nothing_changes() {
    send_all();
    let_berth_act();
    wait_for("the next one to change nothing", 15, [&]() -> std::string {
      const auto before = versions();
      send_all();
      let_berth_act();
      return before == versions() ? "" : json(before).dump() + " " + json(versions()).dump();
    });
  }

  // The parts of running workloads that no sync may change.
  std::map<std::string, std::string> what_runs() {
    std::map<std::string, std::string> all;
    for (const char* name : {"silent", "outspoken"}) {
      const Object job = kube().get({"jobs", name, "gpu-team"});
      all[name] = job.uid() + job.text("/spec/suspend") + job.text("/status/startTime") +
                  job.text("/spec/template/spec/nodeSelector") + job.annotation(kAdmitted);
    }
    for (const Object& pod : kube().list("pods", "gpu-team"))
      all[pod.uid()] = pod.name() + pod.text("/spec/nodeName") + pod.text("/spec/nodeSelector") +
                       pod.annotation(kAdmitted) + pod.text("/spec/schedulingGates");
    return all;
  }
  void wait_running(std::size_t pods) {
    wait_for(fmt::format("{} pods to run in their pool", pods), 60, [&]() -> std::string {
      std::string told;
      std::size_t running = 0;
      for (const Object& pod : kube().list("pods", "gpu-team")) {
        const bool runs = pod.text("/status/phase") == "Running" &&
                          pod.text("/spec/nodeSelector/gpu.berth.dev~1pool") == "training" &&
                          !pod.has("/metadata/deletionTimestamp");
        running += runs ? 1 : 0;
        told += pod.name() + " " + pod.text("/status/phase") + ", ";
      }
      return running == pods ? "" : told;
    });
  }
  void expect_jobs_wait() {
    for (const char* name : {"silent", "outspoken"}) {
      const Object job = kube().get({"jobs", name, "gpu-team"});
      EXPECT_TRUE(job.truth("/spec/suspend")) << job.dump();
      EXPECT_EQ(job.number("/status/active"), 0) << job.dump();
    }
  }
  void expect_all_wait() {
    expect_jobs_wait();
    for (const Object& pod : kube().list("pods", "gpu-team")) {
      if (pod.name().starts_with("filler")) continue;
      EXPECT_EQ(pod.text("/spec/schedulingGates/0/name"), "gpu.berth.dev/queue") << pod.dump();
    }
  }
  void set_stop_policy(const std::string& policy) {
    kube().patch({"gpuqueues", "vision"}, PatchType::kMerge,
                 R"({"spec": {"stopPolicy": ")" + policy + "\"}}");
  }
  void wait_jobs_suspended() {
    wait_for("the Jobs to be taken down", 60, [&]() -> std::string {
      for (const char* name : {"silent", "outspoken"}) {
        const Object job = kube().get({"jobs", name, "gpu-team"});
        if (!job.truth("/spec/suspend") || job.number("/status/active") > 0 ||
            job.number("/status/terminating") > 0)
          return job.dump();
      }
      return "";
    });
  }
  // Jobs that another client than berth resumed, in the order of etcd.
  std::vector<std::string> resumed_by_others() {
    std::vector<std::string> told;
    std::map<std::string, bool> runs;
    for (const AuditEvent& event : events()) {
      if (event.resource != "jobs" || event.response.text("/kind") != "Job" || !event.ok() ||
          event.dry_run() || event.ns != "gpu-team")
        continue;
      const bool now = !event.response.truth("/spec/suspend");
      if (now && !runs[event.name] && event.user != kAccount) told.push_back(event.describe());
      runs[event.name] = now;
    }
    return told;
  }

  std::unique_ptr<Kube> tool_;
  std::string kubeconfig_;
};

TEST_P(GitOps, WhatWaitsWaitsAndWhatRunsRunsOnHoweverOftenItIsSent) {
  // 1. Four GPUs are taken: all four manifests wait.
  json filler = named("batch/v1", "Job", "filler");
  filler["spec"]["template"]["spec"] = kPodSpec;
  filler["spec"]["template"]["spec"]["restartPolicy"] = "Never";
  filler["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = 4;
  kube().create("jobs", "gpu-team", filler.dump());
  wait_for("the filler to run", 60, [&]() -> std::string {
    const Object job = kube().get({"jobs", "filler", "gpu-team"});
    return job.number("/status/ready") == 1 ? "" : job.dump();
  });
  send_until_nothing_changes();
  expect_all_wait();

  // 2. There is free capacity, and the queue is held.
  set_stop_policy("Hold");
  kube().remove({"jobs", "filler", "gpu-team"}, R"({"propagationPolicy": "Background"})");
  wait_for("the filler to go", 30, [&]() -> std::string {
    return kube().list("pods", "gpu-team").size() == 2 ? "" : "not yet";
  });
  send_until_nothing_changes();
  expect_all_wait();

  // 3. They are admitted.
  set_stop_policy("None");
  wait_running(4);
  const auto running = what_runs();
  send_until_nothing_changes();
  EXPECT_EQ(what_runs(), running);
  EXPECT_EQ(running.size(), 6u);

  // 4. A user suspends the Jobs and holds them.
  for (const char* name : {"silent", "outspoken"})
    kube().patch(
        {"jobs", name, "gpu-team"}, PatchType::kMerge,
        json{{"metadata", {{"annotations", {{kHold, "true"}}}}}, {"spec", {{"suspend", true}}}}
            .dump());
  wait_jobs_suspended();
  send_until_nothing_changes();
  expect_jobs_wait();
  wait_running(2);
  for (const char* name : {"silent", "outspoken"})
    kube().set_annotation({"jobs", name, "gpu-team"}, kHold, "");
  wait_running(4);

  // 5. The queue requeues everything.
  set_stop_policy("HoldAndDrain");
  wait_jobs_suspended();
  send_until_nothing_changes();
  expect_jobs_wait();
  set_stop_policy("None");
  wait_running(4);
  const auto again = what_runs();
  send_until_nothing_changes();
  EXPECT_EQ(what_runs(), again);

  EXPECT_THAT(resumed_by_others(), IsEmpty());
  EXPECT_THAT(refused_to_berth(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Tools, GitOps,
                         ::testing::Values(Tool::kKubectl, Tool::kServerSide, Tool::kArgo),
                         [](const auto& of) {
                           return of.param == Tool::kKubectl      ? "Kubectl"
                                  : of.param == Tool::kServerSide ? "ServerSide"
                                                                  : "ArgoCD";
                         });

}  // namespace
}  // namespace berth::test
