// SPDX-License-Identifier: Apache-2.0
#include "controller/client/api_request.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "apis/kinds/core.h"
#include "controller/client/resource_path.h"

namespace berth {
namespace {

constexpr char kApplyPatch[] = "application/apply-patch+yaml";
constexpr char kJsonPatch[] = "application/json-patch+json";
constexpr char kMergePatch[] = "application/merge-patch+json";

Query write_query(const WriteOptions& options) {
  Query query;
  query.add("fieldManager", options.field_manager);
  query.add("fieldValidation", "Warn");
  if (options.dry_run) query.add("dryRun", "All");
  return query;
}

ApiRequest write(std::string method, std::string path, const Query& query, std::string content_type,
                 std::string body) {
  ApiRequest request;
  request.method = std::move(method);
  request.target = std::move(path) + query.str();
  request.content_type = std::move(content_type);
  request.body = std::move(body);
  return request;
}

const char* to_string(Propagation propagation) {
  switch (propagation) {
    case Propagation::kBackground:
      return "Background";
    case Propagation::kForeground:
      return "Foreground";
    case Propagation::kOrphan:
      return "Orphan";
  }
  return "Background";
}

// The options that a delete and an eviction share.
nlohmann::json delete_options(const DeleteOptions& what) {
  nlohmann::json options = nlohmann::json::object();
  if (!what.uid.empty()) options["preconditions"]["uid"] = what.uid;
  if (!what.resource_version.empty()) {
    options["preconditions"]["resourceVersion"] = what.resource_version;
  }
  if (what.grace_period_seconds) options["gracePeriodSeconds"] = *what.grace_period_seconds;
  return options;
}

// Users' data may contain invalid UTF-8. The server refuses it, and dump() must not throw.
std::string dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

ApiRequest create_request(const KindInfo& kind, const std::string& namespace_, std::string json,
                          const WriteOptions& options) {
  return write("POST", collection_path(kind, namespace_), write_query(options),
               std::string(kJsonType), std::move(json));
}

ApiRequest apply_request(const KindInfo& kind, const ObjectKey& key, std::string json, bool force,
                         const WriteOptions& options, std::string_view subresource) {
  Query query = write_query(options);
  query.add_flag("force", force);
  // JSON is YAML, so the body needs no second encoder.
  return write("PATCH", object_path(kind, key, subresource), query, kApplyPatch, std::move(json));
}

ApiRequest json_patch_request(const KindInfo& kind, const ObjectKey& key, std::string json,
                              const WriteOptions& options) {
  return write("PATCH", object_path(kind, key), write_query(options), kJsonPatch, std::move(json));
}

ApiRequest merge_patch_request(const KindInfo& kind, const ObjectKey& key, std::string json,
                               const WriteOptions& options, std::string_view subresource) {
  return write("PATCH", object_path(kind, key, subresource), write_query(options), kMergePatch,
               std::move(json));
}

ApiRequest status_merge_patch_request(const KindInfo& kind, const ObjectKey& key, std::string json,
                                      const WriteOptions& options) {
  return merge_patch_request(kind, key, std::move(json), options, "status");
}

ApiRequest delete_request(const KindInfo& kind, const ObjectKey& key, const DeleteOptions& what,
                          const WriteOptions& options) {
  nlohmann::json body = delete_options(what);
  body["apiVersion"] = "v1";
  body["kind"] = "DeleteOptions";
  body["propagationPolicy"] = to_string(what.propagation);
  // The server reads a DELETE's options either from its body or from its query. If there is a body,
  // it ignores dryRun in the query and really deletes.
  if (options.dry_run) body["dryRun"] = {"All"};
  return write("DELETE", object_path(kind, key), Query(), std::string(kJsonType), dump(body));
}

ApiRequest evict_request(const ObjectKey& pod, const DeleteOptions& what,
                         const WriteOptions& options) {
  nlohmann::json body = {{"apiVersion", "policy/v1"},
                         {"kind", "Eviction"},
                         {"metadata", {{"name", pod.name}, {"namespace", pod.namespace_}}},
                         {"deleteOptions", delete_options(what)}};
  Query query;
  if (options.dry_run) {
    query.add("dryRun", "All");
    body["deleteOptions"]["dryRun"] = {"All"};
  }
  return write("POST", object_path(kKind<Pod>, pod, "eviction"), query, std::string(kJsonType),
               dump(body));
}

ApiRequest get_request(std::string target) {
  ApiRequest request;
  request.method = "GET";
  request.target = std::move(target);
  request.repeatable = true;
  return request;
}

ApiRequest list_request(const KindInfo& kind, const ListOptions& list) {
  Query query;
  if (list.limit > 0) query.add("limit", std::to_string(list.limit));
  query.add("continue", list.continue_token);
  query.add("resourceVersion", list.resource_version);
  // The server refuses resourceVersionMatch without resourceVersion.
  if (!list.resource_version.empty()) {
    query.add("resourceVersionMatch", list.resource_version_match);
  }
  query.add("fieldSelector", list.field_selector);
  query.add("labelSelector", list.label_selector);
  ApiRequest request = get_request(collection_path(kind, list.namespace_) + query.str());
  request.max_reply_bytes = list.max_bytes;
  return request;
}

ApiRequest watch_request(const KindInfo& kind, const WatchOptions& watch) {
  Query query;
  query.add_flag("watch", true);
  query.add_flag("allowWatchBookmarks", true);
  if (watch.send_initial_events) {
    query.add("sendInitialEvents", "true").add("resourceVersionMatch", "NotOlderThan");
  }
  query.add("resourceVersion", watch.resource_version);
  query.add("timeoutSeconds", std::to_string(watch.timeout.count()));
  query.add("fieldSelector", watch.field_selector);
  query.add("labelSelector", watch.label_selector);
  ApiRequest request = get_request(collection_path(kind, watch.namespace_) + query.str());
  request.repeatable = false;  // the informer decides about retries
  return request;
}

}  // namespace berth
