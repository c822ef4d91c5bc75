// SPDX-License-Identifier: Apache-2.0
// Names: labels, annotations and other names of the API: berth's own, and those of NVIDIA that
// berth uses.
#pragma once

#include <string_view>

namespace berth::names {

// The namespaces of the cluster itself.
inline constexpr std::string_view kSystemNamespaces[] = {"kube-system", "kube-node-lease",
                                                         "kube-public"};

inline constexpr char kGroup[] = "gpu.berth.dev";
inline constexpr char kFinalizer[] = "gpu.berth.dev/finalizer";
inline constexpr char kRolloutAnnotation[] = "gpu.berth.dev/mig-rollout";
inline constexpr char kHealthAnnotation[] = "gpu.berth.dev/health";
inline constexpr char kHoldAnnotation[] = "gpu.berth.dev/hold";
inline constexpr char kStopAnnotation[] = "gpu.berth.dev/stop";  // who stopped berth, and why
inline constexpr char kInventoryAnnotation[] = "gpu.berth.dev/gpu-inventory";
inline constexpr char kEpochAnnotation[] = "gpu.berth.dev/epoch";
// on the Lease: the version of its holder
inline constexpr char kVersionAnnotation[] = "gpu.berth.dev/version";
inline constexpr char kOwnerAnnotation[] = "gpu.berth.dev/owner";
// the generation of its owner
inline constexpr char kGenerationAnnotation[] = "gpu.berth.dev/generation";
inline constexpr char kPoolLabel[] = "gpu.berth.dev/pool";
inline constexpr char kPoolKeysAnnotation[] = "gpu.berth.dev/pool-keys";
inline constexpr char kMutationsAnnotation[] = "gpu.berth.dev/mutations";
// on namespaces that have opted in
inline constexpr char kManagedLabel[] = "gpu.berth.dev/managed";
inline constexpr char kPodGroupLabel[] = "gpu.berth.dev/pod-group";
inline constexpr char kRequiredTopologyAnnotation[] = "gpu.berth.dev/required-topology";
inline constexpr char kPreferredTopologyAnnotation[] = "gpu.berth.dev/preferred-topology";
inline constexpr char kPodGroupSizeAnnotation[] = "gpu.berth.dev/pod-group-size";
inline constexpr char kPodRoleSizeAnnotation[] = "gpu.berth.dev/pod-role-size";
inline constexpr char kFastAdmissionAnnotation[] = "gpu.berth.dev/fast-admission";
inline constexpr char kAdmittedAnnotation[] = "gpu.berth.dev/admitted";
inline constexpr char kPreemptedAnnotation[] = "gpu.berth.dev/preempted";
inline constexpr char kPreemptionNoticeAnnotation[] = "gpu.berth.dev/preemption-notice";
// On pods: since when berth counts a pod on a dead node as lost, and whether berth may force-delete
// it.
inline constexpr char kOnDeadNodeSinceAnnotation[] = "gpu.berth.dev/on-dead-node-since";
inline constexpr char kSafeToForceDeleteAnnotation[] = "gpu.berth.dev/safe-to-force-delete";
inline constexpr char kNeverReadyAnnotation[] = "gpu.berth.dev/never-ready";
inline constexpr char kPendingReasonAnnotation[] = "gpu.berth.dev/pending-reason";
inline constexpr char kQueueLabel[] = "gpu.berth.dev/queue";
inline constexpr char kQueueGate[] = "gpu.berth.dev/queue";  // a scheduling gate
inline constexpr char kKueueQueueLabel[] = "kueue.x-k8s.io/queue-name";
inline constexpr char kPriorityClassLabel[] = "gpu.berth.dev/priority-class";
inline constexpr char kLastCheckpointAnnotation[] = "gpu.berth.dev/last-checkpoint";
inline constexpr char kManagedByLabel[] = "app.kubernetes.io/managed-by";
inline constexpr char kHostnameLabel[] = "kubernetes.io/hostname";
inline constexpr char kProofLabel[] = "gpu.berth.dev/proof";  // on validation Jobs
inline constexpr char kProofNodeAnnotation[] = "gpu.berth.dev/proof-node-uid";
inline constexpr char kRequiredCudaAnnotation[] = "gpu.berth.dev/required-cuda";  // on pods: "12.4"
// On pods: "40Gi", the GPU memory that one container needs.
inline constexpr char kRequiredGpuMemoryAnnotation[] = "gpu.berth.dev/required-gpu-memory";
inline constexpr char kIdleSinceAnnotation[] = "gpu.berth.dev/idle-since";
inline constexpr char kReclaimAfterAnnotation[] = "gpu.berth.dev/reclaim-after";
// On the admission ledger: which workloads lost idle GPUs, and to which workloads.
inline constexpr char kYieldsAnnotation[] = "gpu.berth.dev/yields";
// On the admission ledger: up to which resourceVersions its last writer had seen the cluster.
inline constexpr char kHeardAnnotation[] = "gpu.berth.dev/heard";
// on the admission ledger
inline constexpr char kEpochSinceAnnotation[] = "gpu.berth.dev/epoch-since";
// On namespaces: the person or channel to contact.
inline constexpr char kContactAnnotation[] = "gpu.berth.dev/contact";
inline constexpr char kMirrorAnnotation[] = "kubernetes.io/config.mirror";
// The users of kubelets and of the DaemonSet controller: its own service account, or that of the
// whole kube-controller-manager.
inline constexpr char kNodesGroup[] = "system:nodes";
inline constexpr char kNodeUserPrefix[] = "system:node:";
inline constexpr std::string_view kDaemonSetControllers[] = {
    "system:serviceaccount:kube-system:daemon-set-controller", "system:kube-controller-manager"};

inline constexpr char kSlotsConfigMap[] = "berth-node-slots";
inline constexpr char kAdmissionsConfigMap[] = "berth-admissions";
inline constexpr char kUsageConfigMap[] = "berth-usage";
inline constexpr char kCostsConfigMap[] = "berth-costs";
inline constexpr char kHistoryConfigMapPrefix[] = "berth-history-";  // and a digit
inline constexpr char kMigPartedKey[] = "config.yaml";

// One field manager for each concern.
inline constexpr char kManagerMig[] = "berth-mig";
inline constexpr char kManagerPolicy[] = "berth-policy";
inline constexpr char kManagerQueue[] = "berth-queue";
inline constexpr char kManagerStatus[] = "berth-status";
inline constexpr char kManagerHistory[] = "berth-history";

// NVIDIA's labels.
inline constexpr char kMigConfig[] = "nvidia.com/mig.config";
inline constexpr char kMigConfigState[] = "nvidia.com/mig.config.state";
inline constexpr char kDevicePluginConfig[] = "nvidia.com/device-plugin.config";
inline constexpr char kMigStrategy[] = "nvidia.com/mig.strategy";
inline constexpr char kMigCapable[] = "nvidia.com/mig.capable";
inline constexpr char kGpuProduct[] = "nvidia.com/gpu.product";
// Labels of Node Feature Discovery, which the GPU operator installs. kNumaLabel is "true" on nodes
// with several memory nodes (kubernetes-sigs/node-feature-discovery, docs/usage/features.md).
inline constexpr char kFeaturePrefix[] = "feature.node.kubernetes.io/";
inline constexpr char kNumaLabel[] = "feature.node.kubernetes.io/memory-numa";
inline constexpr char kGpuCount[] = "nvidia.com/gpu.count";
// Labels with which clouds describe a node's GPUs, with or without NVIDIA's labels.
inline constexpr std::string_view kCloudProductLabels[] = {
    "cloud.google.com/gke-accelerator", "k8s.amazonaws.com/accelerator",
    "eks.amazonaws.com/instance-gpu-name", "karpenter.k8s.aws/instance-gpu-name"};
inline constexpr std::string_view kCloudCountLabels[] = {"eks.amazonaws.com/instance-gpu-count",
                                                         "karpenter.k8s.aws/instance-gpu-count",
                                                         "cloud.google.com/gke-accelerator-count"};
inline constexpr char kGpuReplicas[] = "nvidia.com/gpu.replicas";
inline constexpr char kGpuSharingStrategy[] = "nvidia.com/gpu.sharing-strategy";
inline constexpr char kGpuPresent[] = "nvidia.com/gpu.present";
inline constexpr char kWorkloadConfig[] = "nvidia.com/gpu.workload.config";
inline constexpr char kDriverUpgradeState[] = "nvidia.com/gpu-driver-upgrade-state";
inline constexpr char kDeployPrefix[] = "nvidia.com/gpu.deploy.";
inline constexpr char kDeployMigManager[] = "nvidia.com/gpu.deploy.mig-manager";
// The labels that mig-manager pauses while it works. The chart's policy lets berth restore only
// these.
inline constexpr std::string_view kPausedOperands[] = {
    "nvidia.com/gpu.deploy.client",        "nvidia.com/gpu.deploy.dcgm",
    "nvidia.com/gpu.deploy.dcgm-exporter", "nvidia.com/gpu.deploy.device-plugin",
    "nvidia.com/gpu.deploy.nvsm",          "nvidia.com/gpu.deploy.gpu-feature-discovery"};
inline constexpr char kDeployDraDriver[] = "nvidia.com/gpu.deploy.dra-driver";
inline constexpr char kPausedForMigChange[] = "paused-for-mig-change";
inline constexpr char kPausedForDriverUpgrade[] = "paused-for-driver-upgrade";
inline constexpr char kAllDisabled[] = "all-disabled";

}  // namespace berth::names
