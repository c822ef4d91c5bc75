// SPDX-License-Identifier: Apache-2.0
// Deletion: at once, or first a request to stop. Finalizers keep an object. A pod on a node gets
// its grace period, and its kubelet then deletes it with a grace period of 0.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "apis/base/time.h"
#include "controller/sim/server/priority_admission.h"
#include "controller/sim/server/status.h"
#include "controller/sim/server/strategy.h"
#include "controller/sim/server/writes.h"
#include "controller/sim/world/object_fields.h"

namespace berth::sim {

using nlohmann::json;

namespace {

constexpr char kOrphan[] = "orphan";
constexpr char kForeground[] = "foregroundDeletion";

struct Options {
  std::optional<std::int64_t> grace_s;
  std::string uid;
  std::string resource_version;
  std::string propagation;  // empty: decided by the object's finalizers
};

Options read_options(const WriteRequest& request) {
  Options options;
  if (request.body == nullptr || request.body->is_null()) return options;
  const json& body = *request.body;
  options.grace_s = integer_at(body, {"gracePeriodSeconds"});
  options.uid = text_at(body, {"preconditions", "uid"});
  options.resource_version = text_at(body, {"preconditions", "resourceVersion"});
  options.propagation = text_at(body, {"propagationPolicy"});
  const json* orphans = find_at(body, {"orphanDependents"});
  if (orphans != nullptr && orphans->is_boolean())
    options.propagation = orphans->get<bool>() ? "Orphan" : "Background";
  const std::string& policy = options.propagation;
  if (!policy.empty() && policy != "Orphan" && policy != "Background" && policy != "Foreground")
    throw invalid_options(
        "DeleteOptions",
        {{"FieldValueNotSupported",
          fmt::format("Unsupported value: {}: supported values: \"Background\", \"Foreground\", "
                      "\"Orphan\", \"nil\"",
                      quote(policy)),
          "propagationPolicy"}});
  return options;
}

void check_preconditions(const StoreKey& key, const json& object, const Options& options) {
  const std::string uid = text_at(object, {"metadata", "uid"});
  if (!options.uid.empty() && options.uid != uid)
    throw conflict(*key.type, key.name,
                   fmt::format("the UID in the precondition ({}) does not match the UID in record "
                               "({}). The object might have been deleted and then recreated",
                               options.uid, uid),
                   true);
  const std::string version = text_at(object, {"metadata", "resourceVersion"});
  if (!options.resource_version.empty() && options.resource_version != version)
    throw conflict(
        *key.type, key.name,
        fmt::format("the ResourceVersion in the precondition ({}) does not match the "
                    "ResourceVersion in record ({}). The object might have been modified",
                    options.resource_version, version),
        true);
}

// The garbage collector's finalizers for this propagation. If a Job's deletion names no
// propagation, its pods are orphaned, as in batch/v1.
void set_collector_finalizers(const ResourceType& type, json& object,
                              const std::string& propagation) {
  if (type.kind == "Event") return;  // the garbage collector ignores Events
  const bool orphans =
      (propagation.empty() && type.kind == "Job" &&
       !holds_text(object, {"metadata", "finalizers"}, kForeground)) ||
      propagation == "Orphan" ||
      (propagation.empty() && holds_text(object, {"metadata", "finalizers"}, kOrphan));
  const bool foreground =
      propagation == "Foreground" ||
      (propagation.empty() && holds_text(object, {"metadata", "finalizers"}, kForeground));
  json kept = json::array();
  if (const json* finalizers = find_at(object, {"metadata", "finalizers"}); finalizers != nullptr)
    for (const json& finalizer : *finalizers)
      if ((finalizer != kOrphan || orphans) && (finalizer != kForeground || foreground))
        kept.push_back(finalizer);
  const auto add = [&kept](const char* finalizer) {
    if (std::find(kept.begin(), kept.end(), finalizer) == kept.end()) kept.push_back(finalizer);
  };
  if (orphans) add(kOrphan);
  if (foreground) add(kForeground);
  if (kept.empty())
    object["metadata"].erase("finalizers");
  else
    object["metadata"]["finalizers"] = std::move(kept);
}

void mark_deleted(const Writing& writing, json& object, std::int64_t grace_s) {
  json& metadata = object["metadata"];
  if (!metadata.contains("deletionTimestamp")) {
    metadata["deletionTimestamp"] =
        format_time(writing.clock.wall() + std::chrono::seconds(grace_s));
    if (metadata.contains("generation"))
      metadata["generation"] = metadata["generation"].get<std::int64_t>() + 1;
  }
  metadata["deletionGracePeriodSeconds"] = grace_s;
}

// The pod's grace period: 0 if nothing runs.
std::int64_t pod_grace(const json& pod, const Options& options) {
  const std::string phase = text_at(pod, {"status", "phase"});
  if (text_at(pod, {"spec", "nodeName"}).empty() || phase == "Succeeded" || phase == "Failed")
    return 0;
  const std::int64_t grace = options.grace_s.value_or(
      integer_at(pod, {"spec", "terminationGracePeriodSeconds"}).value_or(0));
  return grace < 0 ? 1 : grace;
}

json success(const StoreKey& key, const json& object) {
  json details = {{"name", key.name},
                  {"kind", key.type->plural},
                  {"uid", text_at(object, {"metadata", "uid"})}};
  if (!key.type->group.empty()) details["group"] = key.type->group;
  return {{"kind", "Status"},
          {"apiVersion", "v1"},
          {"metadata", json::object()},
          {"status", "Success"},
          {"details", std::move(details)}};
}

// The answer is a Status, or for a pod, a quota or a namespace its last state.
WriteReply erase(Writing& writing, const WriteRequest& request, const ObjectPtr& object) {
  const StoreKey& key = request.key;
  ObjectPtr last = object;
  if (!request.dry_run) {
    writing.store.erase(key, request.user);
    last = writing.store.since(writing.store.revision() - 1).front()->after;
  }
  const std::string_view kind = key.type->kind;
  if (kind == "Pod" || kind == "ResourceQuota" || kind == "Namespace")
    return {.code = 200, .body = last};
  return {.code = 200, .body = std::make_shared<const json>(success(key, *object))};
}

// A second deletion of a terminating pod can only shorten its time, and never below one second: the
// kubelet needs that.
WriteReply delete_again(Writing& writing, const WriteRequest& request, const ObjectPtr& live,
                        const Options& options, std::int64_t pending_s) {
  if (!options.grace_s || *options.grace_s >= pending_s) return {.code = 200, .body = live};
  json object = *live;
  set_collector_finalizers(*request.key.type, object, options.propagation);
  const bool held = find_at(object, {"metadata", "finalizers"}) != nullptr;
  const WallTime now = writing.clock.wall();
  std::int64_t grace_s = *options.grace_s;
  WallTime end = now + std::chrono::seconds(grace_s);
  if (const auto was = parse_time(text_at(*live, {"metadata", "deletionTimestamp"})))
    end = *was + std::chrono::seconds(grace_s - pending_s);
  if (end < now) {
    end = now;
    grace_s = std::min<std::int64_t>(grace_s, 1);
  }
  object["metadata"]["deletionGracePeriodSeconds"] = grace_s;
  object["metadata"]["deletionTimestamp"] = format_time(end);
  const WriteReply stored = store_object(writing, request, request.key, std::move(object), 200);
  if (grace_s > 0 || held) return stored;
  return erase(writing, request, stored.body);
}

// A namespace is deleted once its controller has emptied it.
WriteReply delete_namespace(Writing& writing, const WriteRequest& request, const ObjectPtr& live) {
  const bool held = find_at(*live, {"spec", "finalizers"}) != nullptr ||
                    find_at(*live, {"metadata", "finalizers"}) != nullptr;
  if (!held) return erase(writing, request, live);
  if (find_at(*live, {"metadata", "deletionTimestamp"}) != nullptr)
    return {.code = 200, .body = live};
  json object = *live;
  object["metadata"]["deletionTimestamp"] = format_time(writing.clock.wall());
  object["status"]["phase"] = "Terminating";
  return store_object(writing, request, request.key, std::move(object), 200);
}

}  // namespace

WriteReply delete_object(Writing& writing, const WriteRequest& request) {
  const StoreKey& key = request.key;
  const ObjectPtr live = writing.store.find(key);
  if (key.type->kind == "PriorityClass" && is_system_class(key.name))
    throw forbidden(*key.type, key.name, "this is a system priority class and cannot be deleted");
  if (live == nullptr) throw not_found(*key.type, key.name);
  const Options options = read_options(request);
  check_preconditions(key, *live, options);
  if (key.type->kind == "Namespace") return delete_namespace(writing, request, live);
  const bool deleted = find_at(*live, {"metadata", "deletionTimestamp"}) != nullptr;
  const std::int64_t pending_s =
      integer_at(*live, {"metadata", "deletionGracePeriodSeconds"}).value_or(0);
  const bool graceful = deletes_gracefully(*key.type);
  if (graceful && deleted && pending_s > 0)
    return delete_again(writing, request, live, options, pending_s);
  const bool gives_time = graceful && !deleted;

  json object = *live;
  set_collector_finalizers(*request.key.type, object, options.propagation);
  const bool held = find_at(object, {"metadata", "finalizers"}) != nullptr;
  if (!gives_time && !held) return erase(writing, request, live);
  const std::int64_t grace = gives_time ? pod_grace(object, options) : 0;
  mark_deleted(writing, object, grace);
  if (object == *live) return {.code = 200, .body = live};
  const WriteReply stored = store_object(writing, request, key, std::move(object), 200);
  if (held || grace > 0) return stored;
  return erase(writing, request, stored.body);
}

}  // namespace berth::sim
