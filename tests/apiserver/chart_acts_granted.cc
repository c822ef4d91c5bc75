// SPDX-License-Identifier: Apache-2.0
// Requests that the controller needs: RBAC and the chart's admission policies allow them.
#include "tests/apiserver/chart_acts.h"

namespace berth::test {
namespace {

constexpr char kBoundGpus[] =
    R"({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "berth-vision", "annotations":)"
    R"( {"gpu.berth.dev/owner": "GPUQueue/vision"}, "ownerReferences": [{"apiVersion":)"
    R"( "gpu.berth.dev/v1alpha1", "kind": "GPUQueue", "name": "vision", "uid": "u"}]}, "spec": {"hard":)"
    R"( {"requests.nvidia.com/gpu": "24"}}})";
constexpr char kEvent[] =
    R"({"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "mine"},)"
    R"( "eventTime": "2026-01-01T00:00:00.000000Z", "type": "Normal", "reason": "A", "action": "A",)"
    R"( "reportingController": "berth", "reportingInstance": "berth",)"
    R"( "regarding": {"kind": "Pod", "name": "victim", "namespace": "team-a"}})";

const Act kGranted[] = {
    {"cordon a node by its product", "PATCH", "/api/v1/nodes/by-product",
     R"({"spec": {"unschedulable": true}})"},
    {"cordon a node on which NVIDIA's agents have found GPUs", "PATCH", "/api/v1/nodes/by-present",
     R"({"spec": {"unschedulable": true}})"},
    {"cordon a node that offers GPUs", "PATCH", "/api/v1/nodes/by-capacity",
     R"({"spec": {"unschedulable": true}})"},
    {"keep its record on a closed node", "PATCH", "/api/v1/nodes/closed",
     R"({"metadata": {"annotations": {"gpu.berth.dev/health": "{}"}}})"},
    {"taint a node with its own key", "PATCH", "/api/v1/nodes/n1",
     R"({"spec": {"taints": [{"key": "gpu.berth.dev/x", "effect": "NoSchedule"}]}})"},
    {"choose the node of a pod that may run anywhere", "PATCH",
     "/api/v1/namespaces/team-a/pods/anywhere",
     R"({"spec": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]}}}}})"},
    {"fail a lost pod and keep its conditions", "PATCH",
     "/api/v1/namespaces/team-a/pods/lost/status",
     R"({"status": {"phase": "Failed", "reason": "ForceDeleted"}})"},
    {"report that the GPUs of a pod that a kubelet keeps are idle", "PATCH",
     "/api/v1/namespaces/team-a/pods/mirror",
     R"({"metadata": {"annotations": {"gpu.berth.dev/idle-since": "2026-11-25T12:00:00Z"}}})"},
    {"force off a pod whose controller is no DaemonSet", "DELETE",
     "/api/v1/namespaces/team-a/pods/of-set",
     R"({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 1, "preconditions": {"uid": "UID"}})"},
    {"force off a pod that a DaemonSet owns but does not control", "DELETE",
     "/api/v1/namespaces/team-a/pods/owned",
     R"({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 1, "preconditions": {"uid": "UID"}})"},
    {"force off a pod of the cluster's that holds a claim", "DELETE",
     "/api/v1/namespaces/kube-system/pods/claimer",
     R"({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 1, "preconditions": {"uid": "UID"}})"},
    {"lift its own bound", "DELETE", "/api/v1/namespaces/team-a/resourcequotas/berth-nlp", ""},
    {"raise its own bound", "PATCH", "/api/v1/namespaces/team-a/resourcequotas/berth-nlp",
     R"({"spec": {"hard": {"requests.nvidia.com/gpu": "200"}}})"},
    {"delete a PriorityClass of its own", "DELETE",
     "/apis/scheduling.k8s.io/v1/priorityclasses/ours", ""},
    {"name a MIG configuration", "PATCH", "/api/v1/nodes/n1",
     R"({"metadata": {"labels": {"nvidia.com/mig.config": "all-disabled", "nvidia.com/mig.config.state": null}}})"},
    {"keep its record on a node", "PATCH", "/api/v1/nodes/n1",
     R"({"metadata": {"annotations": {"gpu.berth.dev/mig-rollout": "{}"}}})"},
    {"cordon", "PATCH", "/api/v1/nodes/n1", R"({"spec": {"unschedulable": true}})"},
    {"bring back a paused operand", "PATCH", "/api/v1/nodes/n1",
     R"({"metadata": {"labels": {"nvidia.com/gpu.deploy.device-plugin": "true"}}})"},
    {"write a key that the values list", "PATCH", "/api/v1/nodes/n1",
     R"({"metadata": {"labels": {"example.com/pool": "a"}}})"},
    {"evict", "POST", "/api/v1/namespaces/team-a/pods/victim/eviction",
     R"({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "victim"},)"
     R"( "deleteOptions": {"preconditions": {"uid": "UID"}}})"},
    {"force off", "DELETE", "/api/v1/namespaces/team-a/pods/victim",
     R"({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 1,)"
     R"( "preconditions": {"uid": "UID"}})"},
    {"hold a layout", "PATCH", "/apis/gpu.berth.dev/v1alpha1/miglayouts/inference-a100",
     R"({"metadata": {"finalizers": ["example.com/other", "gpu.berth.dev/finalizer"]}})"},
    {"write a layout's status", "PATCH",
     "/apis/gpu.berth.dev/v1alpha1/miglayouts/inference-a100/status", R"({"status": {}})"},
    {"render the agents' file", "PATCH",
     "/api/v1/namespaces/gpu-operator/configmaps/berth-mig-parted-config",
     R"({"data": {"config.yaml": "x"}})"},
    {"begin its ledger", "POST", "/api/v1/namespaces/berth-system/configmaps",
     R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "berth-node-slots",)"
     R"( "labels": {"app.kubernetes.io/managed-by": "berth", "velero.io/exclude-from-backup": "true"},)"
     R"( "annotations": {"gpu.berth.dev/epoch": "1"}}})"},
    {"begin its ledger of admissions", "POST", "/api/v1/namespaces/berth-system/configmaps",
     R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "berth-admissions",)"
     R"( "labels": {"app.kubernetes.io/managed-by": "berth"}, "annotations": {"gpu.berth.dev/epoch": "1"}}})"},
    {"begin what queues have used", "POST", "/api/v1/namespaces/berth-system/configmaps",
     R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "berth-usage",)"
     R"( "labels": {"app.kubernetes.io/managed-by": "berth"}}, "data": {"checkpoint": "{}"}})"},
    {"begin what GPUs have cost", "POST", "/api/v1/namespaces/berth-system/configmaps",
     R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "berth-costs",)"
     R"( "labels": {"app.kubernetes.io/managed-by": "berth"}}, "data": {"checkpoint": "x"}})"},
    {"begin a part of the history", "POST", "/api/v1/namespaces/berth-system/configmaps",
     R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "berth-history-7",)"
     R"( "labels": {"app.kubernetes.io/managed-by": "berth"}}, "data": {"chunk": "7"}})"},
    {"remember what is wrong with a node's GPUs", "PATCH", "/api/v1/nodes/n1",
     R"({"metadata": {"annotations": {"gpu.berth.dev/health": "{}"}}, "spec": {"unschedulable": true}})"},
    {"make a Job that proves a node", "POST", kProofs, kProof},
    {"tell that a pod's GPUs are idle", "PATCH", "/api/v1/namespaces/team-a/pods/gated",
     R"({"metadata": {"annotations": {"gpu.berth.dev/idle-since": "2026-11-25T12:00:00Z"}}})"},
    {"report that the GPUs of a pod with a mark are idle", "PATCH",
     "/api/v1/namespaces/team-a/pods/alive",
     R"({"metadata": {"annotations": {"gpu.berth.dev/idle-since": "2026-11-25T12:00:00Z"}}})"},
    {"remove a mark", "PATCH", "/api/v1/namespaces/team-a/pods/lost",
     R"({"metadata": {"annotations": {"gpu.berth.dev/on-dead-node-since": null}}})"},
    {"mark a pod that terminates as lost", "PATCH", "/api/v1/namespaces/team-a/pods/terminates",
     R"({"metadata": {"annotations": {"gpu.berth.dev/on-dead-node-since": "2026-11-25T12:00:00Z"}}})"},
    {"fail a lost pod", "PATCH", "/api/v1/namespaces/team-a/pods/lost/status",
     R"({"status": {"phase": "Failed", "reason": "ForceDeleted", "message": "x", "conditions":)"
     R"( [{"$patch": "replace"}, {"type": "DisruptionTarget", "status": "True", "reason":)"
     R"( "ForceDeleted", "message": "x", "lastTransitionTime": "2026-11-25T12:00:00Z"}]}})"},
    {"delete a lost pod by force", "DELETE", "/api/v1/namespaces/team-a/pods/lost",
     R"({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0,)"
     R"( "preconditions": {"uid": "UID"}})"},
    {"have a queue's Job replace pods that can't leave", "PATCH",
     "/apis/batch/v1/namespaces/team-a/jobs/queued",
     R"({"spec": {"podReplacementPolicy": "TerminatingOrFailed"}})"},
    {"let a pod go", "PATCH", "/api/v1/namespaces/team-a/pods/gated",
     R"({"metadata": {"annotations": {"gpu.berth.dev/admitted": "{}"}}, "spec": {"nodeSelector":)"
     R"( {"gpu.berth.dev/pool": "lab"}, "affinity": {"nodeAffinity":)"
     R"( {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions":)"
     R"( [{"key": "zone", "operator": "In", "values": ["a"]}], "matchFields": [{"key": "metadata.name",)"
     R"( "operator": "In", "values": ["n1"]}]}]}}}, "schedulingGates": [{"$patch": "replace"},)"
     R"( {"name": "example.com/x"}]}})"},
    {"tell why a pod waits", "PATCH", "/api/v1/namespaces/team-a/pods/gated",
     R"({"metadata": {"annotations": {"gpu.berth.dev/pending-reason": "WaitingForQuota: x"}}})"},
    {"resume a Job", "PATCH", "/apis/batch/v1/namespaces/team-a/jobs/waits",
     R"({"metadata": {"annotations": {"gpu.berth.dev/admitted": "{}"}}, "spec": {"suspend": false, "template":)"
     R"( {"metadata": {"annotations": {"gpu.berth.dev/admitted": "{}"}}, "spec": {"nodeSelector":)"
     R"( {"gpu.berth.dev/pool": "lab"}, "affinity": {"nodeAffinity":)"
     R"( {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions":)"
     R"( [{"key": "zone", "operator": "In", "values": ["a"]}, {"key": "kubernetes.io/hostname",)"
     R"( "operator": "In", "values": ["n1", "n2"]}]}]}}}}}}})"},
    {"take its Lease", "POST", "/apis/coordination.k8s.io/v1/namespaces/berth-system/leases",
     R"({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "berth-controller"}})"},
    {"take the cluster's Lease", "POST",
     "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases",
     R"({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "berth-cluster"}})"},
    {"ask who a token is", "POST", "/apis/authentication.k8s.io/v1/tokenreviews",
     R"({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": "x"}})"},
    {"tell of a pod that came past the webhook", "POST",
     "/apis/events.k8s.io/v1/namespaces/team-a/events", kEvent},
    {"taint a pool's node", "PATCH", "/api/v1/nodes/n1",
     R"({"spec": {"taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]}})"},
    {"name a device plugin's configuration", "PATCH", "/api/v1/nodes/n1",
     R"({"metadata": {"labels": {"nvidia.com/device-plugin.config": "lab", "gpu.berth.dev/pool": "lab"}}})"},
    {"render the device plugin's file", "PATCH",
     "/api/v1/namespaces/gpu-operator/configmaps/berth-device-plugin-config",
     R"({"data": {"lab": "version: v1"}})"},
    {"bound a queue's namespace", "POST", "/api/v1/namespaces/team-a/resourcequotas", kBoundGpus},
    {"make its PriorityClass", "POST", "/apis/scheduling.k8s.io/v1/priorityclasses",
     R"({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "mine",)"
     R"( "labels": {"app.kubernetes.io/managed-by": "berth"}}, "value": 1, "preemptionPolicy": "Never"})"},
    {"hold the policy", "PATCH", "/apis/gpu.berth.dev/v1alpha1/gpuclusterpolicies/cluster",
     R"({"metadata": {"finalizers": ["gpu.berth.dev/finalizer"]}})"},
    {"write the policy's status", "PATCH",
     "/apis/gpu.berth.dev/v1alpha1/gpuclusterpolicies/cluster/status", R"({"status": {}})"},
    {"evict within budgets what a drain of all pods takes", "POST",
     "/api/v1/namespaces/kube-system/pods/dns/eviction",
     R"({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "dns"},)"
     R"( "deleteOptions": {"preconditions": {"uid": "UID"}}})"},
    {"force off a pod without GPUs", "DELETE", "/api/v1/namespaces/team-a/pods/plain",
     R"({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 1,)"
     R"( "preconditions": {"uid": "UID"}})"},
    {"force off a GPU pod of the cluster's", "DELETE",
     "/api/v1/namespaces/kube-system/pods/trainer",
     R"({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 1,)"
     R"( "preconditions": {"uid": "UID"}})"},
    {"force off a GPU pod with a queue's record that names a DaemonSet", "DELETE",
     "/api/v1/namespaces/team-a/pods/claimed",
     R"({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 1,)"
     R"( "preconditions": {"uid": "UID"}})"},
    {"force off a GPU pod with a queue's record that is marked as a kubelet's", "DELETE",
     "/api/v1/namespaces/team-a/pods/mirrored",
     R"({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 1,)"
     R"( "preconditions": {"uid": "UID"}})"},
    {"open a node", "PATCH", "/api/v1/nodes/plain", R"({"spec": {"unschedulable": null}})"},
    {"note when the agents' file was rendered", "PATCH",
     "/api/v1/namespaces/gpu-operator/configmaps/berth-mig-parted-config",
     R"({"metadata": {"annotations": {"gpu.berth.dev/rendered-at": "2026-01-01T00:00:00Z"}}})"},
};

}  // namespace

std::span<const Act> granted_acts() { return kGranted; }

}  // namespace berth::test
