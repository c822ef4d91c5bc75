// SPDX-License-Identifier: Apache-2.0
// Outline: who asks; the stop, on the policy or, without one, on berth's namespace; its end on
// both; the report.
#include "controller/cmd/commands/stop.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "apis/base/names.h"
#include "apis/kinds/core.h"
#include "apis/kinds/gpu_cluster_policy.h"
#include "controller/client/api_client.h"
#include "controller/cmd/cluster/cluster_session.h"
#include "controller/cmd/line/console.h"
#include "controller/core/merge_patch.h"
#include "controller/core/stop.h"

namespace berth {
namespace {

constexpr char kWhatStops[] =
    "berth starts no cordon, drain, eviction, reclaim, preemption or health action, and changes no "
    "pool and no sharing.\n"
    "It uncordons nodes that it only drains, and finishes nodes that mig-manager repartitions.\n"
    "Admission within quota goes on. `berth resume` ends the stop.\n";

// Empty if the API server does not report it.
Task<std::string> user_name(ApiClient& client, std::stop_token stop) {
  ApiRequest request;
  request.method = "POST";
  request.target = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  request.content_type = std::string(kJsonType);
  request.body = R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})";
  const Result<Reply> reply = co_await client.send(std::move(request), CallOptions(stop));
  if (!reply) co_return std::string();
  const auto answer = nlohmann::json::parse(reply->body, nullptr, false);
  const nlohmann::json::json_pointer name("/status/userInfo/username");
  if (!answer.contains(name) || !answer[name].is_string()) co_return std::string();
  co_return answer[name].get<std::string>();
}

template <class T>
Task<Result<void>> write(ApiClient& client, T object, std::string patch, std::stop_token token) {
  const WriteOptions options{.field_manager = names::kManagerPolicy};
  ApiRequest request =
      merge_patch_request(kKind<T>, key_of(object.meta), std::move(patch), options);
  Result<Reply> reply = co_await client.send(std::move(request), CallOptions(token));
  if (!reply) co_return std::move(reply).error();
  co_return Result<void>();
}

// An existing stop keeps its time.
MergePatch with_stop(const ObjectMeta& meta, bool stands, Stop stop) {
  const Text* text = meta.annotations.find(names::kStopAnnotation);
  if (stands && text != nullptr) {
    const Stop standing = decode_stop(text->view());
    if (standing.since) stop.since = standing.since;
  }
  return MergePatch::same_object(meta).annotation(names::kStopAnnotation, encode_stop(stop));
}

std::string stopping(const GPUClusterPolicy& policy, const Stop& stop) {
  const bool stands = policy.spec.operations == Operations::kStopped;
  return with_stop(policy.meta, stands, stop).field("spec", R"({"operations":"Stopped"})").str();
}

std::string resuming(const GPUClusterPolicy& policy) {
  return MergePatch::same_object(policy.meta)
      .without_annotation(names::kStopAnnotation)
      .field("spec", R"({"operations":"Normal"})")
      .str();
}

std::string resuming(const Namespace& own) {
  return MergePatch::same_object(own.meta).without_annotation(names::kStopAnnotation).str();
}

Task<Result<std::string>> stop_operations(ApiClient& client, StopFlags flags,
                                          std::stop_token token) {
  Stop stop{.reason = flags.reason, .by = {}, .since = client.loop().wall_now()};
  stop.by = co_await user_name(client, token);
  const ObjectKey cluster{"", std::string(limits::kPolicyName)};
  const Result<GPUClusterPolicy> policy =
      co_await client.get<GPUClusterPolicy>(cluster, CallOptions(token));
  if (policy) {
    const Result<void> written = co_await write(client, *policy, stopping(*policy, stop), token);
    if (!written) co_return written.error();
    co_return fmt::format("Stopped by spec.operations of GPUClusterPolicy/{}.\n{}", cluster.name,
                          kWhatStops);
  }
  if (policy.error().kind != ErrorKind::kNotFound) co_return policy.error();
  const ObjectKey key{"", flags.namespace_};
  const Result<Namespace> own = co_await client.get<Namespace>(key, CallOptions(token));
  if (!own) co_return own.error();
  const Result<void> written =
      co_await write(client, *own, with_stop(own->meta, true, stop).str(), token);
  if (!written) co_return written.error();
  co_return fmt::format("Stopped by annotation {} of Namespace/{}, as there is no policy.\n{}",
                        names::kStopAnnotation, key.name, kWhatStops);
}

// The policy and the namespace each stop berth, so the command resets both.
Task<Result<std::string>> resume_operations(ApiClient& client, ResumeFlags flags,
                                            std::stop_token token) {
  std::string told;
  const ObjectKey cluster{"", std::string(limits::kPolicyName)};
  const Result<GPUClusterPolicy> policy =
      co_await client.get<GPUClusterPolicy>(cluster, CallOptions(token));
  if (!policy && policy.error().kind != ErrorKind::kNotFound) co_return policy.error();
  if (policy && (policy->spec.operations == Operations::kStopped ||
                 policy->meta.annotations.contains(names::kStopAnnotation))) {
    const Result<void> written = co_await write(client, *policy, resuming(*policy), token);
    if (!written) co_return written.error();
    told += fmt::format("GPUClusterPolicy/{} no longer stops berth.\n", cluster.name);
  }
  const ObjectKey key{"", flags.namespace_};
  const Result<Namespace> own = co_await client.get<Namespace>(key, CallOptions(token));
  if (!own && own.error().kind == ErrorKind::kForbidden)
    co_return fmt::format(
        "{}This account may not read Namespace/{}: berth stays stopped if that has annotation "
        "{}.\n",
        told, key.name, names::kStopAnnotation);
  if (!own && own.error().kind != ErrorKind::kNotFound) co_return own.error();
  if (own && own->meta.annotations.contains(names::kStopAnnotation)) {
    const Result<void> written = co_await write(client, *own, resuming(*own), token);
    if (!written) co_return written.error();
    told += fmt::format("Namespace/{} no longer stops berth.\n", key.name);
  }
  if (told.empty()) co_return std::string("berth was not stopped.\n");
  co_return told + "berth continues with rollouts, reclaims, preemptions, pools and health.\n";
}

Flag namespace_flag(std::string& field) {
  return text_flag("--namespace", field,
                   "berth's own namespace, whose annotation stops berth where there is no policy");
}

}  // namespace

FlagTable stop_flags(StopFlags& flags) {
  FlagTable table = {
      text_flag("--reason", flags.reason, "why, for everybody who reads condition Stopped"),
      namespace_flag(flags.namespace_),
  };
  for (Flag& flag : login_flags(flags.connection)) table.push_back(std::move(flag));
  return table;
}

int run_stop(const StopFlags& flags) {
  if (flags.reason.empty()) return complain("berth stop", {.message = "say why: --reason TEXT"});
  std::string where;
  Result<std::string> told =
      converse(flags.connection, where, [&](ApiClient& client, std::stop_token token) {
        return stop_operations(client, flags, std::move(token));
      });
  if (!told) return complain("berth stop", told.error());
  put(*told);
  return 0;
}

FlagTable resume_flags(ResumeFlags& flags) {
  FlagTable table = {namespace_flag(flags.namespace_)};
  for (Flag& flag : login_flags(flags.connection)) table.push_back(std::move(flag));
  return table;
}

int run_resume(const ResumeFlags& flags) {
  std::string where;
  Result<std::string> told =
      converse(flags.connection, where, [&](ApiClient& client, std::stop_token token) {
        return resume_operations(client, flags, std::move(token));
      });
  if (!told) return complain("berth resume", told.error());
  put(*told);
  return 0;
}

}  // namespace berth
