// SPDX-License-Identifier: Apache-2.0
// Outline: what to try, whether this account may try it, and the tries.
#include "controller/cmd/commands/node_key_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <utility>

#include "apis/base/names.h"
#include "controller/client/api_client.h"
#include "controller/cmd/cluster/cluster_session.h"
#include "controller/core/json_patch.h"
#include "controller/core/refused_write.h"

namespace berth {
namespace {

using Json = nlohmann::json;

// More keys than a policy has in practice; each costs one request.
constexpr std::size_t kMaxTries = 64;

struct Try {
  std::string key;
  bool label = true;
  std::string told;  // "label a/b"
  std::string node;
  std::string patch;
};

std::string taint_json(const PoolSummary::Edit& edit) {
  return Json{{"key", edit.key}, {"value", *edit.to}, {"effect", edit.effect}}.dump();
}

std::string label_patch(const PoolSummary::Edit& edit) {
  const Json value = edit.to ? Json(*edit.to) : Json(nullptr);
  return Json{{"metadata", {{"labels", {{edit.key, value}}}}}}.dump();
}

// By index, so that other taints stay.
std::string taint_patch(const PoolSummary::Edit& edit, const Node& node) {
  JsonPatch patch;
  const auto standing = std::ranges::find_if(node.taints, [&](const Taint& taint) {
    return taint.key.view() == edit.key && taint.effect.view() == edit.effect;
  });
  const std::string place =
      fmt::format("/spec/taints/{}", std::distance(node.taints.begin(), standing));
  if (standing != node.taints.end()) patch.test(place + "/key", edit.key);
  if (!edit.to)
    patch.remove(place);
  else if (standing != node.taints.end())
    patch.set_json(place, taint_json(edit), JsonPatch::Op::kReplace);
  else if (node.taints.empty())
    patch.set_json("/spec/taints", "[" + taint_json(edit) + "]");
  else
    patch.set_json("/spec/taints/-", taint_json(edit));
  return patch.str();
}

std::vector<Try> tries_for(const PolicySummary& policy, const ClusterState& cluster) {
  std::vector<Try> tries;
  for (const PoolSummary& pool : policy.pools)
    for (const PoolSummary::Edit& edit : pool.edits) {
      const bool label = edit.effect.empty();
      const bool known = std::ranges::any_of(
          tries, [&](const Try& t) { return t.key == edit.key && t.label == label; });
      const Node* node = edit.nodes.empty() ? nullptr : cluster.nodes().find(edit.nodes.front());
      // All of the chart's policies allow the device plugin's label.
      if (known || node == nullptr || edit.key == names::kDevicePluginConfig) continue;
      if (tries.size() == kMaxTries) return tries;
      tries.push_back({.key = edit.key,
                       .label = label,
                       .told = fmt::format("{} {}", label ? "label" : "taint", edit.key),
                       .node = node->meta.name,
                       .patch = label ? label_patch(edit) : taint_patch(edit, *node)});
    }
  return tries;
}

// Checked first, so that other refusals are not mistaken for refused keys.
Task<std::optional<std::string>> why_not_tried(ApiClient& client, std::string user,
                                               std::stop_token stop) {
  ApiRequest request;
  request.method = "POST";
  request.target = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  request.content_type = std::string(kJsonType);
  request.body = R"({"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview",)"
                 R"("spec":{"resourceAttributes":{"verb":"patch","resource":"nodes"}}})";
  request.impersonate = user;
  CallOptions options(stop);
  const Result<Reply> reply = co_await client.send(std::move(request), std::move(options));
  if (!reply.has_value() && reply.error().kind == ErrorKind::kForbidden)
    co_return fmt::format("this account may not impersonate {}", user);
  if (!reply.has_value()) co_return describe(reply.error());
  const Json answer = Json::parse(reply->body, nullptr, false);
  const Json* status =
      answer.is_object() && answer.contains("status") ? &answer["status"] : nullptr;
  if (status != nullptr && status->is_object() && status->contains("allowed") &&
      (*status)["allowed"] == true)
    co_return std::nullopt;
  co_return fmt::format(
      "{} may not patch nodes: name the controller's account with --controller-account, or install "
      "berth's chart",
      user);
}

Task<Result<std::string>> try_all(ApiClient& client, std::vector<Try> tries, std::string user,
                                  NodeKeyTrial& trial, std::stop_token stop) {
  const std::optional<std::string> why_not = co_await why_not_tried(client, user, stop);
  if (why_not.has_value()) {
    trial.notes.push_back(fmt::format(
        "berth did not try whether the API server allows the pools' labels and taints: {}",
        *why_not));
    co_return std::string();
  }
  std::vector<const Try*> refused;
  for (const Try& next : tries) {
    WriteOptions write;
    write.field_manager = names::kManagerPolicy;
    write.dry_run = true;
    const ObjectKey node{std::string(), next.node};
    ApiRequest request = next.label ? merge_patch_request(kKind<Node>, node, next.patch, write)
                                    : json_patch_request(kKind<Node>, node, next.patch, write);
    request.impersonate = user;
    CallOptions options(stop);
    const Result<Reply> reply = co_await client.send(std::move(request), std::move(options));
    if (reply.has_value()) continue;
    const bool for_good = is_refusal(reply.error());
    trial.notes.push_back(fmt::format("tried as {} on node {}, {} is refused{}: {}", user,
                                      next.node, next.told, for_good ? "" : " for now",
                                      reply.error().message));
    if (for_good) refused.push_back(&next);
  }
  if (refused.empty()) co_return std::string();
  trial.refused = true;
  for (const bool label : {true, false}) {
    KeyList& list = label ? trial.keys.labels : trial.keys.taints;
    const auto is_refused = [&](const std::string& key) {
      return std::ranges::any_of(refused,
                                 [&](const Try* t) { return t->label == label && t->key == key; });
    };
    std::erase_if(list.keys, is_refused);
    // If all keys were allowed, the list becomes those that the server accepted.
    const bool was_all = std::exchange(
        list.all,
        list.all && std::ranges::none_of(refused, [&](const Try* t) { return t->label == label; }));
    if (was_all && !list.all)
      for (const Try& next : tries)
        if (next.label == label && !is_refused(next.key)) list.keys.push_back(next.key);
  }
  co_return std::string();
}

}  // namespace

NodeKeyTrial try_node_keys(const ConfigFlags& connection, const Settings& settings,
                           const std::string& account, const ClusterState& cluster,
                           const PolicySummary& policy) {
  NodeKeyTrial trial{.keys = settings.node_keys};
  const std::vector<Try> tries = tries_for(policy, cluster);
  if (tries.empty() || account.empty()) return trial;
  const std::string user =
      fmt::format("system:serviceaccount:{}:{}", settings.berth_namespace, account);
  std::string server;
  const Result<std::string> talked =
      converse(connection, server, [&](ApiClient& client, std::stop_token stop) {
        return try_all(client, tries, user, trial, std::move(stop));
      });
  if (!talked.has_value())
    trial.notes.push_back("the pools' labels and taints were not tried: " +
                          describe(talked.error()));
  return trial;
}

}  // namespace berth
