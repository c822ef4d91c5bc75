// SPDX-License-Identifier: Apache-2.0
// Decode: from the API server's bytes to slices. simdjson reads pods, nodes and Jobs on demand,
// without a DOM, because there are tens of thousands of them. It also reads Leases, which arrive
// every other second. nlohmann-json reads the kinds of which there are few. Pods and nodes also
// arrive as protobuf (encoding.h); protozero reads them into the same slices. All readers ignore
// unknown fields. A field of the wrong type is an error that names its path.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/base/result.h"
#include "apis/codec/encoding.h"
#include "apis/kinds/core.h"
#include "apis/kinds/gpu_queue.h"
#include "apis/kinds/mig_layout.h"

namespace berth {

// The annotations of Pods, Nodes and Jobs that berth keeps in memory: those with berth's prefix,
// mirror pods, the do-not-disrupt marks of autoscalers and Karpenter, and the group size of
// LeaderWorkerSets.
bool keeps_annotation(std::string_view key);

template <class T>
struct WatchEvent {
  enum class Type { kAdded, kModified, kDeleted, kBookmark, kError };
  Type type = Type::kBookmark;
  T object;                         // for kBookmark only resource_version is set
  bool initial_events_end = false;  // bookmark annotated k8s.io/initial-events-end
  Error error;                      // for kError: the Status in the stream
};

// An item of a list that this berth can't read, for example because its CustomResourceDefinition
// has another version.
struct UnreadItem {
  ObjectKey key;
  Error error;  // names the field
};

template <class T>
struct ListPage {
  std::string resource_version;
  std::string continue_token;  // empty: the last page
  std::vector<T> items;
  // Only for kinds of which there are few. An unreadable item does not affect the others.
  std::vector<UnreadItem> unread;
  std::size_t bytes = 0;  // of the body, if the client reports it
};

// One event of a watch stream; in JSON {"type":"ADDED","object":{…}}. The function may append to
// the buffer, because simdjson needs padding, but it changes none of its bytes.
template <class T>
Result<WatchEvent<T>> decode_watch_event(std::string& event, Encoding encoding = Encoding::kJson);

// The key of the object in an event that decode_watch_event can't read; nullopt if the key is
// unreadable too.
std::optional<ObjectKey> key_of_event(std::string_view event);

// The body of a …List, in either encoding: a protobuf body starts with a magic number.
template <class T>
Result<ListPage<T>> decode_list(std::string& body);

// One object.
template <class T>
Result<T> decode_object(std::string& body);

// One of berth's own kinds (MIGLayout, GPUClusterPolicy or GPUQueue), from a document.
template <class T>
Result<T> decode_document(const nlohmann::json& object);

// A metav1.Status body in either encoding, or whatever arrived instead (a proxy's HTML). The result
// is always an Error; code and reason decide its kind.
Error decode_status(int http_code, std::string_view body);

// Instantiated in decode.cc for the watched kinds (watched_kinds.h), GPUQueue and Lease.

}  // namespace berth
