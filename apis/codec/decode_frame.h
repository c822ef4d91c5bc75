// SPDX-License-Identifier: Apache-2.0
// DecodeFrame: what the templates in decode.cc need from each kind. Kinds with many objects, and
// the Lease, which is renewed every other second, are read from simdjson (decode_pod.cc,
// decode_node.cc, decode_job.cc, decode_lease.cc), the others from nlohmann-json (decode_small.cc,
// decode_layout.cc).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>
#include <type_traits>

#include "apis/codec/decode.h"
#include "apis/codec/json_cursor.h"
#include "apis/codec/json_reader.h"
#include "apis/kinds/resource_quota.h"

namespace berth {

template <class T>
inline constexpr bool kAtVolume = std::is_same_v<T, Pod> || std::is_same_v<T, Node> ||
                                  std::is_same_v<T, Job> || std::is_same_v<T, Lease>;

bool read(od::value value, Pod& out, Fault& fault);
bool read(od::value value, Node& out, Fault& fault);
bool read(od::value value, Job& out, Fault& fault);
bool read(od::value value, Lease& out, Fault& fault);

void read(JsonCursor object, PodDisruptionBudget& out);
void read(JsonCursor object, ConfigMap& out);
void read(JsonCursor object, DaemonSet& out);
void read(JsonCursor object, ClusterPolicy& out);
void read(JsonCursor object, Namespace& out);
void read(JsonCursor object, PriorityClass& out);
void read(JsonCursor object, ResourceQuota& out);
void read(JsonCursor object, MIGLayout& out);
void read(JsonCursor object, GPUQueue& out);

// Reads all readable fields of a MIGLayout's spec. The caller must have checked it against
// layout_fields.h.
void read_spec(const JsonCursor& spec, MIGLayoutSpec& out);

// The type as a watch event names it; nullopt if it is none of these.
template <class T>
std::optional<typename WatchEvent<T>::Type> event_type(std::string_view type) {
  using Type = typename WatchEvent<T>::Type;
  if (type == "MODIFIED") return Type::kModified;
  if (type == "ADDED") return Type::kAdded;
  if (type == "DELETED") return Type::kDeleted;
  if (type == "BOOKMARK") return Type::kBookmark;
  if (type == "ERROR") return Type::kError;
  return std::nullopt;
}

// The annotation of the bookmark that ends a WatchList's first part.
inline constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";

// From a parsed metav1.Status; an ERROR event contains one too.
Error read_status(int http_code, const nlohmann::json& status);

// Sets the error's kind by its code and reason, and a message if there is none.
Error judged(Error error);

}  // namespace berth
