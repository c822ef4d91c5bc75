// SPDX-License-Identifier: Apache-2.0
// ApiRequest: one call of the API server, as method, target and JSON text, and functions that build
// one for each verb. Pure: ApiClient::send() sends it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apis/codec/encoding.h"
#include "apis/kinds/meta.h"

namespace berth {

inline constexpr std::string_view kJsonType = "application/json";
inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";

struct ApiRequest {
  std::string method;
  std::string target;  // path and query, escaped
  std::string content_type;
  std::string body;
  std::string impersonate;  // the user to impersonate; empty: berth itself
  // GET only: the client may retry after a failed connection, or after a 429 or 5xx with
  // Retry-After. Never true for a write.
  bool repeatable = false;
  std::size_t max_reply_bytes = 4u << 20;  // lists: ListOptions::max_bytes
  Encoding encoding = Encoding::kJson;     // preferred; a server without it sends JSON
};

struct WriteOptions {
  std::string field_manager;
  bool dry_run = false;  // dryRun=All: admission and validation run, nothing is stored
};

enum class Propagation { kBackground, kForeground, kOrphan };

struct DeleteOptions {
  std::string uid;               // precondition; empty: none
  std::string resource_version;  // precondition; empty: none
  std::optional<std::int64_t> grace_period_seconds;
  Propagation propagation = Propagation::kBackground;
};

struct ListOptions {
  std::string namespace_;  // empty: all
  std::int64_t limit = 500;
  std::string continue_token;
  std::string resource_version;        // empty: the most recent, by quorum
  std::string resource_version_match;  // NotOlderThan | Exact; only with resource_version
  std::string field_selector;
  std::string label_selector;
  std::size_t max_bytes = 64u << 20;  // of the page
};

struct WatchOptions {
  std::string namespace_;  // empty: all
  std::string resource_version;
  // WatchList: first the current objects, then a bookmark that marks their end.
  bool send_initial_events = false;
  std::string field_selector;
  std::string label_selector;
  std::chrono::seconds timeout{300};  // the server ends the stream after this
  // after timeout + idle_grace without a byte the connection counts as dead
  std::chrono::seconds idle_grace{20};
};

// `json` is the text of the object (create, apply) or of the patch. Each request has
// fieldValidation=Warn.
ApiRequest create_request(const KindInfo& kind, const std::string& namespace_, std::string json,
                          const WriteOptions& options);
// Server-side apply. `subresource` may be "status".
ApiRequest apply_request(const KindInfo& kind, const ObjectKey& key, std::string json, bool force,
                         const WriteOptions& options, std::string_view subresource = {});
ApiRequest json_patch_request(const KindInfo& kind, const ObjectKey& key, std::string json,
                              const WriteOptions& options);
ApiRequest merge_patch_request(const KindInfo& kind, const ObjectKey& key, std::string json,
                               const WriteOptions& options, std::string_view subresource = {});
ApiRequest status_merge_patch_request(const KindInfo& kind, const ObjectKey& key, std::string json,
                                      const WriteOptions& options);
ApiRequest delete_request(const KindInfo& kind, const ObjectKey& key, const DeleteOptions& what,
                          const WriteOptions& options);
// policy/v1 Eviction of a pod; ignores propagation.
ApiRequest evict_request(const ObjectKey& pod, const DeleteOptions& what,
                         const WriteOptions& options);
// Any GET: "/version", "/apis/policy/v1", an object_path().
ApiRequest get_request(std::string target);
ApiRequest list_request(const KindInfo& kind, const ListOptions& list);
ApiRequest watch_request(const KindInfo& kind, const WatchOptions& watch);

}  // namespace berth
