// SPDX-License-Identifier: Apache-2.0
#include "tests/apiserver/chart_acts.h"

namespace berth::test {
namespace {

// POST and PUT of these bodies are well-formed enough to reach admission.
constexpr char kPod[] =
    R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "own"}, "spec": {"containers": [)"
    R"({"name": "main", "image": "registry.example/evil:1", "securityContext": {"runAsNonRoot": true,)"
    R"( "runAsUser": 65532, "allowPrivilegeEscalation": false, "seccompProfile": {"type": "RuntimeDefault"},)"
    R"( "capabilities": {"drop": ["ALL"]}}}]}})";
constexpr char kImage[] =
    R"({"spec": {"containers": [{"name": "main", "image": "registry.example/evil:1"}]}})";
constexpr char kNode[] = R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "mine"}})";
constexpr char kMap[] =
    R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "mine"}, "data": {"a": "b"}})";
constexpr char kLease[] =
    R"({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "mine"}})";
constexpr char kLayout[] =
    R"({"apiVersion": "gpu.berth.dev/v1alpha1", "kind": "MIGLayout", "metadata": {"name": "mine"},)"
    R"( "spec": {"nodeSelector": {}, "devices": [{"profiles": {"1g.10gb": 7}}]}})";
constexpr char kClass[] =
    R"({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "mine"},)"
    R"( "value": 1000000, "preemptionPolicy": "Never"})";
constexpr char kPreempting[] =
    R"({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "mine",)"
    R"( "labels": {"app.kubernetes.io/managed-by": "berth"}}, "value": 1000000})";
constexpr char kForgedEvent[] =
    R"({"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "mine"},)"
    R"( "eventTime": "2026-01-01T00:00:00.000000Z", "type": "Normal", "reason": "A", "action": "A",)"
    R"( "reportingController": "default-scheduler", "reportingInstance": "a",)"
    R"( "regarding": {"kind": "Pod", "name": "victim", "namespace": "team-a"}})";
constexpr char kEvent[] =
    R"({"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "mine"},)"
    R"( "eventTime": "2026-01-01T00:00:00.000000Z", "type": "Normal", "reason": "A", "action": "A",)"
    R"( "reportingController": "berth", "reportingInstance": "berth",)"
    R"( "regarding": {"kind": "Pod", "name": "victim", "namespace": "team-a"}})";

const Act kUngranted[] = {
    {"read all Secrets", "GET", "/api/v1/secrets", ""},
    {"read the Secrets of its own namespace", "GET", "/api/v1/namespaces/berth-system/secrets", ""},
    {"read the Secrets beside NVIDIA's agents", "GET", "/api/v1/namespaces/gpu-operator/secrets",
     ""},
    {"make a Secret beside NVIDIA's agents", "POST", "/api/v1/namespaces/gpu-operator/secrets",
     R"({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "mine"}})"},
    {"read another Secret of its namespace", "GET", "/api/v1/namespaces/berth-system/secrets/other",
     ""},
    {"delete the webhook's Secret", "DELETE",
     "/api/v1/namespaces/berth-system/secrets/berth-webhook-tls", ""},
    {"change another's webhook", "PATCH",
     "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/other",
     R"({"webhooks": []})"},
    {"delete its webhook", "DELETE",
     "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/berth-webhook", ""},
    {"make a policy", "POST", "/apis/gpu.berth.dev/v1alpha1/gpuclusterpolicies", kPolicy},
    {"delete the policy", "DELETE", "/apis/gpu.berth.dev/v1alpha1/gpuclusterpolicies/cluster", ""},
    {"make a namespace", "POST", "/api/v1/namespaces",
     R"({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "mine"}})"},
    {"run a pod of its own", "POST", "/api/v1/namespaces/berth-system/pods", kPod},
    {"run a pod beside NVIDIA's agents", "POST", "/api/v1/namespaces/gpu-operator/pods", kPod},
    {"change a pod's image", "PATCH", "/api/v1/namespaces/team-a/pods/victim", kImage},
    {"add a debugging container", "PATCH",
     "/api/v1/namespaces/team-a/pods/victim/ephemeralcontainers",
     R"({"spec": {"ephemeralContainers": [{"name": "in", "image": "registry.example/evil:1"}]}})"},
    {"run a command in a pod", "POST",
     "/api/v1/namespaces/team-a/pods/victim/exec?command=id&stdout=true", ""},
    {"attach to a pod", "POST", "/api/v1/namespaces/team-a/pods/victim/attach?stdout=true", ""},
    {"forward a pod's ports", "POST", "/api/v1/namespaces/team-a/pods/victim/portforward", ""},
    {"read a pod's log", "GET", "/api/v1/namespaces/team-a/pods/victim/log", ""},
    {"write a pod's status", "PATCH", "/api/v1/namespaces/team-a/pods/victim/status",
     R"({"status": {"phase": "Failed"}})"},
    {"bind a pod to a node", "POST", "/api/v1/namespaces/team-a/pods/victim/binding",
     R"({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "victim"}, "target": {"name": "n1"}})"},
    {"delete all pods of a namespace", "DELETE", "/api/v1/namespaces/team-a/pods", ""},
    {"join a node", "POST", "/api/v1/nodes", kNode},
    {"delete a node", "DELETE", "/api/v1/nodes/n1", ""},
    {"write a node's status", "PATCH", "/api/v1/nodes/n1/status",
     R"({"status": {"capacity": {"nvidia.com/gpu": "64"}}})"},
    {"talk to a kubelet", "GET", "/api/v1/nodes/n1/proxy/pods", ""},
    {"make a layout", "POST", "/apis/gpu.berth.dev/v1alpha1/miglayouts", kLayout},
    {"delete a layout", "DELETE", "/apis/gpu.berth.dev/v1alpha1/miglayouts/inference-a100", ""},
    {"make a ConfigMap beside NVIDIA's agents", "POST",
     "/api/v1/namespaces/gpu-operator/configmaps", kMap},
    {"change another ConfigMap of NVIDIA's agents", "PATCH",
     "/api/v1/namespaces/gpu-operator/configmaps/kube-root-ca.crt", R"({"data": {"ca.crt": "x"}})"},
    {"delete the agents' ConfigMap", "DELETE",
     "/api/v1/namespaces/gpu-operator/configmaps/berth-mig-parted-config", ""},
    {"change another ConfigMap of its namespace", "PATCH",
     "/api/v1/namespaces/berth-system/configmaps/kube-root-ca.crt", R"({"data": {"ca.crt": "x"}})"},
    {"read all ConfigMaps of its namespace", "GET", "/api/v1/namespaces/berth-system/configmaps",
     ""},
    {"delete its ledger", "DELETE", "/api/v1/namespaces/berth-system/configmaps/berth-node-slots",
     ""},
    {"read other namespaces' ConfigMaps", "GET", "/api/v1/namespaces/kube-system/configmaps", ""},
    {"take another's Lease", "PATCH",
     "/apis/coordination.k8s.io/v1/namespaces/berth-system/leases/other",
     R"({"spec": {"holderIdentity": "mine"}})"},
    {"make a Lease elsewhere", "POST", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases",
     kLease},
    {"lift a disruption budget", "PATCH",
     "/apis/policy/v1/namespaces/team-a/poddisruptionbudgets/any",
     R"({"spec": {"minAvailable": 0}})"},
    {"delete a disruption budget", "DELETE",
     "/apis/policy/v1/namespaces/team-a/poddisruptionbudgets/any", ""},
    {"change its own Deployment", "PATCH",
     "/apis/apps/v1/namespaces/berth-system/deployments/berth", R"({"spec": {"replicas": 0}})"},
    {"change NVIDIA's DaemonSets", "PATCH",
     "/apis/apps/v1/namespaces/gpu-operator/daemonsets/nvidia-mig-manager",
     R"({"spec": {"minReadySeconds": 1}})"},
    {"delete a Job", "DELETE", "/apis/batch/v1/namespaces/team-a/jobs/any", ""},
    {"change NVIDIA's ClusterPolicy", "PATCH", "/apis/nvidia.com/v1/clusterpolicies/cluster-policy",
     R"({"spec": {}})"},
    {"make a token", "POST", "/api/v1/namespaces/kube-system/serviceaccounts/default/token",
     R"({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})"},
    {"make itself administrator", "POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
     kToAdmin},
    {"widen its own role", "PATCH", "/apis/rbac.authorization.k8s.io/v1/clusterroles/berth",
     R"({"rules": []})"},
    {"loosen its own policy", "PATCH",
     "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/berth-nodes",
     R"({"spec": {"failurePolicy": "Ignore"}})"},
    {"unbind its own policy", "DELETE",
     "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/berth-pods", ""},
    {"put a webhook before everything", "POST",
     "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
     R"({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",)"
     R"( "metadata": {"name": "mine"}})"},
    {"change its own CRD", "PATCH",
     "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/miglayouts.gpu.berth.dev",
     R"({"metadata": {"labels": {"a": "b"}}})"},
    {"relabel a namespace", "PATCH", "/api/v1/namespaces/team-a",
     R"({"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "privileged"}}})"},
    {"delete a namespace", "DELETE", "/api/v1/namespaces/team-a", ""},
    {"make a volume of a host's folder", "POST", "/api/v1/persistentvolumes",
     R"({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "mine"}})"},
    {"ask who a token is", "POST", "/apis/authentication.k8s.io/v1/tokenreviews",
     R"({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": "x"}})"},
};

const Act kConfined[] = {
    {"lure pods with a label", "PATCH", "/api/v1/nodes/n1",
     R"({"metadata": {"labels": {"example.com/team": "a"}}})", "node labels example.com/team"},
    {"make a node a control plane", "PATCH", "/api/v1/nodes/n1",
     R"({"metadata": {"labels": {"node-role.kubernetes.io/control-plane": ""}}})",
     "node labels node-role.kubernetes.io/control-plane"},
    {"take a label away", "PATCH", "/api/v1/nodes/n1",
     R"({"metadata": {"labels": {"kubernetes.io/hostname": null}}})",
     "node labels kubernetes.io/hostname"},
    {"lie about the GPUs", "PATCH", "/api/v1/nodes/n1",
     R"({"metadata": {"labels": {"nvidia.com/gpu.product": "NVIDIA-H200"}}})",
     "node labels nvidia.com/gpu.product"},
    {"pass a label off as its own", "PATCH", "/api/v1/nodes/n1",
     R"({"metadata": {"labels": {"gpu.berth.dev.example.com/x": "a"}}})",
     "node labels gpu.berth.dev.example.com/x"},
    {"switch NVIDIA's driver off", "PATCH", "/api/v1/nodes/n1",
     R"({"metadata": {"labels": {"nvidia.com/gpu.deploy.driver": "false"}}})",
     "may only bring back an operand"},
    {"switch an operand on that a person switched off", "PATCH", "/api/v1/nodes/n1",
     R"({"metadata": {"labels": {"nvidia.com/gpu.deploy.dcgm-exporter": "true"}}})",
     "may only bring back an operand"},
    {"write others' annotations", "PATCH", "/api/v1/nodes/n1",
     R"({"metadata": {"annotations": {"node.alpha.kubernetes.io/ttl": "9"}}})",
     "node annotations node.alpha.kubernetes.io/ttl"},
    {"let pods onto a control plane", "PATCH", "/api/v1/nodes/n2", R"({"spec": {"taints": null}})",
     "node taints node-role.kubernetes.io/control-plane:NoSchedule"},
    {"end a node's pods by a taint", "PATCH", "/api/v1/nodes/n1",
     R"({"spec": {"taints": [{"key": "gpu.berth.dev/x", "effect": "NoExecute"}]}})",
     "node taints gpu.berth.dev/x:NoExecute"},
    {"taint a node with another's key", "PATCH", "/api/v1/nodes/n1",
     R"({"spec": {"taints": [{"key": "example.com/x", "effect": "NoSchedule"}]}})",
     "node taints example.com/x:NoSchedule"},
    {"claim another machine", "PATCH", "/api/v1/nodes/n1",
     R"({"spec": {"providerID": "cloud://other"}})", "only change unschedulable"},
    {"hold a node by a finalizer", "PATCH", "/api/v1/nodes/n1",
     R"({"metadata": {"finalizers": ["gpu.berth.dev/finalizer"]}})", "finalizers and owners"},
    {"have a node collected", "PATCH", "/api/v1/nodes/n1",
     R"({"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Namespace", "name": "x",)"
     R"( "uid": "0"}]}})",
     "finalizers and owners"},
    {"delete a pod whatever it is by now", "DELETE", "/api/v1/namespaces/team-a/pods/victim", "",
     "must name the pod's uid"},
    {"delete a pod without grace", "DELETE", "/api/v1/namespaces/team-a/pods/victim",
     R"({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0,)"
     R"( "preconditions": {"uid": "UID"}})",
     "without a grace period"},
    {"evict a pod whatever it is by now", "POST", "/api/v1/namespaces/team-a/pods/victim/eviction",
     R"({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "victim"}})",
     "must name the pod's uid"},
    {"evict a pod without grace", "POST", "/api/v1/namespaces/team-a/pods/victim/eviction",
     R"({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "victim"},)"
     R"( "deleteOptions": {"gracePeriodSeconds": 0, "preconditions": {"uid": "UID"}}})",
     "without a grace period"},
    {"change what a layout asks for", "PATCH",
     "/apis/gpu.berth.dev/v1alpha1/miglayouts/inference-a100",
     R"({"spec": {"rollout": {"maxUnavailable": 8}}})", "what a layout or a policy asks for"},
    {"label a layout", "PATCH", "/apis/gpu.berth.dev/v1alpha1/miglayouts/inference-a100",
     R"({"metadata": {"labels": {"a": "b"}}})", "labels, annotations and owners"},
    {"let go what another holds", "PATCH", "/apis/gpu.berth.dev/v1alpha1/miglayouts/inference-a100",
     R"({"metadata": {"finalizers": []}})", "others' finalizers"},
    {"fill its namespace", "POST", "/api/v1/namespaces/berth-system/configmaps", kMap,
     "may not write configmaps/berth-system/mine"},
    {"make another Lease", "POST", "/apis/coordination.k8s.io/v1/namespaces/berth-system/leases",
     kLease, "may not write leases/berth-system/mine"},
    {"report in the scheduler's name", "POST", "/apis/events.k8s.io/v1/namespaces/team-a/events",
     kForgedEvent, "reports events as itself only"},
    {"make another Secret", "POST", "/api/v1/namespaces/berth-system/secrets",
     R"({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "mine"}})",
     "may not write secrets/berth-system/mine"},
    {"have a token made for it", "POST", "/api/v1/namespaces/berth-system/secrets",
     R"({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "berth-webhook-tls",)"
     R"( "annotations": {"kubernetes.io/service-account.name": "default"}},)"
     R"( "type": "kubernetes.io/service-account-token"})",
     "of type kubernetes.io/tls only"},
    {"make a PriorityClass that is not its own", "POST",
     "/apis/scheduling.k8s.io/v1/priorityclasses", kClass, "no PriorityClass but its own"},
    {"make a PriorityClass that preempts", "POST", "/apis/scheduling.k8s.io/v1/priorityclasses",
     kPreempting, "preempt nobody"},
    {"delete another's PriorityClass", "DELETE",
     "/apis/scheduling.k8s.io/v1/priorityclasses/others", "", "no PriorityClass but its own"},
    {"change what the policy asks for", "PATCH",
     "/apis/gpu.berth.dev/v1alpha1/gpuclusterpolicies/cluster",
     R"({"spec": {"priorityClasses": [{"name": "mine", "value": 1}]}})", "or a policy asks for"},
};

const Act kConfinedAdministrator[] = {
    {"run a pod", "POST", "/api/v1/namespaces/berth-system/pods", kPod, "only evict or delete"},
    {"change a pod's image", "PATCH", "/api/v1/namespaces/team-a/pods/victim", kImage,
     "only evict or delete"},
    {"add a debugging container", "PATCH",
     "/api/v1/namespaces/team-a/pods/victim/ephemeralcontainers",
     R"({"spec": {"ephemeralContainers": [{"name": "in", "image": "registry.example/evil:1"}]}})",
     "only evict or delete"},
    {"run a command in a pod", "POST",
     "/api/v1/namespaces/team-a/pods/victim/exec?command=id&stdout=true", "",
     "only evict or delete"},
    {"write a pod's status", "PATCH", "/api/v1/namespaces/team-a/pods/victim/status",
     R"({"status": {"phase": "Failed"}})", "only evict or delete"},
    {"join a node", "POST", "/api/v1/nodes", kNode, "neither creates nor deletes nodes"},
    {"delete a node", "DELETE", "/api/v1/nodes/n1", "", "neither creates nor deletes nodes"},
    {"write a node's status", "PATCH", "/api/v1/nodes/n1/status",
     R"({"status": {"capacity": {"nvidia.com/gpu": "64"}}})", "their status to the kubelet"},
    {"make a layout", "POST", "/apis/gpu.berth.dev/v1alpha1/miglayouts", kLayout,
     "neither creates nor deletes layouts"},
    {"delete a layout", "DELETE", "/apis/gpu.berth.dev/v1alpha1/miglayouts/inference-a100", "",
     "neither creates nor deletes layouts"},
    {"change another ConfigMap of its namespace", "PATCH",
     "/api/v1/namespaces/berth-system/configmaps/kube-root-ca.crt", R"({"data": {"ca.crt": "x"}})",
     "may not write configmaps/berth-system/kube-root-ca.crt"},
    {"write into kube-system", "POST", "/api/v1/namespaces/kube-system/configmaps", kMap,
     "may not write configmaps/kube-system/mine"},
    {"delete the agents' ConfigMap", "DELETE",
     "/api/v1/namespaces/gpu-operator/configmaps/berth-mig-parted-config", "",
     "deletes no ConfigMap"},
};

const Act kGranted[] = {
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
     R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "berth-node-slots"}})"},
    {"take its Lease", "POST", "/apis/coordination.k8s.io/v1/namespaces/berth-system/leases",
     R"({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "berth-controller"}})"},
    {"tell of a pod that came past the webhook", "POST",
     "/apis/events.k8s.io/v1/namespaces/team-a/events", kEvent},
    {"taint a pool's node", "PATCH", "/api/v1/nodes/n1",
     R"({"spec": {"taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]}})"},
    {"name a device plugin's configuration", "PATCH", "/api/v1/nodes/n1",
     R"({"metadata": {"labels": {"nvidia.com/device-plugin.config": "lab", "gpu.berth.dev/pool": "lab"}}})"},
    {"render the device plugin's file", "PATCH",
     "/api/v1/namespaces/gpu-operator/configmaps/berth-device-plugin-config",
     R"({"data": {"lab": "version: v1"}})"},
    {"make its PriorityClass", "POST", "/apis/scheduling.k8s.io/v1/priorityclasses",
     R"({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "mine",)"
     R"( "labels": {"app.kubernetes.io/managed-by": "berth"}}, "value": 1, "preemptionPolicy": "Never"})"},
    {"hold the policy", "PATCH", "/apis/gpu.berth.dev/v1alpha1/gpuclusterpolicies/cluster",
     R"({"metadata": {"finalizers": ["gpu.berth.dev/finalizer"]}})"},
    {"write the policy's status", "PATCH",
     "/apis/gpu.berth.dev/v1alpha1/gpuclusterpolicies/cluster/status", R"({"status": {}})"},
    {"keep the webhook's certificate", "POST", "/api/v1/namespaces/berth-system/secrets",
     R"({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "berth-webhook-tls"},)"
     R"( "type": "kubernetes.io/tls", "data": {"tls.crt": "", "tls.key": ""}})"},
    {"tell of its authority", "PATCH",
     "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/berth-webhook",
     R"({"metadata": {"annotations": {"a": "b"}}})"},
};

const Act kReading[] = {
    {"read pods", "GET", "/api/v1/pods", ""},
    {"read its own Secret", "GET", "/api/v1/namespaces/berth-system/secrets/berth-webhook-tls", ""},
    {"read ConfigMaps", "GET", "/api/v1/namespaces/gpu-operator/configmaps", ""},
    {"label a node", "PATCH", "/api/v1/nodes/n1",
     R"({"metadata": {"labels": {"gpu.berth.dev/pool": "a"}}})"},
    {"evict", "POST", "/api/v1/namespaces/team-a/pods/victim/eviction",
     R"({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "victim"}})"},
    {"hold a layout", "PATCH", "/apis/gpu.berth.dev/v1alpha1/miglayouts/inference-a100",
     R"({"metadata": {"finalizers": []}})"},
    {"write the policy's status", "PATCH",
     "/apis/gpu.berth.dev/v1alpha1/gpuclusterpolicies/cluster/status", R"({"status": {}})"},
    {"change its own configuration", "PATCH",
     "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/berth-webhook",
     R"({"webhooks": []})"},
    {"opt a namespace out", "PATCH", "/api/v1/namespaces/team-a",
     R"({"metadata": {"labels": {"gpu.berth.dev/managed": null}}})"},
    {"take the controller's Lease", "PATCH",
     "/apis/coordination.k8s.io/v1/namespaces/berth-system/leases/berth-controller",
     R"({"spec": {"holderIdentity": "mine"}})"},
};

}  // namespace

std::span<const Act> ungranted_acts() { return kUngranted; }
std::span<const Act> confined_acts() { return kConfined; }
std::span<const Act> confined_administrators_acts() { return kConfinedAdministrator; }
std::span<const Act> granted_acts() { return kGranted; }
std::span<const Act> acts_beyond_the_webhook() { return kReading; }

}  // namespace berth::test
