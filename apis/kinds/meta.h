// SPDX-License-Identifier: Apache-2.0
// metav1: the metadata of every object, and how a kind is addressed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/base/flat_map.h"
#include "apis/base/time.h"

namespace berth {

struct OwnerReference {
  Text api_version;
  Text kind;
  Text name;
  Text uid;
  bool controller = false;
  bool operator==(const OwnerReference&) const = default;
};

struct ObjectMeta {
  std::string name;
  Text namespace_;  // empty for cluster-scoped kinds
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  Time creation_timestamp{};
  std::optional<Time> deletion_timestamp;
  StringMap labels;
  StringMap annotations;  // for Pods, Nodes and Jobs only those that berth reads: see decode.h
  std::vector<OwnerReference> owner_references;
  std::vector<Text> finalizers;

  const OwnerReference* controller() const;  // the owner with controller: true, or nullptr

  // Ignores resourceVersion: it changes with every heartbeat, and objects that differ in nothing
  // else are the same facts.
  bool operator==(const ObjectMeta& other) const;
};

// namespace/name, or only the name for cluster-scoped kinds.
struct ObjectKey {
  std::string namespace_;
  std::string name;
  auto operator<=>(const ObjectKey&) const = default;
  std::string str() const { return namespace_.empty() ? name : namespace_ + "/" + name; }
};
inline ObjectKey key_of(const ObjectMeta& meta) { return {meta.namespace_.str(), meta.name}; }

// How URLs and manifests name a kind.
struct KindInfo {
  std::string_view group;  // empty: the core group
  std::string_view version;
  std::string_view plural;
  std::string_view kind;
  bool namespaced;
};
// Each kind specialises it: `template <> inline constexpr KindInfo kKind<Pod> = …`.
template <class T>
inline constexpr KindInfo kKind{};

// "v1" or "group/version".
std::string api_version(const KindInfo& info);

// Compares resourceVersions as KEP-5504 defines: if both are digits without a leading zero, the
// longer one is newer, else the lexically greater one. nullopt if one has another form: then only
// equality has a meaning.
std::optional<std::strong_ordering> compare_resource_versions(std::string_view a,
                                                              std::string_view b);

struct Condition {
  std::string type;
  std::string status;   // True | False | Unknown
  std::string reason;   // UpperCamelCase, from the kind's list
  std::string message;  // at most 256 characters
  std::int64_t observed_generation = 0;
  Time last_transition_time{};
  bool operator==(const Condition&) const = default;
};

}  // namespace berth
