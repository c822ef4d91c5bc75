// SPDX-License-Identifier: Apache-2.0
// Act: a request of berth's accounts that RBAC or an admission policy must refuse, or must allow,
// with the text of the refusal.
#pragma once

#include <span>

namespace berth::test {

struct Act {
  const char* what;
  const char* method;
  const char* path;
  const char* body;  // UID in it is replaced by the uid of the pod in the path
  const char* words = "User \"system:serviceaccount:berth-system:berth\" cannot";
};

// No rule of the chart's roles grants these.
std::span<const Act> ungranted_acts();
// RBAC can't distinguish these from berth's own requests; the admission policies can.
std::span<const Act> confined_acts();
// Also these, if the account were an administrator.
std::span<const Act> confined_administrators_acts();
// Jobs that would prove a node, but not as berth does.
std::span<const Act> confined_proofs();
// What berth lives from: these must be let through.
std::span<const Act> granted_acts();

// The webhook only reads, and only a little: it must do none of these.
std::span<const Act> acts_beyond_the_webhook();

// For the certificate manager process: requests that no rule grants, that its policy refuses, that
// the policy refuses to it even as an administrator, and that it needs.
std::span<const Act> acts_beyond_the_keeper();
std::span<const Act> confined_keepers_acts();
std::span<const Act> confined_administrator_keepers_acts();
std::span<const Act> granted_keepers_acts();

// A policy for the cluster, and a binding that makes the writing account an administrator.
inline constexpr char kPolicy[] =
    R"({"apiVersion": "gpu.berth.dev/v1alpha1", "kind": "GPUClusterPolicy",)"
    R"( "metadata": {"name": "cluster"}, "spec": {}})";
inline constexpr char kToAdmin[] =
    R"({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",)"
    R"( "metadata": {"name": "mine"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io",)"
    R"( "kind": "ClusterRole", "name": "cluster-admin"}, "subjects": [{"kind": "ServiceAccount",)"
    R"( "name": "berth", "namespace": "berth-system"}, {"kind": "ServiceAccount",)"
    R"( "name": "berth-certificates", "namespace": "berth-system"}]})";

// The Jobs of berth's namespace. There the chart lets berth run Jobs that prove a node.
inline constexpr char kProofs[] = "/apis/batch/v1/namespaces/berth-system/jobs";
inline constexpr char kProof[] =
    R"({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "berth-proof-y",)"
    R"( "labels": {"gpu.berth.dev/proof": "true"}}, "spec": {"activeDeadlineSeconds": 900,)"
    R"( "ttlSecondsAfterFinished": 60, "template": {"spec": {"restartPolicy": "Never",)"
    R"( "automountServiceAccountToken": false, "containers": [{"name": "proof",)"
    R"( "image": "registry.example/cuda:12"}]}}}})";

// Bodies that are well-formed enough to reach admission.
inline constexpr char kPod[] =
    R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "own"}, "spec": {"containers": [)"
    R"({"name": "main", "image": "registry.example/evil:1", "securityContext": {"runAsNonRoot": true,)"
    R"( "runAsUser": 65532, "allowPrivilegeEscalation": false, "seccompProfile": {"type": "RuntimeDefault"},)"
    R"( "capabilities": {"drop": ["ALL"]}}}]}})";
inline constexpr char kImage[] =
    R"({"spec": {"containers": [{"name": "main", "image": "registry.example/evil:1"}]}})";
inline constexpr char kNode[] =
    R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "mine"}})";
inline constexpr char kMap[] =
    R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "mine"}, "data": {"a": "b"}})";
inline constexpr char kLease[] =
    R"({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "mine"}})";
inline constexpr char kLayout[] =
    R"({"apiVersion": "gpu.berth.dev/v1alpha1", "kind": "MIGLayout", "metadata": {"name": "mine"},)"
    R"( "spec": {"nodeSelector": {}, "devices": [{"profiles": {"1g.10gb": 7}}]}})";

}  // namespace berth::test
