// SPDX-License-Identifier: Apache-2.0
// Act: a request that RBAC or an admission policy has to refuse to berth's accounts, or has to let
// through, with what the refusal must say.
#pragma once

#include <span>

namespace berth::test {

struct Act {
  const char* what;
  const char* method;
  const char* path;
  const char* body;  // UID in it stands for the victim's
  const char* words = "User \"system:serviceaccount:berth-system:berth\" cannot";
};

// No rule of the chart's roles grants these.
std::span<const Act> ungranted_acts();
// RBAC can't tell these from what berth does; the admission policies do.
std::span<const Act> confined_acts();
// And these, were it an administrator.
std::span<const Act> confined_administrators_acts();
// What berth lives from: these must be let through.
std::span<const Act> granted_acts();
// The webhook only reads, and of that little: none of these.
std::span<const Act> acts_beyond_the_webhook();

// A policy for the cluster, and what would make berth's account its administrator.
inline constexpr char kPolicy[] =
    R"({"apiVersion": "gpu.berth.dev/v1alpha1", "kind": "GPUClusterPolicy",)"
    R"( "metadata": {"name": "cluster"}, "spec": {}})";
inline constexpr char kToAdmin[] =
    R"({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",)"
    R"( "metadata": {"name": "mine"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io",)"
    R"( "kind": "ClusterRole", "name": "cluster-admin"}, "subjects": [{"kind": "ServiceAccount",)"
    R"( "name": "berth", "namespace": "berth-system"}]})";

}  // namespace berth::test
