// SPDX-License-Identifier: Apache-2.0
#include "tests/admission/review_case.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apis/base/base64.h"

namespace berth::test {
namespace {

using Json = nlohmann::json;

Node node(const std::string& name, const StringMap& labels, const ResourceList& offers) {
  Node node;
  node.meta.name = name;
  node.meta.uid = "uid-" + name;
  node.meta.labels = labels;
  node.ready = true;
  node.allocatable = offers;
  return node;
}

Namespace namespace_of(const std::string& name, StringMap labels) {
  Namespace made;
  made.meta.name = name;
  labels.set("kubernetes.io/metadata.name", name);
  made.meta.labels = std::move(labels);
  return made;
}

PoolSpec pool(const std::string& name) {
  PoolSpec made;
  made.name = name;
  made.node_selector.match_labels = {{"tier", Text(name)}};
  return made;
}

GPUClusterPolicy make_policy() {
  PoolSpec training = pool("training"), inference = pool("inference"),
           development = pool("development");
  training.taints = {{"nvidia.com/gpu", "present", "NoSchedule"}};
  development.taints = {{"gpu.example.com/dev", "", "NoSchedule"}};
  development.sharing = {.strategy = SharingStrategy::kTimeSlicing,
                         .replicas = 4,
                         .rename_by_default = true,
                         .fail_requests_greater_than_one = true};
  development.eligible_namespaces = LabelSelector{.match_labels = {{"team-risk", "trusted"}}};
  GPUClusterPolicy policy;
  policy.meta.name = "cluster";
  policy.spec.pools = {training, inference, development};
  policy.spec.resource_catalog = {
      {.name = "small", .resource = "nvidia.com/mig-1g.10gb"},
      {.name = "large",
       .resource = "nvidia.com/mig-3g.40gb",
       .eligible_namespaces = LabelSelector{.match_labels = {{"tier", "gold"}}}},
      {.name = "rare", .resource = "nvidia.com/mig-7g.80gb"}};
  return policy;
}

}  // namespace

std::string at(std::string_view json, std::string_view path) {
  const Json parsed = Json::parse(json);
  const Json::json_pointer pointer{std::string(path)};
  return parsed.contains(pointer) ? parsed.at(pointer).dump() : "absent";
}

std::string apply_patch(std::string_view json, std::string_view patch) {
  return Json::parse(json).patch(Json::parse(patch)).dump();
}

ClusterState make_cluster(const std::function<void(GPUClusterPolicySpec&)>& change) {
  ClusterState cluster;
  GPUClusterPolicy policy = make_policy();
  if (change) change(policy.spec);
  cluster.upsert(policy, Time());
  const auto count = [](std::int64_t n) { return Quantity::whole(n); };
  cluster.upsert(node("t1", {{"tier", "training"}, {"zone", "a"}}, {{"nvidia.com/gpu", count(8)}}),
                 Time());
  cluster.upsert(node("i1", {{"tier", "inference"}},
                      {{"nvidia.com/mig-1g.10gb", count(7)}, {"nvidia.com/mig-3g.40gb", count(2)}}),
                 Time());
  cluster.upsert(node("d1", {{"tier", "development"}}, {{"nvidia.com/gpu.shared", count(16)}}),
                 Time());
  cluster.upsert(namespace_of("team-a", {{"gpu.berth.dev/managed", "true"}}), Time());
  cluster.upsert(namespace_of("lab", {{"gpu.berth.dev/managed", "true"}, {"team-risk", "trusted"}}),
                 Time());
  cluster.upsert(namespace_of("shop", {}), Time());
  for (const char* name : {"kube-system", "berth-system", "gpu-operator"})
    cluster.upsert(namespace_of(name, {{"gpu.berth.dev/managed", "true"}}), Time());
  PriorityClass batch;
  batch.meta.name = "training-batch";
  cluster.upsert(batch, Time());
  return cluster;
}

void add_node(ClusterState& cluster, const std::string& name, const StringMap& labels,
              const std::string& resource, std::int64_t count) {
  cluster.upsert(node(name, labels, {{Text(resource), Quantity::whole(count)}}), Time());
}

std::string Request::str() const {
  return fmt::format(
      R"({{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{{"uid":"u-1",)"
      R"("kind":{{"group":"{}","version":"v1","kind":"{}"}},"resource":{{"resource":"x"}},{})"
      R"("namespace":"{}","operation":"{}","userInfo":{{"username":"{}","groups":["{}",)"
      R"("system:authenticated"]}},"object":{},)"
      R"("oldObject":{},"dryRun":false,"options":{{"kind":"CreateOptions"}}}}}})",
      group, kind, sub_resource.empty() ? "" : fmt::format(R"("subResource":"{}",)", sub_resource),
      ns, operation, user, user_group, object, old_object);
}

Request by_kubelet(Request request) {
  request.user = "system:node:t1";
  request.user_group = "system:nodes";
  return request;
}

Request pod(std::string_view spec) {
  return {.object = fmt::format(R"({{"kind":"Pod","apiVersion":"v1","metadata":)"
                                R"({{"generateName":"train-"}},"spec":{}}})",
                                spec)};
}

Request job(std::string_view pod_spec) {
  return {.object = fmt::format(R"({{"kind":"Job","apiVersion":"batch/v1","metadata":)"
                                R"({{"name":"train"}},"spec":{{"template":{{"spec":{}}}}}}})",
                                pod_spec),
          .group = "batch",
          .kind = "Job"};
}

std::string container(std::string_view resources) {
  return fmt::format(R"({{"containers":[{{"name":"c","resources":{}}}]}})", resources);
}

std::string asks(std::string_view resource, int count) {
  return container(
      fmt::format(R"({{"limits":{{"{0}":"{1}"}},"requests":{{"{0}":"{1}"}}}})", resource, count));
}

Answer ask(ReviewPath path, const Request& request, const ClusterState& cluster,
           const Settings& settings) {
  const ReviewReply reply = review(path, request.str(), cluster, settings);
  const Json json = Json::parse(reply.body);
  Answer answer{.http_status = reply.http_status, .object = request.object};
  if (reply.http_status != 200) {
    EXPECT_EQ(to_string(reply.verdict), "refused");
    answer.message = json.at("message");
    return answer;
  }
  EXPECT_EQ(json.at("kind"), "AdmissionReview");
  EXPECT_EQ(json.at("apiVersion"), "admission.k8s.io/v1");
  const Json& response = json.at("response");
  answer.uid = response.at("uid");
  answer.allowed = response.at("allowed");
  EXPECT_EQ(to_string(reply.verdict), !answer.allowed              ? "denied"
                                      : response.contains("patch") ? "patched"
                                                                   : "allowed");
  if (response.contains("status")) {
    answer.code = response["status"].at("code");
    answer.message = response["status"].at("message");
    if (response["status"].contains("details"))
      answer.causes = response["status"]["details"].at("causes").dump();
  }
  for (const Json& warning : response.value("warnings", Json::array())) {
    answer.warnings.push_back(warning);
    EXPECT_LE(answer.warnings.back().size(), 256U);
  }
  if (!response.contains("patch")) return answer;
  EXPECT_EQ(response.at("patchType"), "JSONPatch");
  answer.patch = decode_base64(response.at("patch").get<std::string>()).value_or("not base64");
  constexpr std::size_t kQuickToApply = 1'000'000;
  if (answer.patch.size() < kQuickToApply)
    answer.object = apply_patch(request.object, answer.patch);
  return answer;
}

}  // namespace berth::test
