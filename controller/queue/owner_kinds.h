// SPDX-License-Identifier: Apache-2.0
// OwnerKinds: what an eviction means to the controller of the pod, by the controller's kind. Some
// create the pod again. Others count it as a failure, which ends the user's job for good. Which of
// the two holds is often a field of the controller, which is read live before the eviction.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "apis/meta.h"
#include "apis/result.h"

namespace berth::queue {

enum class AfterEviction {
  kRecreates,     // it creates the pod again, whatever the pod's restartPolicy says
  kByPolicy,      // as the restartPolicy of the pod's role says, which is at `path`
  kUnlessOwned,   // it creates the pod again; a controller of its own of kind `path` fails
  kWithLauncher,  // it creates the pod again; it fails if the launcher at `path` is in no queue
};

struct OwnerKind {
  KindInfo info;
  AfterEviction then = AfterEviction::kRecreates;
  std::string_view path = {};
  std::string_view absent = {};  // of kByPolicy: the policy of a role that states none
};

// The table.
std::span<const OwnerKind> owner_kinds();
// Null: berth does not know the kind.
const OwnerKind* find_owner_kind(const OwnerReference& owner);

// The pod that is to be evicted, as far as its controller's answer depends on it.
struct OwnedPod {
  std::string namespace_;
  std::string name;
  OwnerReference owner;
  std::string role;  // of a Kubeflow job: "worker"; empty: it states none
};

// Why the controller would fail, or may not be relied on; nothing: it creates the pod again.
// `object` is the controller as JSON, or why the API server did not return it.
std::optional<std::string> why_owner_fails(const OwnerKind& kind, const OwnedPod& pod,
                                           const Result<std::string>& object);
// The sentence for offline use, where berth does not read the controller.
std::string why_unread_owner_may_fail(const OwnerKind& kind, const OwnedPod& pod);
// Why a pod that does not restart stays under a kind that berth does not know.
std::string why_unknown_owner_keeps(const OwnedPod& pod);

}  // namespace berth::queue
