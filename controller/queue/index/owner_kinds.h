// SPDX-License-Identifier: Apache-2.0
// OwnerKinds: what an eviction means to the pod's controller, by the controller's kind. Some
// controllers re-create the pod. Others count it as a failure, which ends the user's job for good.
// Often a field of the controller decides, and berth reads it live before the eviction.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "apis/base/result.h"
#include "apis/kinds/meta.h"

namespace berth::queue {

enum class AfterEviction {
  kRecreates,     // it re-creates the pod, whatever the pod's restartPolicy is
  kByPolicy,      // the restartPolicy of the pod's role at `path` decides
  kUnlessOwned,   // it re-creates the pod, but its own controller of kind `path` fails
  kWithLauncher,  // it re-creates the pod, but fails if its launcher at `path` is in no queue
};

struct OwnerKind {
  KindInfo info;
  AfterEviction then = AfterEviction::kRecreates;
  std::string_view path = {};
  std::string_view absent = {};  // for kByPolicy: the policy of a role that states none
};

// Returns the table of kinds.
std::span<const OwnerKind> owner_kinds();
// Returns null if berth does not know the kind.
const OwnerKind* find_owner_kind(const OwnerReference& owner);

// A pod to evict, as far as its controller's answer depends on it.
struct OwnedPod {
  std::string namespace_;
  std::string name;
  OwnerReference owner;
  std::string role;  // of a Kubeflow job: "worker"; empty: not stated
};

// Returns why the controller would fail or berth can't rely on it; nothing if it re-creates the
// pod. `object` is the controller as JSON, or the error of the API server.
std::optional<std::string> why_owner_fails(const OwnerKind& kind, const OwnedPod& pod,
                                           const Result<std::string>& object);
// Returns the reason for offline use, where berth does not read the controller.
std::string why_unread_owner_may_fail(const OwnerKind& kind, const OwnedPod& pod);
// Returns why berth does not evict a pod with restartPolicy Never whose controller has an unknown
// kind.
std::string why_unknown_owner_keeps(const OwnedPod& pod);

}  // namespace berth::queue
