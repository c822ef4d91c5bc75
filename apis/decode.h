// SPDX-License-Identifier: Apache-2.0
// From the API server's bytes to slices. Pods, nodes and Jobs, which come by the tens of thousands,
// and Leases, which come every other second, are read by simdjson on demand without a DOM; kinds of
// small volume by nlohmann-json. Pods and nodes come in protobuf too (encoding.h), read by
// protozero into the very same slices. Unknown fields are ignored; a field of the wrong type is an
// error that names its path.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/core.h"
#include "apis/encoding.h"
#include "apis/gpu_queue.h"
#include "apis/mig_layout.h"
#include "apis/result.h"

namespace berth {

// The annotations of Pods, Nodes and Jobs worth their memory: our prefix, mirror pods, autoscalers'
// and Karpenter's do-not-disrupt marks, the size of a LeaderWorkerSet's groups.
bool keeps_annotation(std::string_view key);

template <class T>
struct WatchEvent {
  enum class Type { kAdded, kModified, kDeleted, kBookmark, kError };
  Type type = Type::kBookmark;
  T object;                         // for kBookmark only resource_version is set
  bool initial_events_end = false;  // bookmark annotated k8s.io/initial-events-end
  Error error;                      // for kError: the Status in the stream
};

// What a list holds and this berth can't read: by a CustomResourceDefinition of another version,
// say.
struct UnreadItem {
  ObjectKey key;
  Error error;  // names the field
};

template <class T>
struct ListPage {
  std::string resource_version;
  std::string continue_token;  // empty: the last page
  std::vector<T> items;
  std::vector<UnreadItem>
      unread;             // kinds of small volume only; one of those costs no other its place
  std::size_t bytes = 0;  // of the body, if whoever sent for it says so
};

// One event of a watch stream: in JSON {"type":"ADDED","object":{…}}. The buffer may be grown (not
// changed) to give simdjson its padding.
template <class T>
Result<WatchEvent<T>> decode_watch_event(std::string& event, Encoding encoding = Encoding::kJson);

// Whose event that is, of those that decode_watch_event can't read; nothing if that can't be read
// either.
std::optional<ObjectKey> key_of_event(std::string_view event);

// A …List body, in either encoding: protobuf's says so itself.
template <class T>
Result<ListPage<T>> decode_list(std::string& body);

// One object.
template <class T>
Result<T> decode_object(std::string& body);

// One of berth's own kinds, MIGLayout, GPUClusterPolicy or GPUQueue, from a document.
template <class T>
Result<T> decode_document(const nlohmann::json& object);

// A metav1.Status body in either encoding, or whatever came instead of one (a proxy's HTML): always
// an Error, of the kind that code and reason tell.
Error decode_status(int http_code, std::string_view body);

// Instantiated in decode.cc for the watched kinds (watched_kinds.h), GPUQueue and Lease.

}  // namespace berth
