// SPDX-License-Identifier: Apache-2.0
// PolicyRules: the messages of GPUClusterPolicy's cross-field rules. The CRD's CEL rules have the
// same messages; a test compares them.
#pragma once

#include "apis/kinds/selector_rules.h"

namespace berth::rules {

inline constexpr char kPolicyName[] =
    "there is exactly one policy in a cluster; its name must be cluster";
inline constexpr char kTwoFiles[] =
    "mig-manager and the device plugin read different files; name two ConfigMaps";
inline constexpr char kExtraIsOwn[] =
    "extraMigConfigs is copied into migManagerConfigMap, which berth owns; "
    "name another ConfigMap";
inline constexpr char kReplicasNeeded[] =
    "TimeSlicing and MPS need replicas, the number of pods that share one GPU, as replicas: 4";
inline constexpr char kReplicasForNone[] =
    "strategy None shares nothing; remove replicas, or write strategy: TimeSlicing";
inline constexpr char kMpsReplicas[] =
    "MPS serves at most 48 clients on one GPU; write replicas from 2 to 48";
inline constexpr char kMpsResources[] =
    "MPS shares nvidia.com/gpu only; remove the others, or write strategy: TimeSlicing";
inline constexpr char kOnePrice[] =
    "one of perGPUHour and perNodeHour is needed, and only one of them";
inline constexpr char kPriceOfWhat[] =
    "a price needs instanceType or product: what a pool's GPUs cost else is spec.pools[].price";
inline constexpr char kMpsWithMig[] =
    "NVIDIA's device plugin refuses MPS together with MIG; remove migStrategy, or write strategy: "
    "TimeSlicing";
inline constexpr char kSharedName[] =
    "name the resource as it is before it is shared, without .shared";
inline constexpr char kSelectorMoves[] =
    "berth, MIG or sharing changes this label, so a node would leave the pool by entering it; "
    "select by a label of your own";
inline constexpr char kSelectsOwnLabel[] =
    "nodeSelector asks for a label that the pool itself sets, so no node could ever leave; set "
    "another label";
inline constexpr char kForeignLabel[] =
    "this label is written by berth, NVIDIA's agents or the kubelet; choose a key of your own, as "
    "gpu.example.com/tier";
inline constexpr char kForeignTaint[] =
    "this taint is set by berth or Kubernetes itself; choose another key, as nvidia.com/gpu";
inline constexpr char kNoExecute[] =
    "NoExecute kills running pods outside every disruption budget; write NoSchedule";
inline constexpr char kLevelTwice[] = "a topology level is listed twice; remove one of the two";
inline constexpr char kHostnameLast[] =
    "levels run from the widest to the narrowest; put kubernetes.io/hostname last";
inline constexpr char kSystemPriority[] =
    "names that begin with system- belong to Kubernetes; choose another name";
inline constexpr char kKubeSystem[] = "berth never reviews kube-system; name other namespaces";
inline constexpr char kCaWithoutTls[] =
    "caBundle says whom to trust over https; write the url with https://, or remove caBundle";

}  // namespace berth::rules
