// SPDX-License-Identifier: Apache-2.0
// The table of docs/admission.md, row by row, for users: the pod that the API server stores after
// the webhook, and the printed messages, under Enforce and under Warn.
#include <fmt/format.h>

#include "tests/apiserver/webhook_fixture.h"

namespace berth::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr char kMutations[] = "gpu.berth.dev/mutations";

// Pool training has a taint; pool development shares its GPUs and is for namespaces of tier lab.
// All other namespaces may request whole GPUs.
std::string policy(const char* enforcement) {
  return fmt::format(
      R"(apiVersion: gpu.berth.dev/v1alpha1
kind: GPUClusterPolicy
metadata: {{name: cluster}}
spec:
  pools:
  - name: training
    nodeSelector: {{matchLabels: {{kubernetes.io/hostname: n1}}}}
    taints: [{{key: nvidia.com/gpu, value: present, effect: NoSchedule}}]
  - name: development
    nodeSelector: {{matchLabels: {{kubernetes.io/hostname: lab1}}}}
    sharing: {{strategy: TimeSlicing, replicas: 4, renameByDefault: true, failRequestsGreaterThanOne: true}}
    eligibleNamespaces: {{matchLabels: {{tier: lab}}}}
  resourceCatalog:
  - {{name: rare, resource: nvidia.com/mig-7g.80gb}}
  - name: whole
    resource: nvidia.com/gpu
    eligibleNamespaces: {{matchExpressions: [{{key: tier, operator: NotIn, values: [lab]}}]}}
  priorityClasses: [{{name: gpu-default, value: 1000}}]
  admission:
    enforcement: {}
    defaults: {{sharedMemory: 2Gi, securityContext: true, priorityClassName: gpu-default}}
)",
      enforcement);
}

std::string limits(const char* resource, const char* count) {
  return fmt::format(R"("limits": {{"{}": "{}"}})", resource, count);
}

class AdmissionRows : public WebhookTest {
 protected:
  void start(const char* enforcement) {
    invariants_.pool_labels.insert("nvidia.com/device-plugin.config");  // of the shared pool
    kube().apply(
        "{apiVersion: v1, kind: Namespace,"
        " metadata: {name: gpu-lab, labels: {gpu.berth.dev/managed: 'true', tier: lab}}}");
    cluster().add_gpu_nodes(1, {}, "lab");
    kube().apply(policy(enforcement));
    start_keeper();
    start_berth_as_account();
    for (const char* node : {"n1", "lab1"})
      wait_for(fmt::format("the pool of {}", node), 30, [&]() -> std::string {
        return kube().get({"nodes", node}).label("gpu.berth.dev/pool").empty() ? "not yet" : "";
      });
    cluster().wait_agents_running();
    start_webhook();
    wait_for("the webhook to know its cluster", 40, [&]() -> std::string {
      const Reply reply = ask("gpu-team", pod("probe", limits("nvidia.com/gpu", "1")));
      if (!reply.ok()) {
        follow_secret();
        return reply.body.text("/message");
      }
      return reply.body.text("/spec/priorityClassName") == "gpu-default" ? "" : "no class yet";
    });
    wait_until("gpu-lab's service account", std::chrono::seconds(30), []() -> std::string {
      return kube().find({"serviceaccounts", "default", "gpu-lab"}) ? "" : "not yet";
    });
  }

  Reply ask(const std::string& ns, const std::string& json) { return create_pod(ns, json, true); }
};

struct Repair {
  const char* row;
  std::string pod;
  const char* noted;                                     // in the annotation
  std::vector<std::pair<const char*, const char*>> has;  // pointer into the pod, text in it
};

std::vector<Repair> repairs(std::string (*pod)(const std::string&, const std::string&,
                                               const std::string&)) {
  const std::string one = limits("nvidia.com/gpu", "1");
  return {
      {"request without limit",
       pod("p", R"("requests": {"nvidia.com/gpu": "1"})", ""),
       "limits nvidia.com/gpu",
       {{"/spec/containers/0/resources/limits", R"("nvidia.com/gpu":"1")"}}},
      {"no toleration for the pool's taint",
       pod("p", one, ""),
       "tolerations nvidia.com/gpu",
       {{"/spec/tolerations", R"("key":"nvidia.com/gpu")"}}},
      {"no affinity to the pool",
       pod("p", one, ""),
       "poolAffinity training",
       {{"/spec/affinity/nodeAffinity", R"("key":"gpu.berth.dev/pool","operator":"In")"}}},
      {"every term of an affinity that is there",
       pod("p", one,
           R"("affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":)"
           R"( {"nodeSelectorTerms": [)"
           R"({"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]},)"
           R"({"matchExpressions": [{"key": "b", "operator": "DoesNotExist"}]}]}}},)"),
       "poolAffinity training",
       {{"/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/"
         "nodeSelectorTerms/0",
         "gpu.berth.dev/pool"},
        {"/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/"
         "nodeSelectorTerms/1",
         "gpu.berth.dev/pool"}}},
      {"several GPUs without /dev/shm",
       pod("p", limits("nvidia.com/gpu", "2"), ""),
       "sharedMemory 2Gi",
       {{"/spec/volumes", R"("emptyDir":{"medium":"Memory","sizeLimit":"2Gi"})"},
        {"/spec/containers/0/volumeMounts", R"("mountPath":"/dev/shm")"}}},
      {"no security context",
       pod("p", one, ""),
       "securityContext",
       {{"/spec/securityContext", R"("runAsNonRoot":true)"},
        {"/spec/securityContext", R"("type":"RuntimeDefault")"},
        {"/spec/containers/0/securityContext", R"("allowPrivilegeEscalation":false)"}}},
      {"no priority class",
       pod("p", one, ""),
       "priorityClassName gpu-default",
       {{"/spec/priorityClassName", "gpu-default"}, {"/spec/priority", "1000"}}},
  };
}

struct Refusal {
  const char* row;
  const char* ns;
  std::string pod;
  const char* says;
  enum { kByBerth, kByTheServerToo, kNever } refused = kByBerth;
};

std::vector<Refusal> refusals(std::string (*pod)(const std::string&, const std::string&,
                                                 const std::string&)) {
  const std::string one = limits("nvidia.com/gpu", "1");
  const auto container = [&](const char* fields) {
    return fmt::format(R"({{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "p"}},)"
                       R"( "spec": {{"containers": [{{"name": "main", "image": "x", {},)"
                       R"( "resources": {{{}}}}}]}}}})",
                       fields, one);
  };
  return {
      {"limit and request differ", "gpu-team",
       pod("p", limits("nvidia.com/gpu", "2") + R"(, "requests": {"nvidia.com/gpu": "1"})", ""),
       "the limit is 2 and the request 1", Refusal::kByTheServerToo},
      {"a part of a GPU", "gpu-team", pod("p", limits("nvidia.com/gpu", "500m"), ""),
       "500m is not a whole number", Refusal::kByTheServerToo},
      {"below zero", "gpu-team", pod("p", limits("nvidia.com/gpu", "-1"), ""),
       "-1 is below zero; write how many", Refusal::kByTheServerToo},
      {"the name before plugins", "gpu-team",
       pod("p", limits("alpha.kubernetes.io/nvidia-gpu", "1"), ""), "write nvidia.com/gpu: 1"},
      {"zero", "gpu-team", pod("p", limits("nvidia.com/gpu", "0"), ""), "0 asks for no GPU",
       Refusal::kNever},
      {"two shares", "gpu-lab", pod("p", limits("nvidia.com/gpu.shared", "2"), ""),
       "two shares are no greater share; write nvidia.com/gpu.shared: 1"},
      {"what nobody offers", "gpu-team", pod("p", limits("nvidia.com/mig-1g.5gb", "1"), ""),
       "no node or MIGLayout offers nvidia.com/mig-1g.5gb"},
      {"what the catalog has and no node", "gpu-team",
       pod("p", limits("nvidia.com/mig-7g.80gb", "1"), ""), "is in the catalog", Refusal::kNever},
      {"a pool that is not for the namespace", "gpu-team",
       pod("p", limits("nvidia.com/gpu.shared", "1"), ""),
       "pool development, which is only for namespaces with tier=lab"},
      {"a catalog entry that is not", "gpu-lab", pod("p", one, ""),
       "catalog entry whole is only for namespaces with"},
      {"privileged", "gpu-team", container(R"("securityContext": {"privileged": true})"),
       "a privileged container reaches every GPU"},
      {"the host's devices", "gpu-team",
       pod("p", one, R"("volumes": [{"name": "d", "hostPath": {"path": "/dev/nvidia0"}}],)"),
       "/dev/nvidia0 bypasses the device plugin"},
      {"the devices by name", "gpu-team",
       container(R"("env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}])"),
       "NVIDIA_VISIBLE_DEVICES bypasses the device plugin"},
  };
}

TEST_F(AdmissionRows, EachIsRepairedOnceAndRefusedInItsWords) {
  start("Enforce");
  for (const Repair& repair : repairs(&WebhookTest::pod)) {
    SCOPED_TRACE(repair.row);
    const Reply made = ask("gpu-team", repair.pod);
    ASSERT_EQ(made.status, 201) << made.body.dump();
    EXPECT_THAT(made.body.annotation(kMutations), HasSubstr(repair.noted));
    for (const auto& [pointer, text] : repair.has)
      EXPECT_THAT(made.body.at(pointer).dump(), HasSubstr(text)) << pointer;
    // A second review, as after another webhook's change: nothing is left to do.
    const Reply again = ask(
        "gpu-team",
        fmt::format(R"({{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "q",)"
                    R"( "annotations": {}}}, "spec": {}}})",
                    made.body.at("/metadata/annotations").dump(), made.body.at("/spec").dump()));
    ASSERT_EQ(again.status, 201) << again.body.dump();
    EXPECT_EQ(again.body.at("/spec").dump(), made.body.at("/spec").dump());
    EXPECT_EQ(again.body.annotation(kMutations), made.body.annotation(kMutations));
  }
  for (const Refusal& refusal : refusals(&WebhookTest::pod)) {
    SCOPED_TRACE(refusal.row);
    const Reply reply = ask(refusal.ns, refusal.pod);
    if (refusal.refused == Refusal::kNever) {
      EXPECT_EQ(reply.status, 201) << reply.body.dump();
      EXPECT_THAT(reply.warnings, Contains(HasSubstr(refusal.says)));
      continue;
    }
    EXPECT_EQ(reply.status, 403) << reply.body.dump();
    EXPECT_THAT(reply.body.text("/message"),
                HasSubstr("admission webhook \"pods.gpu.berth.dev\" denied the request: spec."));
    EXPECT_THAT(reply.body.text("/message"), HasSubstr(refusal.says));
  }
}

TEST_F(AdmissionRows, UnderWarnTheSameWordsAreWarningsAndTheSameIsRepaired) {
  start("Warn");
  for (const Repair& repair : repairs(&WebhookTest::pod)) {
    SCOPED_TRACE(repair.row);
    const Reply made = ask("gpu-team", repair.pod);
    ASSERT_EQ(made.status, 201) << made.body.dump();
    EXPECT_THAT(made.body.annotation(kMutations), HasSubstr(repair.noted));
  }
  for (const Refusal& refusal : refusals(&WebhookTest::pod)) {
    SCOPED_TRACE(refusal.row);
    const Reply reply = ask(refusal.ns, refusal.pod);
    EXPECT_EQ(reply.status, refusal.refused == Refusal::kByTheServerToo ? 422 : 201)
        << reply.body.dump();
    EXPECT_THAT(reply.warnings, Contains(HasSubstr(refusal.says)));
  }
}

// A pod's claims about itself do not help, and a path counts in its resolved form.
TEST_F(AdmissionRows, WaysAroundAreRefusedAndIntrudersTold) {
  start("Enforce");
  const std::string shared = limits("nvidia.com/gpu.shared", "1");
  const auto claimed = [&](const char* claims) {
    return fmt::format(
        R"({{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "intruder", {}}}, "spec":)"
        R"( {{"nodeName": "lab1", "automountServiceAccountToken": false, "tolerations":)"
        R"( [{{"operator": "Exists"}}], "containers": [{{"name": "main", "image": "x",)"
        R"( "resources": {{{}}}}}]}}}})",
        claims, shared);
  };
  const std::string of_node = claimed(
      R"("ownerReferences": [{"apiVersion": "x.example.com/v1", "kind": "Node", "name": "a",)"
      R"( "uid": "b"}])");
  for (const std::string& pod :
       {of_node, claimed(R"("annotations": {"kubernetes.io/config.mirror": "x"})"),
        claimed(R"("annotations": {"gpu.berth.dev/mutations": "poolAffinity development"})")}) {
    const Reply reply = ask("gpu-team", pod);
    EXPECT_EQ(reply.status, 403) << reply.body.dump();
    EXPECT_THAT(reply.body.text("/message"), HasSubstr("pool development, which is only for"));
  }
  for (const char* path : {"//dev/nvidia0", "/dev//./nvidiactl", "/dev", "/dev/", "/", "//."}) {
    const Reply reply = ask(
        "gpu-team",
        pod("p", "",
            fmt::format(R"("volumes": [{{"name": "d", "hostPath": {{"path": "{}"}}}}],)", path)));
    EXPECT_EQ(reply.status, 403) << path << reply.body.dump();
    EXPECT_THAT(reply.body.text("/message"), HasSubstr("bypasses the device plugin")) << path;
  }
  for (const char* path : {"/proc/1/root/dev", "/sys", "/var/run/nvidia/mps",
                           "/var/lib/kubelet/device-plugins", "/run"})
    EXPECT_THAT(
        ask("gpu-team",
            pod("p", "",
                fmt::format(R"("volumes": [{{"name": "d", "hostPath": {{"path": "{}"}}}}],)",
                            path)))
            .body.text("/message"),
        HasSubstr("reaches the node's processes"))
        << path;
  // The API server sends each of them to the webhook, although none requests a GPU.
  const auto container = [](const char* fields) {
    return fmt::format(
        R"({{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "p"}}, "spec":)"
        R"( {{"automountServiceAccountToken": false, "hostIPC": true, "containers":)"
        R"( [{{"name": "main", "image": "x", {}}}], "volumes": [{{"name": "v",)"
        R"( "emptyDir": {{}}}}]}}}})",
        fields);
  };
  for (
      const auto& [fields, says] : std::vector<std::pair<const char*, const char*>>{
          {R"("securityContext": {"privileged": true})", "a privileged container"},
          {R"("env": [{"name": "NVIDIA_MIG_CONFIG_DEVICES", "value": "all"}])", "MIG devices"},
          {R"("env": [{"name": "CUDA_MPS_PIPE_DIRECTORY", "value": "/tmp"}])", "the MPS server"},
          {R"("volumeMounts": [{"name": "v", "mountPath": "/var/run/nvidia-container-devices/0"}])",
           "past the device plugin"}})
    EXPECT_THAT(ask("gpu-team", container(fields)).body.text("/message"), HasSubstr(says));
  std::string injected = pod("p", "");
  injected.insert(injected.find("\"name\""),
                  R"("annotations": {"cdi.k8s.io/gpu": "nvidia.com/gpu=all"},)");
  EXPECT_THAT(ask("gpu-team", injected).body.text("/message"),
              HasSubstr("metadata.annotations[cdi.k8s.io/gpu]"));
  for (const char* path : {"/dev/shm", "/etc"})
    EXPECT_EQ(ask("gpu-team",
                  pod("p", "",
                      fmt::format(R"("volumes": [{{"name": "d", "hostPath": {{"path": "{}"}}}}],)",
                                  path)))
                  .status,
              201);

  // A debugger's container.
  const Reply cpu = create_pod("gpu-team", pod("debugged", ""));
  ASSERT_EQ(cpu.status, 201) << cpu.body.dump();
  const auto debug = [&](const char* env) {
    std::string json = cpu.body.dump();
    json.insert(
        json.find(R"("containers":[)"),
        fmt::format(R"("ephemeralContainers":[{{"name":"sh","image":"x","env":[{}]}}],)", env));
    return kube().send("PUT", "/api/v1/namespaces/gpu-team/pods/debugged/ephemeralcontainers",
                       json);
  };
  const Reply thief = debug(R"({"name":"NVIDIA_VISIBLE_DEVICES","value":"all"})");
  EXPECT_EQ(thief.status, 403) << thief.body.dump();
  EXPECT_THAT(thief.body.text("/message"), HasSubstr("spec.ephemeralContainers[0].env[0]"));
  EXPECT_EQ(debug(R"({"name":"X","value":"all"})").status, 200);

  // A pod that was created while its namespace was not managed, and lacks nothing that can be
  // added.
  const Ref team{"namespaces", "gpu-team"};
  kube().set_label(team, "gpu.berth.dev/managed", "false");
  wait_for("the intruder to be let in", 30, [&]() -> std::string {
    const Reply reply = create_pod("gpu-team", of_node);
    return reply.status == 201 ? "" : reply.body.dump();
  });
  kube().set_label(team, "gpu.berth.dev/managed", "true");
  wait_for("somebody to be told", 60, []() -> std::string {
    for (const Object& event : kube().list("events", "gpu-team"))
      if (event.text("/involvedObject/name") == "intruder" &&
          event.text("/reason") == "SlippedPastAdmission" &&
          event.text("/message").find("is in pool development") != std::string::npos)
        return "";
    return "no event yet";
  });
}

}  // namespace
}  // namespace berth::test
