// SPDX-License-Identifier: Apache-2.0
// The webhook's repairs: each row of the table, as a patch; a second review adds nothing; and what
// it leaves unchanged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/admission/review_case.h"

namespace berth::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Change = std::function<void(GPUClusterPolicySpec&)>;

// One repair at a time.
Change only(const Change& change = {}) {
  return [change](GPUClusterPolicySpec& spec) {
    spec.admission.defaults.tolerations = spec.admission.defaults.pool_affinity = false;
    if (change) change(spec);
  };
}
Change tolerations() {
  return only([](GPUClusterPolicySpec& spec) { spec.admission.defaults.tolerations = true; });
}
Change affinity() {
  return only([](GPUClusterPolicySpec& spec) { spec.admission.defaults.pool_affinity = true; });
}
Change shared_memory() {
  return only([](GPUClusterPolicySpec& spec) {
    spec.admission.defaults.shared_memory = *Quantity::parse("8Gi");
  });
}
Change security() {
  return only([](GPUClusterPolicySpec& spec) { spec.admission.defaults.security_context = true; });
}
Change priority(const std::string& name = "training-batch") {
  return only(
      [=](GPUClusterPolicySpec& spec) { spec.admission.defaults.priority_class_name = name; });
}

struct RepairCase {
  const char* name;
  Request request;
  Change change;
  // The patch without the annotation's operations at its end; empty: no patch.
  std::string patch;
  std::string noted;  // the repairs in the annotation
};

std::string with_annotation(const RepairCase& c, std::string_view metadata, bool bare) {
  std::string ops = c.patch;
  if (bare) ops += R"(,{"op":"add","path":")" + std::string(metadata) + R"(","value":{}})";
  ops += R"(,{"op":"add","path":")" + std::string(metadata) + R"(/annotations","value":{}})";
  return "[" + ops + R"(,{"op":"add","path":")" + std::string(metadata) +
         R"(/annotations/gpu.berth.dev~1mutations","value":")" + c.noted + R"("}])";
}

Request reviewed_in(std::string ns, Request request) {
  request.ns = std::move(ns);
  return request;
}

constexpr char kRequired[] = "requiredDuringSchedulingIgnoredDuringExecution";

std::string gpu_with(const std::string& more, int count = 1) {
  std::string spec = asks("nvidia.com/gpu", count);
  spec.pop_back();
  return spec + "," + more + "}";
}

std::string required(const std::string& terms) {
  return std::string(R"("affinity":{"nodeAffinity":{")") + kRequired +
         R"(":{"nodeSelectorTerms":)" + terms + "}}}";
}

constexpr char kInTraining[] =
    R"({"key":"gpu.berth.dev/pool","operator":"In","values":["training"]})";

std::vector<RepairCase> repair_cases() {
  const std::string terms = std::string("/spec/affinity/nodeAffinity/") + kRequired;
  const std::string term = terms + "/nodeSelectorTerms";
  return {
      {"a request gets its limit", pod(container(R"({"requests":{"nvidia.com/gpu":"2"}})")), only(),
       R"({"op":"add","path":"/spec/containers/0/resources/limits","value":{}},)"
       R"({"op":"add","path":"/spec/containers/0/resources/limits/nvidia.com~1gpu","value":"2"})",
       "limits nvidia.com/gpu"},
      {"beside a limit of something else",
       pod(container(R"({"limits":{"cpu":"1"},"requests":{"nvidia.com/mig-1g.10gb":1}})")), only(),
       R"({"op":"add","path":"/spec/containers/0/resources/limits/nvidia.com~1mig-1g.10gb",)"
       R"("value":"1"})",
       "limits nvidia.com/mig-1g.10gb"},
      {"in an init container",
       pod(R"({"initContainers":[{"name":"i","resources":{"limits":null,"requests":)"
           R"({"nvidia.com/gpu":"1"}}}],"containers":[{"name":"c"}]})"),
       only(),
       R"({"op":"add","path":"/spec/initContainers/0/resources/limits","value":{}},)"
       R"({"op":"add","path":"/spec/initContainers/0/resources/limits/nvidia.com~1gpu",)"
       R"("value":"1"})",
       "limits nvidia.com/gpu"},
      {"in a Job's template, which has no metadata",
       job(container(R"({"requests":{"nvidia.com/gpu":"2"}})")), only(),
       R"({"op":"add","path":"/spec/template/spec/containers/0/resources/limits","value":{}},)"
       R"({"op":"add","path":"/spec/template/spec/containers/0/resources/limits/nvidia.com~1gpu",)"
       R"("value":"2"})",
       "limits nvidia.com/gpu"},

      {"the pool's taint is tolerated", pod(asks("nvidia.com/gpu", 1)), tolerations(),
       R"({"op":"add","path":"/spec/tolerations","value":[{"key":"nvidia.com/gpu",)"
       R"("operator":"Equal","value":"present","effect":"NoSchedule"}]})",
       "tolerations nvidia.com/gpu"},
      {"after the tolerations that stand there",
       pod(gpu_with(R"("tolerations":[{"key":"other","operator":"Exists"}])")), tolerations(),
       R"({"op":"add","path":"/spec/tolerations/-","value":{"key":"nvidia.com/gpu",)"
       R"("operator":"Equal","value":"present","effect":"NoSchedule"}})",
       "tolerations nvidia.com/gpu"},
      {"a taint without a value", reviewed_in("lab", pod(asks("nvidia.com/gpu.shared", 1))),
       tolerations(),
       R"({"op":"add","path":"/spec/tolerations","value":[{"key":"gpu.example.com/dev",)"
       R"("operator":"Exists","effect":"NoSchedule"}]})",
       "tolerations gpu.example.com/dev"},
      {"one that tolerates everything needs none",
       pod(gpu_with(R"("tolerations":[{"operator":"Exists"}])")), tolerations(), "", ""},
      {"a pool without taints", pod(asks("nvidia.com/mig-1g.10gb", 1)), tolerations(), "", ""},

      {"the pool that offers it", pod(asks("nvidia.com/gpu", 1)), affinity(),
       std::string(R"({"op":"add","path":"/spec/affinity","value":{"nodeAffinity":{")") +
           kRequired + R"(":{"nodeSelectorTerms":[{"matchExpressions":[)" + kInTraining +
           R"(]}]}}}})",
       "poolAffinity training"},
      {"beside a pod affinity", pod(gpu_with(R"("affinity":{"podAffinity":{}})")), affinity(),
       std::string(R"({"op":"add","path":"/spec/affinity/nodeAffinity","value":{")") + kRequired +
           R"(":{"nodeSelectorTerms":[{"matchExpressions":[)" + kInTraining + R"(]}]}}})",
       "poolAffinity training"},
      {"beside a preferred affinity",
       pod(gpu_with(R"("affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuring)"
                    R"(Execution":[]}})")),
       affinity(),
       R"({"op":"add","path":")" + terms +
           R"(","value":{"nodeSelectorTerms":[{"matchExpressions":[)" + kInTraining + R"(]}]}})",
       "poolAffinity training"},
      {"in every term, and not in an empty one, which matches nothing",
       pod(gpu_with(required(R"([{"matchExpressions":[{"key":"zone","operator":"In","values":)"
                             R"(["a"]}]},{},{"matchFields":[{"key":"metadata.name",)"
                             R"("operator":"In","values":["t1"]}]}])"))),
       affinity(),
       R"({"op":"add","path":")" + term + R"(/0/matchExpressions/-","value":)" + kInTraining +
           R"(},{"op":"add","path":")" + term + R"(/2/matchExpressions","value":[)" + kInTraining +
           "]}",
       "poolAffinity training"},
      {"a node selector that names the pool says it already",
       pod(gpu_with(R"("nodeSelector":{"gpu.berth.dev/pool":"training"})")), affinity(), "", ""},
      {"as an affinity does",
       pod(gpu_with(required(std::string(R"([{"matchExpressions":[)") + kInTraining + "]}]"))),
       affinity(), "", ""},
      {"a selector that no node meets is the user's",
       pod(gpu_with(R"("nodeSelector":{"zone":"nowhere"})")), affinity(), "", ""},
      {"a pool that the namespace may not use is none", pod(asks("nvidia.com/gpu.shared", 1)),
       affinity(), "", ""},

      {"training of several processes", pod(asks("nvidia.com/gpu", 2)), shared_memory(),
       R"({"op":"add","path":"/spec/volumes","value":[{"name":"berth-shm","emptyDir":)"
       R"({"medium":"Memory","sizeLimit":"8Gi"}}]},{"op":"add","path":)"
       R"("/spec/containers/0/volumeMounts","value":[{"name":"berth-shm","mountPath":"/dev/shm"}]})",
       "sharedMemory 8Gi"},
      {"beside volumes, one of which has taken the name",
       pod(R"({"volumes":[{"name":"berth-shm","configMap":{"name":"x"}}],"containers":[{"name":"c",)"
           R"("volumeMounts":[{"name":"berth-shm","mountPath":"/x"}],"resources":{"limits":)"
           R"({"nvidia.com/gpu":"4"}}}]})"),
       shared_memory(),
       R"({"op":"add","path":"/spec/volumes/-","value":{"name":"berth-shm-2","emptyDir":)"
       R"({"medium":"Memory","sizeLimit":"8Gi"}}},{"op":"add","path":)"
       R"("/spec/containers/0/volumeMounts/-","value":{"name":"berth-shm-2",)"
       R"("mountPath":"/dev/shm"}})",
       "sharedMemory 8Gi"},
      {"beside one in memory that is for something else",
       pod(R"({"volumes":[{"name":"cache","emptyDir":{"medium":"Memory"}}],"containers":[{"name":)"
           R"("c","resources":{"limits":{"nvidia.com/gpu":"2"}}}]})"),
       shared_memory(),
       R"({"op":"add","path":"/spec/volumes/-","value":{"name":"berth-shm","emptyDir":)"
       R"({"medium":"Memory","sizeLimit":"8Gi"}}},{"op":"add","path":)"
       R"("/spec/containers/0/volumeMounts","value":[{"name":"berth-shm","mountPath":"/dev/shm"}]})",
       "sharedMemory 8Gi"},
      {"the volume that is there already",
       pod(R"({"volumes":[{"name":"berth-shm","emptyDir":{"medium":"Memory"}}],"containers":[{)"
           R"("name":"late","resources":{"limits":{"nvidia.com/gpu":"2"}}}]})"),
       shared_memory(),
       R"({"op":"add","path":"/spec/containers/0/volumeMounts","value":)"
       R"([{"name":"berth-shm","mountPath":"/dev/shm"}]})",
       "sharedMemory 8Gi"},
      {"one volume for two containers",
       pod(R"({"containers":[{"name":"a","resources":{"limits":{"nvidia.com/gpu":"2"}}},)"
           R"({"name":"b"},{"name":"c","resources":{"limits":{"nvidia.com/gpu":"2"}}}]})"),
       shared_memory(),
       R"({"op":"add","path":"/spec/volumes","value":[{"name":"berth-shm","emptyDir":)"
       R"({"medium":"Memory","sizeLimit":"8Gi"}}]},{"op":"add","path":)"
       R"("/spec/containers/0/volumeMounts","value":[{"name":"berth-shm","mountPath":"/dev/shm"}]},)"
       R"({"op":"add","path":"/spec/containers/2/volumeMounts","value":)"
       R"([{"name":"berth-shm","mountPath":"/dev/shm"}]})",
       "sharedMemory 8Gi"},
      {"one GPU", pod(asks("nvidia.com/gpu", 1)), shared_memory(), "", ""},
      {"its own /dev/shm",
       pod(R"({"containers":[{"name":"c","volumeMounts":[{"name":"v","mountPath":"/dev//shm/"}],)"
           R"("resources":{"limits":{"nvidia.com/gpu":"4"}}}]})"),
       shared_memory(), "", ""},
      {"the host's", pod(gpu_with(R"("hostIPC":true)", 4)), shared_memory(), "", ""},

      {"security where nothing is said", pod(asks("nvidia.com/gpu", 1)), security(),
       R"({"op":"add","path":"/spec/securityContext","value":{}},)"
       R"({"op":"add","path":"/spec/securityContext/runAsNonRoot","value":true},)"
       R"({"op":"add","path":"/spec/securityContext/seccompProfile","value":)"
       R"({"type":"RuntimeDefault"}},)"
       R"({"op":"add","path":"/spec/containers/0/securityContext","value":{}},)"
       R"({"op":"add","path":"/spec/containers/0/securityContext/allowPrivilegeEscalation",)"
       R"("value":false})",
       "securityContext"},
      {"what is said stays",
       pod(R"({"securityContext":{"runAsUser":0,"seccompProfile":{"type":"Unconfined"}},)"
           R"("containers":[{"name":"c","securityContext":{"allowPrivilegeEscalation":true},)"
           R"("resources":{"limits":{"nvidia.com/gpu":"1"}}}]})"),
       security(), "", ""},
      {"no escalation is no word beside CAP_SYS_ADMIN",
       pod(R"({"securityContext":{"runAsNonRoot":false},"containers":[{"name":"c",)"
           R"("securityContext":{"capabilities":{"add":["SYS_ADMIN"]}},)"
           R"("resources":{"limits":{"nvidia.com/gpu":"1"}}}]})"),
       security(),
       R"({"op":"add","path":"/spec/securityContext/seccompProfile","value":)"
       R"({"type":"RuntimeDefault"}})",
       "securityContext"},

      {"a priority class, without what the server made of none",
       pod(gpu_with(R"("priority":0,"preemptionPolicy":"PreemptLowerPriority")")), priority(),
       R"({"op":"add","path":"/spec/priorityClassName","value":"training-batch"},)"
       R"({"op":"remove","path":"/spec/priority"},{"op":"remove","path":"/spec/preemptionPolicy"})",
       "priorityClassName training-batch"},
      {"of its own", pod(gpu_with(R"("priorityClassName":"mine","priority":7)")), priority(), "",
       ""},
  };
}

TEST(Repairs, EachRowIsAddedOnce) {
  for (const RepairCase& c : repair_cases()) {
    SCOPED_TRACE(c.name);
    for (Enforcement enforcement : {Enforcement::kEnforce, Enforcement::kWarn}) {
      const ClusterState cluster = make_cluster([&](GPUClusterPolicySpec& spec) {
        c.change(spec);
        spec.admission.enforcement = enforcement;
      });
      const Answer first = ask(kMutate, c.request, cluster);
      EXPECT_TRUE(first.allowed) << first.message;
      EXPECT_EQ(first.uid, "u-1");
      const bool of_job = c.request.kind == "Job";
      EXPECT_EQ(first.patch,
                c.patch.empty()
                    ? ""
                    : with_annotation(c, of_job ? "/spec/template/metadata" : "/metadata", of_job));
      Request again = c.request;
      again.object = first.object;
      EXPECT_EQ(ask(kMutate, again, cluster).patch, "") << "mutated twice";
    }
  }
}

TEST(Repairs, AllAtOnceTooAndThenThePodPasses) {
  const ClusterState cluster = make_cluster([](GPUClusterPolicySpec& spec) {
    spec.admission.defaults.shared_memory = *Quantity::parse("8Gi");
    spec.admission.defaults.security_context = true;
    spec.admission.defaults.priority_class_name = "training-batch";
  });
  for (const RepairCase& c : repair_cases()) {
    SCOPED_TRACE(c.name);
    const Answer first = ask(kMutate, c.request, cluster);
    Request again = c.request;
    again.object = first.object;
    EXPECT_EQ(ask(kMutate, again, cluster).patch, "");
    EXPECT_EQ(ask(kValidate, again, cluster).allowed,
              std::string_view(c.name) != "a pool that the namespace may not use is none");
  }
}

TEST(Repairs, ANewRepairIsNotedAfterTheOldOnes) {
  Request request = pod(asks("nvidia.com/gpu", 1));
  request.object =
      apply_patch(request.object, R"([{"op":"add","path":"/metadata/annotations","value":)"
                                  R"({"gpu.berth.dev/mutations":"limits nvidia.com/gpu"}}])");
  const Answer answer = ask(kMutate, request, make_cluster(tolerations()));
  EXPECT_EQ(at(answer.object, "/metadata/annotations"),
            R"({"gpu.berth.dev/mutations":"limits nvidia.com/gpu; tolerations nvidia.com/gpu"})");
}

TEST(Repairs, OfTwoPoolsBothServe) {
  ClusterState cluster = make_cluster([](GPUClusterPolicySpec& spec) {
    spec.pools[1].taints = {{"nvidia.com/gpu", "present", "NoSchedule"}};
  });
  add_node(cluster, "i2", {{"tier", "inference"}}, "nvidia.com/gpu", 8);
  const Answer answer = ask(kMutate, pod(asks("nvidia.com/gpu", 1)), cluster);
  EXPECT_THAT(answer.patch, HasSubstr(R"("values":["training","inference"])"));
  EXPECT_EQ(at(answer.object, "/spec/tolerations/1"), "absent") << "one taint, one toleration";
}

TEST(Repairs, APoolThatCantServeTheCountIsLeftOut) {
  ClusterState cluster = make_cluster([](GPUClusterPolicySpec& spec) {
    spec.pools[1].sharing = {.strategy = SharingStrategy::kMPS, .replicas = 4};  // fails above one
  });
  add_node(cluster, "i2", {{"tier", "inference"}}, "nvidia.com/gpu", 32);
  EXPECT_THAT(ask(kMutate, pod(asks("nvidia.com/gpu", 2)), cluster).patch,
              HasSubstr(R"("values":["training"])"));
  EXPECT_THAT(ask(kMutate, pod(asks("nvidia.com/gpu", 1)), cluster).patch,
              HasSubstr(R"("values":["training","inference"])"));
}

TEST(Repairs, WhatALayoutWillOfferCounts) {
  ClusterState cluster = make_cluster([](GPUClusterPolicySpec& spec) {
    spec.pools.push_back(spec.pools[1]);
    spec.pools[3].name = "cut";
    spec.pools[3].node_selector.match_labels = {{"tier", "cut"}};
  });
  const StringMap labels = {{"tier", "cut"},
                            {"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB"},
                            {"nvidia.com/gpu.count", "2"},
                            {"nvidia.com/gpu.present", "true"},
                            {"nvidia.com/mig.strategy", "mixed"}};
  add_node(cluster, "c1", labels, "nvidia.com/gpu", 2);
  MIGLayout layout;
  layout.meta.name = "halves";
  layout.spec.node_selector = LabelSelector{.match_labels = {{"tier", "cut"}}};
  layout.spec.devices = {{.profiles = {{"2g.20gb", 3}}}};
  const Request request = pod(asks("nvidia.com/mig-2g.20gb", 1));
  EXPECT_FALSE(ask(kValidate, request, cluster).allowed);
  cluster.upsert(layout, Time());
  EXPECT_TRUE(ask(kValidate, request, cluster).allowed);
  EXPECT_THAT(ask(kMutate, request, cluster).patch, HasSubstr(R"("values":["cut"])"));
}

TEST(Repairs, TheMemoryThatIsMountedIsTold) {
  const ClusterState cluster = make_cluster(shared_memory());
  EXPECT_THAT(
      ask(kMutate, pod(container(R"({"limits":{"nvidia.com/gpu":"2","memory":"64Gi"}})")), cluster)
          .warnings,
      ElementsAre("spec.containers[0].resources.limits[memory]: berth mounted /dev/shm of up to "
                  "8Gi, which counts against the limit of 64Gi"));
  EXPECT_THAT(
      ask(kMutate, pod(container(R"({"limits":{"nvidia.com/gpu":"2","memory":"8Gi"}})")), cluster)
          .warnings,
      ElementsAre(HasSubstr("filling it would end the container; raise the limit")));
  EXPECT_THAT(ask(kMutate, pod(asks("nvidia.com/gpu", 2)), cluster).warnings,
              ElementsAre(HasSubstr("leave room for it in a memory limit")));
}

TEST(Repairs, APriorityClassThatIsNotThereIsNotSet) {
  const Answer answer =
      ask(kMutate, pod(asks("nvidia.com/gpu", 1)), make_cluster(priority("missing")));
  EXPECT_EQ(answer.patch, "");
  EXPECT_THAT(answer.warnings,
              ElementsAre("spec.priorityClassName: the policy's default is missing, and there is "
                          "no such PriorityClass; none was set"));
}

TEST(Repairs, SomePodsAreLeftAsTheyAre) {
  const ClusterState cluster = make_cluster(
      [](GPUClusterPolicySpec& spec) { spec.admission.defaults.security_context = true; });
  const Request gpu = pod(asks("nvidia.com/gpu", 1));
  ASSERT_NE(ask(kMutate, gpu, cluster).patch, "");
  const auto changed = [&](const std::function<void(Request&)>& change) {
    Request request = gpu;
    change(request);
    const Answer answer = ask(kMutate, request, cluster);
    EXPECT_TRUE(answer.allowed) << answer.message;
    EXPECT_THAT(answer.warnings, IsEmpty());
    return answer.patch;
  };
  for (const char* ns : {"shop", "kube-system", "berth-system", "gpu-operator", "unheard-of"})
    EXPECT_EQ(changed([&](Request& r) { r.ns = ns; }), "") << ns;
  EXPECT_EQ(changed([](Request& r) { r.operation = "UPDATE"; }), "");
  EXPECT_EQ(changed([](Request& r) {
              r.operation = "DELETE";
              r.object = "null";
            }),
            "");
  EXPECT_EQ(changed([](Request& r) { r.sub_resource = "ephemeralcontainers"; }), "");
  EXPECT_EQ(changed([](Request& r) { r.kind = "Deployment"; }), "");
  const auto with = [&](const char* patch) {
    return changed([&](Request& r) { r.object = apply_patch(r.object, patch); });
  };
  EXPECT_EQ(with(R"([{"op":"add","path":"/spec/nodeName","value":"t1"}])"), "");
  EXPECT_EQ(changed([](Request& r) { r = by_kubelet(r); }), "") << "a static pod";
  EXPECT_EQ(with(R"([{"op":"remove","path":"/spec/containers/0/resources"}])"), "") << "CPU only";
  EXPECT_EQ(with(R"([{"op":"remove","path":"/spec/containers/0/resources"},{"op":"add","path":)"
                 R"("/spec/resourceClaims","value":[{"name":"gpu"}]}])"),
            "")
      << "a DRA claim";
  EXPECT_EQ(ask(kMutate, job(R"({"containers":[{"name":"c"}]})"), cluster).patch, "");
}

TEST(Repairs, NothingIsAddedWhereThePolicySaysSo) {
  const Request gpu = pod(container(R"({"requests":{"nvidia.com/gpu":"2"}})"));
  EXPECT_EQ(ask(kMutate, gpu, make_cluster([](GPUClusterPolicySpec& spec) {
                  spec.admission.enforcement = Enforcement::kOff;
                }))
                .patch,
            "");
  ClusterState none = make_cluster();
  none.erase<GPUClusterPolicy>("", "cluster");
  EXPECT_EQ(ask(kMutate, gpu, none).patch, "");
  const ClusterState selected = make_cluster([](GPUClusterPolicySpec& spec) {
    spec.admission.namespace_selector = LabelSelector{.match_labels = {{"team-risk", "trusted"}}};
  });
  EXPECT_EQ(ask(kMutate, gpu, selected).patch, "");
  EXPECT_NE(ask(kMutate, reviewed_in("lab", gpu), selected).patch, "");
}

}  // namespace
}  // namespace berth::test
