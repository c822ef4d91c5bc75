// SPDX-License-Identifier: Apache-2.0
// The webhook's refusals and warnings: each row of the table, under Enforce and under Warn, with
// the message that a user reads.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/admission/review_case.h"

namespace berth::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

enum class Fate {
  kRefusedAtOnce,  // on the mutate path: otherwise the server refuses it next
  kRefused,
  kWarned,  // with any enforcement
};

struct Case {
  const char* name;
  Request request;
  Fate fate;
  std::string message;  // including the field
};

Request in(std::string ns, Request request) {
  request.ns = std::move(ns);
  return request;
}

std::vector<Case> cases() {
  const std::string gpu = R"("resources":{"limits":{"nvidia.com/gpu":"1"}})";
  return {
      {"limit and request differ",
       pod(container(R"({"limits":{"nvidia.com/gpu":"2"},"requests":{"nvidia.com/gpu":"1"}})")),
       Fate::kRefusedAtOnce,
       "spec.containers[0].resources.limits[nvidia.com/gpu]: the limit is 2 and the request 1, and "
       "they must be equal; remove the request, and the limit counts for both"},
      {"a part of a GPU", pod(container(R"({"limits":{"nvidia.com/gpu":"500m"}})")),
       Fate::kRefusedAtOnce,
       "spec.containers[0].resources.limits[nvidia.com/gpu]: 500m is not a whole number, and no "
       "GPU "
       "is handed out in parts; write 1, or ask for a MIG device or a .shared resource"},
      {"less than none, in an init container",
       pod(R"({"initContainers":[{"name":"i","resources":{"requests":{"nvidia.com/gpu":"-1"}}}],)"
           R"("containers":[{"name":"c"}]})"),
       Fate::kRefusedAtOnce,
       "spec.initContainers[0].resources.requests[nvidia.com/gpu]: -1 is below zero; write how "
       "many "
       "the container needs, as 1"},
      {"in a Job", job(container(R"({"limits":{"nvidia.com/gpu":"0.5"}})")), Fate::kRefusedAtOnce,
       "spec.template.spec.containers[0].resources.limits[nvidia.com/gpu]: 500m is not a whole "
       "number, and no GPU is handed out in parts; write 1, or ask for a MIG device or a .shared "
       "resource"},
      {"the name before plugins",
       pod(container(R"({"limits":{"alpha.kubernetes.io/nvidia-gpu":"2"}})")), Fate::kRefused,
       "spec.containers[0].resources.limits[alpha.kubernetes.io/nvidia-gpu]: this name ended with "
       "Kubernetes 1.11; write nvidia.com/gpu: 2"},
      {"zero", pod(asks("nvidia.com/gpu", 0)), Fate::kWarned,
       "spec.containers[0].resources.limits[nvidia.com/gpu]: 0 asks for no GPU, and some runtimes "
       "then show the container every GPU of the node; remove the line"},
      {"two shares of a GPU", in("lab", pod(asks("nvidia.com/gpu.shared", 2))), Fate::kRefused,
       "spec.containers[0].resources.limits[nvidia.com/gpu.shared]: pool development shares its "
       "GPUs and fails a container that asks for more than one: two shares are no greater share; "
       "write nvidia.com/gpu.shared: 1"},
      {"what nobody offers", pod(asks("nvidia.com/mig-1g.5gb", 1)), Fate::kRefused,
       "spec.containers[0].resources.limits[nvidia.com/mig-1g.5gb]: no node or MIGLayout offers "
       "nvidia.com/mig-1g.5gb; did you mean nvidia.com/mig-1g.10gb?; there are nvidia.com/gpu, "
       "nvidia.com/gpu.shared, nvidia.com/mig-1g.10gb, nvidia.com/mig-3g.40gb"},
      {"what the catalog has and no node", pod(asks("nvidia.com/mig-7g.80gb", 1)), Fate::kWarned,
       "spec.containers[0].resources.limits[nvidia.com/mig-7g.80gb]: is in the catalog, but no "
       "node offers it now; the pod waits until one does"},
      {"a pool that is not for the namespace", pod(asks("nvidia.com/gpu.shared", 1)),
       Fate::kRefused,
       "spec.nodeSelector: the pod may land in pool development, which is only for namespaces with "
       "team-risk=trusted; this namespace may ask for nvidia.com/gpu, nvidia.com/mig-1g.10gb, "
       "nvidia.com/mig-3g.40gb"},
      {"on its very node",
       pod(R"({"nodeName":"d1","containers":[{"name":"c","resources":{"limits":)"
           R"({"nvidia.com/gpu.shared":"1"}}}]})"),
       Fate::kRefused,
       "spec.nodeSelector: the pod may land in pool development, which is only for namespaces with "
       "team-risk=trusted; this namespace may ask for nvidia.com/gpu, nvidia.com/mig-1g.10gb, "
       "nvidia.com/mig-3g.40gb"},
      {"a pool that there is not",
       pod(R"({"nodeSelector":{"gpu.berth.dev/pool":"traning"},"containers":[{"name":"c",)" + gpu +
           "}]}"),
       Fate::kWarned, "spec.nodeSelector: there is no pool traning; did you mean training?"},
      {"pools that there are not, by affinity",
       pod(R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
           R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"gpu.berth.dev/pool","operator":)"
           R"("In","values":["training","chess"]}]}]}}},"containers":[{"name":"c",)" +
           gpu + "}]}"),
       Fate::kWarned,
       "spec.affinity: there is no pool chess; there are training, inference, development"},
      {"a catalog entry that is not", pod(asks("nvidia.com/mig-3g.40gb", 1)), Fate::kRefused,
       "spec.containers[0].resources.limits[nvidia.com/mig-3g.40gb]: catalog entry large is only "
       "for namespaces with tier=gold; this one may ask for small (nvidia.com/mig-1g.10gb), rare "
       "(nvidia.com/mig-7g.80gb)"},
      {"several GPUs and no /dev/shm", pod(asks("nvidia.com/gpu", 2)), Fate::kWarned,
       "spec.containers[0].volumeMounts: several GPUs, and a /dev/shm of 64Mi, where training with "
       "several processes often fails; mount an emptyDir with medium: Memory at /dev/shm"},
      {"privileged",
       pod(R"({"containers":[{"name":"c","securityContext":{"privileged":true},)" + gpu + "}]}"),
       Fate::kRefused,
       "spec.containers[0].securityContext.privileged: a privileged container reaches every GPU of "
       "its node, whatever it asks for; write privileged: false"},
      {"the host's devices",
       pod(R"({"volumes":[{"name":"a","emptyDir":{}},{"name":"v","hostPath":{"path":)"
           R"("//dev/./nvidia0"}}],"containers":[{"name":"c",)" +
           gpu + "}]}"),
       Fate::kRefused,
       "spec.volumes[1].hostPath.path: //dev/./nvidia0 bypasses the device plugin and takes GPUs "
       "that were given to other pods; remove the volume and ask for nvidia.com/gpu: 1"},
      {"the devices by name",
       pod(R"({"containers":[{"name":"c","env":[{"name":"A"},{"name":"NVIDIA_VISIBLE_DEVICES",)"
           R"("value":"all"}],)" +
           gpu + "}]}"),
       Fate::kRefused,
       "spec.containers[0].env[1]: NVIDIA_VISIBLE_DEVICES bypasses the device plugin, which sets "
       "it itself; remove it and ask for nvidia.com/gpu: 1"},
      {"by a name from elsewhere, without asking for any",
       pod(R"({"containers":[{"name":"c","env":[{"name":"NVIDIA_VISIBLE_DEVICES","valueFrom":)"
           R"({"configMapKeyRef":{"name":"x","key":"y"}}}]}]})"),
       Fate::kRefused,
       "spec.containers[0].env[0]: NVIDIA_VISIBLE_DEVICES bypasses the device plugin, which sets "
       "it itself; remove it and ask for nvidia.com/gpu: 1"},
  };
}

TEST(Refusals, EachRowIsRefusedWithItsWords) {
  const ClusterState cluster = make_cluster();
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const bool at_once = c.fate == Fate::kRefusedAtOnce;
    const Answer mutated = ask(kMutate, c.request, cluster);
    EXPECT_EQ(mutated.allowed, !at_once) << mutated.message;
    const Answer judged = ask(kValidate, c.request, cluster);
    if (c.fate == Fate::kWarned) {
      EXPECT_TRUE(judged.allowed) << judged.message;
      EXPECT_THAT(judged.warnings, ElementsAre(c.message));
      continue;
    }
    EXPECT_FALSE(judged.allowed);
    EXPECT_EQ(judged.code, 403);
    EXPECT_THAT(judged.message, StartsWith(c.message));
    EXPECT_THAT(judged.causes,
                HasSubstr(R"("field":")" + c.message.substr(0, c.message.find(':'))));
    if (at_once) {
      EXPECT_EQ(mutated.message, judged.message);
    }
  }
}

TEST(Refusals, UnderWarnEachRowPassesWithTheSameWords) {
  const ClusterState cluster = make_cluster(
      [](GPUClusterPolicySpec& spec) { spec.admission.enforcement = Enforcement::kWarn; });
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const Answer judged = ask(kValidate, c.request, cluster);
    EXPECT_TRUE(judged.allowed) << judged.message;
    EXPECT_THAT(judged.warnings, Contains(StartsWith(c.message.substr(0, 250))));
    const Answer mutated = ask(kMutate, c.request, cluster);
    EXPECT_TRUE(mutated.allowed);
    if (c.fate == Fate::kRefusedAtOnce) {
      EXPECT_THAT(mutated.warnings, Contains(StartsWith(c.message.substr(0, 250))));
    }
  }
}

TEST(Refusals, OfTwoPoolsTheOneThatIsOpenIsNamed) {
  ClusterState cluster = make_cluster([](GPUClusterPolicySpec& spec) {
    spec.admission.defaults.pool_affinity = false;
    spec.pools[1].eligible_namespaces = LabelSelector{.match_labels = {{"tier", "gold"}}};
  });
  add_node(cluster, "i2", {{"tier", "inference"}}, "nvidia.com/gpu", 8);
  const Request request = pod(asks("nvidia.com/gpu", 1));
  EXPECT_THAT(ask(kValidate, request, cluster).message,
              HasSubstr("pool inference, which is only for namespaces with tier=gold; write "
                        "nodeSelector gpu.berth.dev/pool: training"));
  Request there = request;
  there.object = apply_patch(request.object, R"([{"op":"add","path":"/spec/nodeSelector","value":)"
                                             R"({"gpu.berth.dev/pool":"training"}}])");
  EXPECT_TRUE(ask(kValidate, there, cluster).allowed);
}

// Its nodes may return in a minute, for the pending pod.
TEST(Refusals, APoolThatIsNamedIsJudgedWithoutNodesToo) {
  ClusterState cluster = make_cluster();
  cluster.erase<Node>("", "d1");
  Request closed = pod(asks("nvidia.com/gpu", 1));
  closed.object = apply_patch(closed.object, R"([{"op":"add","path":"/spec/nodeSelector","value":)"
                                             R"({"gpu.berth.dev/pool":"development"}}])");
  const Answer answer = ask(kValidate, closed, cluster);
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(answer.message,
            "spec.nodeSelector: pool development is only for namespaces with team-risk=trusted; "
            "this namespace may ask for nvidia.com/gpu, nvidia.com/mig-1g.10gb, "
            "nvidia.com/mig-3g.40gb");
  EXPECT_TRUE(ask(kValidate, in("lab", closed), cluster).allowed);
}

TEST(Refusals, GoodPodsPassInSilence) {
  const ClusterState cluster = make_cluster();
  for (const Request& request :
       {pod(asks("nvidia.com/gpu", 1)), pod(asks("nvidia.com/mig-1g.10gb", 1)),
        in("lab", pod(asks("nvidia.com/gpu.shared", 1))), pod(R"({"containers":[{"name":"c"}]})"),
        in("shop", pod(R"({"containers":[{"name":"c","securityContext":{"privileged":true}}]})")),
        pod(R"({"containers":[{"name":"c","env":[{"name":"NVIDIA_VISIBLE_DEVICES",)"
            R"("value":"void"}]}]})"),
        in("shop", pod(R"({"containers":[{"name":"c"}],"resourceClaims":[{"name":"gpu"}]})")),
        in("shop", pod(asks("nvidia.com/nothing", 1))),
        in("kube-system", pod(asks("nvidia.com/gpux", 1)))}) {
    const Answer answer = ask(kValidate, request, cluster);
    EXPECT_TRUE(answer.allowed) << request.object << answer.message;
    EXPECT_THAT(answer.warnings, IsEmpty()) << request.object;
  }
}

TEST(Refusals, WhatIsAlreadyThereIsNotJudged) {
  const ClusterState cluster = make_cluster();
  Request request = pod(asks("nvidia.com/gpux", 1));
  ASSERT_FALSE(ask(kValidate, request, cluster).allowed);
  for (const char* operation : {"UPDATE", "DELETE", "CONNECT"}) {
    request.operation = operation;
    EXPECT_TRUE(ask(kValidate, request, cluster).allowed);
  }
}

// Any user can write a pod's claims; a kubelet is known by its user name and group.
TEST(Refusals, NobodyIsSparedForWhatHisPodSays) {
  const ClusterState cluster = make_cluster();
  const Request request = pod(asks("nvidia.com/gpux", 1));
  for (
      const char* claim :
      {R"({"ownerReferences":[{"apiVersion":"x.example.com/v1","kind":"Node","name":"a","uid":"b"}]})",
       R"({"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"t1","uid":"uid-t1",)"
       R"("controller":true}]})",
       R"({"annotations":{"kubernetes.io/config.mirror":"x"}})"}) {
    Request claims = request;
    claims.object =
        apply_patch(request.object,
                    fmt::format(R"([{{"op":"replace","path":"/metadata","value":{}}}])", claim));
    EXPECT_FALSE(ask(kValidate, claims, cluster).allowed) << claim;
    claims.object = apply_patch(claims.object,
                                R"([{"op":"replace","path":"/spec/containers/0/resources","value":)"
                                R"({"limits":{"nvidia.com/gpu":"1"}}}])");
    EXPECT_NE(ask(kMutate, claims, cluster).patch, "") << claim;
  }
  EXPECT_TRUE(ask(kValidate, by_kubelet(request), cluster).allowed);
  Request half = by_kubelet(request);
  half.user = "system:serviceaccount:team-a:system:node:t1";
  EXPECT_FALSE(ask(kValidate, half, cluster).allowed) << "a kubelet has the group and the name";
}

TEST(Refusals, AHostPathIsWhatItComesTo) {
  const ClusterState cluster = make_cluster();
  const auto mounts = [&](const std::string& path) {
    return ask(kValidate,
               pod(R"({"containers":[{"name":"c"}],"volumes":[{"name":"v","hostPath":{"path":")" +
                   path + R"("}}]})"),
               cluster);
  };
  for (const char* path :
       {"/dev/nvidia0", "//dev/nvidia0", "/dev//nvidiactl", "/./dev/./nvidia-uvm",
        "/dev/../dev/nvidia0", "/var/run/../../dev/nvidia0", "/../dev/nvidia0"})
    EXPECT_THAT(mounts(path).message, HasSubstr("bypasses the device plugin")) << path;
  for (const char* path : {"/", "//", "/.", "/dev", "/dev/", "//dev/.", "/dev/..", "/etc/.."})
    EXPECT_THAT(mounts(path).message, HasSubstr("holds the devices of all GPUs")) << path;
  for (const char* path : {"/dev/char/195:0", "/dev/dri/renderD128", "/dev/fd", "/dev/mem"})
    EXPECT_THAT(mounts(path).message, HasSubstr("bypasses the device plugin")) << path;
  for (const char* path :
       {"/proc", "/proc/1/root/dev", "/sys", "/sys/bus/pci", "/run/nvidia", "/run/nvidia/mps",
        "/var/run/nvidia", "/var/run/nvidia-persistenced/socket", "//run/./nvidia-mps",
        "/var/lib/kubelet", "/var/lib/kubelet/device-plugins", "/var/lib/kubelet/pod-resources",
        "/data/../var/lib/kubelet/device-plugins", "/var/lib", "/var", "/run", "/var/run",
        "/run/containerd/containerd.sock", "/var/run/cdi"})
    EXPECT_THAT(mounts(path).message, HasSubstr("reaches the node's processes")) << path;
  for (const char* path :
       {"/dev/shm", "/dev/infiniband", "/dev/charge", "/device", "/data/dev", "/mnt/dev/nvidia0",
        "/dev/...", "/etc", "/procs", "/var/lib/kubelets", "/var/log", "/run/user"})
    EXPECT_TRUE(mounts(path).allowed) << path;
}

// None of them requests a GPU.
TEST(Refusals, DevicesComeFromTheDevicePluginAlone) {
  const ClusterState cluster = make_cluster();
  const auto message = [&](const std::string& container, const char* more = "") {
    return ask(kValidate,
               pod(fmt::format(R"({{{}"containers":[{{"name":"c",{}}}]}})", more, container)),
               cluster)
        .message;
  };
  const auto env = [](const char* name, const char* value) {
    return fmt::format(R"("env":[{{"name":"A"}},{{"name":"{}","value":"{}"}}])", name, value);
  };
  EXPECT_THAT(message(R"("securityContext":{"privileged":true})"),
              HasSubstr("spec.containers[0].securityContext.privileged: a privileged container"));
  for (const char* name : {"NVIDIA_MIG_CONFIG_DEVICES", "NVIDIA_MIG_MONITOR_DEVICES"}) {
    EXPECT_THAT(message(env(name, "all")),
                HasSubstr(fmt::format("spec.containers[0].env[1]: {} shows", name)));
    EXPECT_EQ(message(env(name, "void")), "");
  }
  const std::string pipe = env("CUDA_MPS_PIPE_DIRECTORY", "/tmp/mps");
  EXPECT_THAT(message(pipe, R"("hostIPC":true,)"),
              HasSubstr("spec.containers[0].env[1]: CUDA_MPS_PIPE_DIRECTORY and hostIPC"));
  EXPECT_EQ(message(pipe), "");
  for (const char* path :
       {"/var/run/nvidia-container-devices/0", "/var/run//./nvidia-container-devices/all"})
    EXPECT_THAT(message(fmt::format(R"("volumeMounts":[{{"name":"a","mountPath":"/a"}},)"
                                    R"({{"name":"v","mountPath":"{}"}}])",
                                    path)),
                HasSubstr("spec.containers[0].volumeMounts[1].mountPath: /var/run"));

  const auto annotated = [&](Request request, const char* metadata) {
    request.object = apply_patch(request.object,
                                 fmt::format(R"([{{"op":"add","path":"{}","value":{{"annotations":)"
                                             R"({{"cdi.k8s.io/gpu":"nvidia.com/gpu=all"}}}}}}])",
                                             metadata));
    return ask(kValidate, request, cluster).message;
  };
  EXPECT_THAT(annotated(pod(container("{}")), "/metadata"),
              HasSubstr("metadata.annotations[cdi.k8s.io/gpu]: the container runtime adds"));
  EXPECT_THAT(annotated(job(container("{}")), "/spec/template/metadata"),
              HasSubstr("spec.template.metadata.annotations[cdi.k8s.io/gpu]: "));
}

TEST(Refusals, AnEnvFromThatMayNameDevicesIsWarnedOfOnce) {
  const ClusterState cluster = make_cluster();
  const auto warnings = [&](const char* fields) {
    const std::string one = fmt::format(
        R"({{"name":"c","resources":{{"limits":{{"nvidia.com/mig-1g.10gb":"1"}}}},{}}})", fields);
    const Answer answer =
        ask(kValidate, pod(fmt::format(R"({{"containers":[{0},{0}]}})", one)), cluster);
    EXPECT_TRUE(answer.allowed) << answer.message;
    return answer.warnings;
  };
  const auto told = ElementsAre(HasSubstr("spec.containers[0].envFrom[1]: berth can't read it"));
  EXPECT_THAT(warnings(R"("envFrom":[{"prefix":"APP_"},{"configMapRef":{"name":"x"}}])"), told);
  EXPECT_THAT(
      warnings(R"("envFrom":[{"prefix":"A"},{"prefix":"NVIDIA_","secretRef":{"name":"x"}}])"),
      told);
  EXPECT_THAT(warnings(R"("envFrom":[{"prefix":"APP_","configMapRef":{"name":"x"}},null])"),
              IsEmpty());
  EXPECT_THAT(warnings(R"("env":[{"name":"NVIDIA_VISIBLE_DEVICES","value":"void"}],)"
                       R"("envFrom":[{"configMapRef":{"name":"x"}}])"),
              IsEmpty())
      << "env has the last word";
}

// kubectl debug: for a running pod, only the added containers are judged.
TEST(Refusals, DebuggersAreHeldToTheSame) {
  ClusterState cluster = make_cluster();
  const auto request = [](const char* resources, const std::string& before,
                          const std::string& added) {
    const auto object = [&](const std::string& list) {
      return pod(fmt::format(R"({{"nodeName":"t1","containers":[{{"name":"c","resources":{}}}],)"
                             R"("ephemeralContainers":[{}]}})",
                             resources, list))
          .object;
    };
    Request made{.object = object(before + (before.empty() || added.empty() ? "" : ",") + added)};
    made.old_object = object(before);
    made.operation = "UPDATE";
    made.sub_resource = "ephemeralcontainers";
    return made;
  };
  const std::string thief =
      R"({"name":"thief","env":[{"name":"NVIDIA_VISIBLE_DEVICES","value":"all"}]})";
  const std::string root = R"({"name":"root","securityContext":{"privileged":true}})";
  const char* none = "{}";
  const char* wrong = R"({"limits":{"nvidia.com/gpux":"1"}})";  // the pod itself is not judged
  Answer answer = ask(kValidate, request(none, root, thief), cluster);
  EXPECT_EQ(answer.code, 403);
  EXPECT_THAT(answer.message, HasSubstr("spec.ephemeralContainers[1].env[0]: NVIDIA_VISIBLE"));
  answer = ask(kValidate, request(wrong, "", root), cluster);
  EXPECT_THAT(answer.message,
              HasSubstr("spec.ephemeralContainers[0].securityContext.privileged: a privileged"));
  EXPECT_FALSE(ask(kValidate, request(none, "", root), cluster).allowed)
      << "a pod without GPUs reaches those of others";
  EXPECT_TRUE(ask(kValidate, request(wrong, thief, R"({"name":"sh"})"), cluster).allowed)
      << "what was there is not judged again";
  EXPECT_TRUE(ask(kMutate, request(wrong, "", thief), cluster).allowed);
  EXPECT_EQ(ask(kMutate, request(R"({"limits":{"nvidia.com/gpu":"1"}})", "", "{}"), cluster).patch,
            "");
  Request elsewhere = request(none, "", thief);
  elsewhere.ns = "shop";
  EXPECT_TRUE(ask(kValidate, elsewhere, cluster).allowed);
}

TEST(Refusals, OfANamespaceNotYetSeenOnlyAWarningIsGiven) {
  const ClusterState cluster = make_cluster();
  const Answer answer = ask(kValidate, in("just-made", pod(asks("nvidia.com/gpux", 1))), cluster);
  EXPECT_TRUE(answer.allowed);
  EXPECT_THAT(answer.warnings, ElementsAre(HasSubstr("not yet seen namespace just-made")));
  EXPECT_THAT(ask(kValidate, in("just-made", pod(R"({"containers":[]})")), cluster).warnings,
              IsEmpty());
}

TEST(Refusals, SeveralAreToldTogether) {
  const Answer answer =
      ask(kValidate,
          pod(R"({"containers":[{"name":"c","securityContext":{"privileged":true},"resources":)"
              R"({"limits":{"nvidia.com/gpus":"1"}}}]})"),
          make_cluster());
  EXPECT_THAT(answer.message, HasSubstr("did you mean nvidia.com/gpu?"));
  EXPECT_THAT(answer.message, HasSubstr("; spec.containers[0].securityContext.privileged: "));
}

TEST(Refusals, ANameThatIsNearlyOneIsToldFromOtherDevices) {
  const ClusterState cluster = make_cluster();
  EXPECT_THAT(ask(kValidate, pod(asks("nvidia.com/GPU", 1)), cluster).message,
              HasSubstr("did you mean nvidia.com/gpu?"));
  EXPECT_THAT(ask(kValidate, pod(asks("nvidia.com/mig1g.10gb", 1)), cluster).message,
              HasSubstr("did you mean nvidia.com/mig-1g.10gb?"));
  EXPECT_TRUE(ask(kValidate, pod(asks("nvidia.com/hostdev", 1)), cluster).allowed);
}

TEST(Refusals, AClusterWithoutGpusSaysSo) {
  ClusterState cluster = make_cluster();
  for (const char* name : {"t1", "i1", "d1"}) cluster.erase<Node>("", name);
  EXPECT_THAT(ask(kValidate, pod(asks("nvidia.com/gpu", 1)), cluster).message,
              HasSubstr("no GPU is known in this cluster"));
}

}  // namespace
}  // namespace berth::test
