// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "apis/base/base64.h"
#include "apis/codec/decode.h"
#include "controller/admission/review.h"
#include "tests/fuzz/checks.h"

namespace berth::test {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxAnswer = 2u << 20;

template <class T>
void add(ClusterState& cluster, std::string json) {
  cluster.upsert(decode_object<T>(json).value(), Time());
}

// All repairs are on, and there is a pool of each kind.
ClusterState make_cluster() {
  ClusterState cluster;
  add<GPUClusterPolicy>(
      cluster,
      R"({"metadata":{"name":"cluster"},"spec":{"pools":[{"name":"training","nodeSelector":)"
      R"({"matchLabels":{"tier":"training"}},"taints":[{"key":"nvidia.com/gpu","value":"present",)"
      R"("effect":"NoSchedule"}]},{"name":"inference","nodeSelector":{"matchLabels":{"tier":)"
      R"("inference"}},"eligibleNamespaces":{"matchLabels":{"team":"a"}}},{"name":"development",)"
      R"("nodeSelector":{"matchLabels":{"tier":"development"}},"sharing":{"strategy":)"
      R"("TimeSlicing","replicas":4,"renameByDefault":true,"failRequestsGreaterThanOne":true}}],)"
      R"("resourceCatalog":[{"name":"small","resource":"nvidia.com/mig-1g.10gb",)"
      R"("eligibleNamespaces":{"matchLabels":{"team":"b"}}}],"admission":{"defaults":)"
      R"({"sharedMemory":"8Gi","securityContext":true,"priorityClassName":"batch"}}}})");
  const auto node = [&](const char* name, const char* tier, const char* resource) {
    add<Node>(cluster, std::string(R"({"metadata":{"name":")") + name +
                           R"(","labels":{"zone":"a","tier":")" + tier +
                           R"(","nvidia.com/gpu.product":"NVIDIA-A100-SXM4-80GB",)"
                           R"("nvidia.com/gpu.count":"4","nvidia.com/mig.strategy":"mixed"}},)"
                           R"("status":{"allocatable":{")" +
                           resource + R"(":"4"}}})");
  };
  node("t1", "training", "nvidia.com/gpu");
  node("i1", "inference", "nvidia.com/mig-1g.10gb");
  node("i2", "inference", "nvidia.com/gpu");
  node("d1", "development", "nvidia.com/gpu.shared");
  const auto managed = [&](const char* name, const char* team) {
    add<Namespace>(cluster, std::string(R"({"metadata":{"name":")") + name +
                                R"(","labels":{"gpu.berth.dev/managed":"true","team":")" + team +
                                R"("}}})");
  };
  managed("team-a", "a");
  managed("lab", "b");
  add<PriorityClass>(cluster, R"({"metadata":{"name":"batch"},"value":5})");
  add<MIGLayout>(cluster, R"({"metadata":{"name":"older"},"spec":{"nodeSelector":{"matchLabels":)"
                          R"({"tier":"inference"}},"devices":[{"profiles":{"1g.10gb":7}}]}})");
  return cluster;
}

const ClusterState& cluster() {
  static const ClusterState cluster = make_cluster();
  return cluster;
}

std::string answer(ReviewPath path, std::string_view body, Json& out) {
  const ReviewReply reply = review(path, body, cluster(), Settings());
  if (reply.http_status != 200 && reply.http_status != 400) return "an odd HTTP status";
  if (reply.body.size() > kMaxAnswer) return "an answer without end";
  out = Json::parse(reply.body, nullptr, false);
  if (!out.is_object()) return "the answer is no JSON: " + reply.body;
  return {};
}

// For a text without duplicate fields, one patch must do all repairs.
std::string check_patch_of(Json review) {
  Json first;
  if (std::string wrong = answer(ReviewPath::kMutate, review.dump(), first); !wrong.empty())
    return wrong;
  if (!first.contains("response") || !first["response"].contains("patch")) return {};
  const std::string patch =
      decode_base64(first["response"]["patch"].get<std::string>()).value_or("");
  Json& object = review["request"]["object"];
  try {
    object = object.patch(Json::parse(patch));
  } catch (const Json::exception& error) {
    return std::string("the patch can't be applied: ") + error.what() + "\n" + patch;
  }
  Json second;
  if (std::string wrong = answer(ReviewPath::kMutate, review.dump(), second); !wrong.empty())
    return wrong;
  if (second.at("response").contains("patch"))
    return "mutated twice: " + patch + "\nand then " +
           decode_base64(second["response"]["patch"].get<std::string>()).value_or("");
  return {};
}

}  // namespace

Verdict check_review(std::string_view body) {
  Verdict verdict;
  Json review = Json::parse(body, nullptr, false);
  for (ReviewPath path : {ReviewPath::kMutate, ReviewPath::kValidate}) {
    Json reply;
    if (verdict.wrong = answer(path, body, reply); !verdict.wrong.empty()) return verdict;
    verdict.read = verdict.read || reply.contains("response");
    if (review.is_discarded() && reply.contains("response"))
      verdict.wrong = "a verdict about what is no JSON: " + reply.dump();
    if (!verdict.wrong.empty()) return verdict;
  }
  if (review.is_object()) verdict.wrong = check_patch_of(std::move(review));
  return verdict;
}

}  // namespace berth::test
