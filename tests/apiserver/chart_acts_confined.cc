// SPDX-License-Identifier: Apache-2.0
// Requests of the controller that RBAC allows and the admission policies refuse, and those that
// both allow.
#include <string>

#include "tests/apiserver/chart_acts.h"

namespace berth::test {
namespace {

constexpr char kBoundGpus[] =
    R"({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "berth-vision", "annotations":)"
    R"( {"gpu.berth.dev/owner": "GPUQueue/vision"}, "ownerReferences": [{"apiVersion":)"
    R"( "gpu.berth.dev/v1alpha1", "kind": "GPUQueue", "name": "vision", "uid": "u"}]}, "spec": {"hard":)"
    R"( {"requests.nvidia.com/gpu": "24"}}})";
constexpr char kBoundCpu[] =
    R"({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "berth-vision", "annotations":)"
    R"( {"gpu.berth.dev/owner": "GPUQueue/vision"}, "ownerReferences": [{"apiVersion":)"
    R"( "gpu.berth.dev/v1alpha1", "kind": "GPUQueue", "name": "vision", "uid": "u"}]}, "spec": {"hard":)"
    R"( {"requests.cpu": "1"}}})";
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

// In berth's namespace, where the chart lets it run validation Jobs.
constexpr char kJobs[] = "/apis/batch/v1/namespaces/berth-system/jobs";
std::string proof(const std::string& image, const std::string& more,
                  const std::string& of_container = "") {
  return R"({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "berth-proof-y",)"
         R"( "labels": {"gpu.berth.dev/proof": "true"}}, "spec": {"activeDeadlineSeconds": 900,)"
         R"( "ttlSecondsAfterFinished": 60, "template": {"spec": {"restartPolicy": "Never",)"
         R"( "automountServiceAccountToken": false, "containers": [{"name": "proof", "image": ")" +
         image + "\"" + of_container + "}]" + more + "}}}}";
}
const std::string kProof = proof("registry.example/cuda:12", "");
const std::string kProofOfAnotherImage = proof("registry.example/evil:1", "");
const std::string kProofOnANode = proof("registry.example/cuda:12", R"(, "nodeName": "n1")");
const std::string kProofOfTheHost = proof("registry.example/cuda:12", R"(, "hostPID": true)");
const std::string kProofWithAVolume = proof(
    "registry.example/cuda:12", R"(, "volumes": [{"name": "v", "secret": {"secretName": "x"}}])");

const std::string kProofWithEnv =
    proof("registry.example/cuda:12", "",
          R"(, "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "x", "key": "k"}}}])");
const std::string kProofWithEnvFrom =
    proof("registry.example/cuda:12", "", R"(, "envFrom": [{"secretRef": {"name": "x"}}])");
const std::string kProofWithMorePower =
    proof("registry.example/cuda:12", "",
          R"(, "securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}})");

const Act kConfined[] = {
    {"prove a node with a Secret in its environment", "POST", kJobs, kProofWithEnv.c_str(),
     "creates no Jobs but those that prove"},
    {"prove a node with a whole Secret in its environment", "POST", kJobs,
     kProofWithEnvFrom.c_str(), "creates no Jobs but those that prove"},
    {"prove a node with more than a program's power", "POST", kJobs, kProofWithMorePower.c_str(),
     "creates no Jobs but those that prove"},
    {"prove a node by another image", "POST", kJobs, kProofOfAnotherImage.c_str(),
     "creates no Jobs but those that prove"},
    {"prove a node past the scheduler", "POST", kJobs, kProofOnANode.c_str(),
     "creates no Jobs but those that prove"},
    {"prove a node among the host's processes", "POST", kJobs, kProofOfTheHost.c_str(),
     "creates no Jobs but those that prove"},
    {"prove a node with a Secret", "POST", kJobs, kProofWithAVolume.c_str(),
     "creates no Jobs but those that prove"},
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
    {"change a pod's image", "PATCH", "/api/v1/namespaces/team-a/pods/victim", kImage,
     "only change its gate"},
    {"let a pod stay on a failing node", "PATCH", "/api/v1/namespaces/team-a/pods/victim",
     R"({"spec": {"tolerations": [{"key": "x", "operator": "Exists", "effect": "NoExecute"}]}})",
     "only change its gate"},
    {"end a pod by a deadline", "PATCH", "/api/v1/namespaces/team-a/pods/victim",
     R"({"spec": {"activeDeadlineSeconds": 1}})", "only change its gate"},
    {"put a pod behind another Service", "PATCH", "/api/v1/namespaces/team-a/pods/victim",
     R"({"metadata": {"labels": {"app": "bank"}}})", "a pod's labels, finalizers and owners"},
    {"hold a pod by a finalizer", "PATCH", "/api/v1/namespaces/team-a/pods/victim",
     R"({"metadata": {"finalizers": ["example.com/x"]}})", "a pod's labels, finalizers and owners"},
    {"fail a pod that runs", "PATCH", "/api/v1/namespaces/team-a/pods/alive/status",
     R"({"status": {"phase": "Failed"}})", "only evict or delete"},
    {"fail a lost pod whose owner did not ask for it", "PATCH",
     "/api/v1/namespaces/team-a/pods/unasked/status", R"({"status": {"phase": "Failed"}})",
     "only evict or delete"},
    {"fail a pod that terminates", "PATCH", "/api/v1/namespaces/team-a/pods/terminates/status",
     R"({"status": {"phase": "Failed"}})", "only evict or delete"},
    {"fail a pod that was marked within its grace period", "PATCH",
     "/api/v1/namespaces/team-a/pods/early/status", R"({"status": {"phase": "Failed"}})",
     "only evict or delete"},
    {"have a lost pod succeed", "PATCH", "/api/v1/namespaces/team-a/pods/lost/status",
     R"({"status": {"phase": "Succeeded"}})", "only say that it has failed"},
    {"report that a lost pod started at another time", "PATCH",
     "/api/v1/namespaces/team-a/pods/lost/status",
     R"({"status": {"phase": "Failed", "startTime": "2020-01-01T00:00:00Z"}})",
     "only say that it has failed"},
    {"remove a lost pod's start time", "PATCH", "/api/v1/namespaces/team-a/pods/lost/status",
     R"({"status": {"phase": "Failed", "startTime": null}})", "only say that it has failed"},
    {"report another condition of a lost pod", "PATCH",
     "/api/v1/namespaces/team-a/pods/lost/status",
     R"({"status": {"phase": "Failed", "conditions": [{"type": "Ready", "status": "Unknown"}]}})",
     "only say that it has failed"},
    {"annotate a lost pod beside its status", "PATCH", "/api/v1/namespaces/team-a/pods/lost/status",
     R"({"metadata": {"annotations": {"example.com/x": "y"}}, "status": {"phase": "Failed"}})",
     "only say that it has failed"},
    {"label a lost pod beside its status", "PATCH", "/api/v1/namespaces/team-a/pods/lost/status",
     R"({"metadata": {"labels": {"app": "bank"}}, "status": {"phase": "Failed"}})",
     "a pod's labels, finalizers and owners"},
    {"mark a pod that runs as lost", "PATCH", "/api/v1/namespaces/team-a/pods/victim",
     R"({"metadata": {"annotations": {"gpu.berth.dev/on-dead-node-since": "2026-11-25T12:00:00Z"}}})",
     "only pods that terminate"},
    {"mark a pod that runs at another time", "PATCH", "/api/v1/namespaces/team-a/pods/alive",
     R"({"metadata": {"annotations": {"gpu.berth.dev/on-dead-node-since": "2026-11-25T12:00:00Z"}}})",
     "only pods that terminate"},
    {"ask to have a pod deleted by force", "PATCH", "/api/v1/namespaces/team-a/pods/victim",
     R"({"metadata": {"annotations": {"gpu.berth.dev/safe-to-force-delete": "true"}}})",
     "selectors gpu.berth.dev/safe-to-force-delete"},
    {"ask to have a Job's pods deleted by force", "PATCH",
     "/apis/batch/v1/namespaces/team-a/jobs/waits",
     R"({"spec": {"template": {"metadata": {"annotations": {"gpu.berth.dev/safe-to-force-delete": "true"}}}}})",
     "selectors gpu.berth.dev/safe-to-force-delete"},
    {"delete a lost pod without grace whose owner did not ask for it", "DELETE",
     "/api/v1/namespaces/team-a/pods/unasked",
     R"({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0,)"
     R"( "preconditions": {"uid": "UID"}})",
     "without a grace period"},
    {"delete a pod that terminates without grace", "DELETE",
     "/api/v1/namespaces/team-a/pods/terminates",
     R"({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0,)"
     R"( "preconditions": {"uid": "UID"}})",
     "without a grace period"},
    {"delete a lost pod whatever it is by now", "DELETE", "/api/v1/namespaces/team-a/pods/lost",
     R"({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0})",
     "must name the pod's uid"},
    {"have a Job of no queue replace pods early", "PATCH",
     "/apis/batch/v1/namespaces/team-a/jobs/elsewhere",
     R"({"spec": {"podReplacementPolicy": "TerminatingOrFailed"}})",
     "only set podReplacementPolicy"},
    {"have a queue's Job replace pods late", "PATCH",
     "/apis/batch/v1/namespaces/team-a/jobs/replaces",
     R"({"spec": {"podReplacementPolicy": "Failed"}})", "only set podReplacementPolicy"},
    {"write a pod's other annotations", "PATCH", "/api/v1/namespaces/team-a/pods/victim",
     R"({"metadata": {"annotations": {"example.com/x": "y"}}})", "selectors example.com/x"},
    {"send a gated pod elsewhere", "PATCH", "/api/v1/namespaces/team-a/pods/gated",
     R"({"spec": {"nodeSelector": {"example.com/zone": "y"}}})", "selectors example.com/zone"},
    {"send a gated pod to a zone", "PATCH", "/api/v1/namespaces/team-a/pods/gated",
     R"({"spec": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":)"
     R"( {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values":)"
     R"( ["a"]}, {"key": "disk", "operator": "Exists"}]}]}}}, "schedulingGates":)"
     R"( [{"$patch": "replace"}, {"name": "example.com/x"}]}})",
     "of a pod's affinity berth may only add the node"},
    {"have a gated pod prefer nodes", "PATCH", "/api/v1/namespaces/team-a/pods/gated",
     R"({"spec": {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution":)"
     R"( [{"weight": 1, "preference": {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}}]}},)"
     R"( "schedulingGates": [{"$patch": "replace"}, {"name": "example.com/x"}]}})",
     "of a pod's affinity berth may only add the node"},
    {"take another's gate away", "PATCH", "/api/v1/namespaces/team-a/pods/gated",
     R"({"spec": {"schedulingGates": [{"$patch": "replace"}, {"name": "gpu.berth.dev/queue"}]}})",
     "changes no other"},
    {"have a Job run more", "PATCH", "/apis/batch/v1/namespaces/team-a/jobs/waits",
     R"({"spec": {"parallelism": 9}})", "of a Job's spec berth may only change suspend"},
    {"have a Job ended by a deadline", "PATCH", "/apis/batch/v1/namespaces/team-a/jobs/waits",
     R"({"spec": {"activeDeadlineSeconds": 1}})", "of a Job's spec berth may only change suspend"},
    {"give a Job's pods other labels", "PATCH", "/apis/batch/v1/namespaces/team-a/jobs/waits",
     R"({"spec": {"template": {"metadata": {"labels": {"app": "bank"}}}}})",
     "of a Job's template berth may only change"},
    {"let a Job's pods onto other nodes", "PATCH", "/apis/batch/v1/namespaces/team-a/jobs/waits",
     R"({"spec": {"template": {"spec": {"tolerations": [{"operator": "Exists"}]}}}})",
     "of a Job's template berth may only change"},
    {"give a Job's pods annotations", "PATCH", "/apis/batch/v1/namespaces/team-a/jobs/waits",
     R"({"spec": {"template": {"metadata": {"annotations": {"example.com/x": "y"}}}}})",
     "selectors example.com/x"},
    {"send a Job's pods elsewhere", "PATCH", "/apis/batch/v1/namespaces/team-a/jobs/waits",
     R"({"spec": {"template": {"spec": {"nodeSelector": {"example.com/zone": "y"}}}}})",
     "selectors example.com/zone"},
    {"let a Job's pods out of their zone", "PATCH", "/apis/batch/v1/namespaces/team-a/jobs/waits",
     R"({"spec": {"template": {"spec": {"affinity": null}}}})",
     "of a Job's affinity berth may only change the nodes"},
    {"let a Job's pods choose between their zone and a node", "PATCH",
     "/apis/batch/v1/namespaces/team-a/jobs/waits",
     R"({"spec": {"template": {"spec": {"affinity": {"nodeAffinity":)"
     R"( {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields":)"
     R"( [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]}}}}}}})",
     "of a Job's affinity berth may only change the nodes"},
    {"have a Job's pods prefer nodes", "PATCH", "/apis/batch/v1/namespaces/team-a/jobs/waits",
     R"({"spec": {"template": {"spec": {"affinity": {"nodeAffinity":)"
     R"( {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference":)"
     R"( {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}}]}}}}}})",
     "of a Job's affinity berth may only change the nodes"},
    {"put a Job into another queue", "PATCH", "/apis/batch/v1/namespaces/team-a/jobs/waits",
     R"({"metadata": {"labels": {"gpu.berth.dev/queue": "other"}}})",
     "a Job's labels, finalizers and owners"},
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
    {"begin a ninth part of the history", "POST", "/api/v1/namespaces/berth-system/configmaps",
     R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "berth-history-8"}})",
     "may not write configmaps/berth-system/berth-history-8"},
    {"make another Lease", "POST", "/apis/coordination.k8s.io/v1/namespaces/berth-system/leases",
     kLease, "may not write leases/berth-system/mine"},
    {"make another Lease beside the cluster's", "POST",
     "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", kLease,
     "may not write leases/kube-system/mine"},
    {"report in the scheduler's name", "POST", "/apis/events.k8s.io/v1/namespaces/team-a/events",
     kForgedEvent, "reports events as itself only"},
    {"make a PriorityClass that is not its own", "POST",
     "/apis/scheduling.k8s.io/v1/priorityclasses", kClass, "no PriorityClass but its own"},
    {"make a PriorityClass that preempts", "POST", "/apis/scheduling.k8s.io/v1/priorityclasses",
     kPreempting, "preempt nobody"},
    {"delete another's PriorityClass", "DELETE",
     "/apis/scheduling.k8s.io/v1/priorityclasses/others", "", "no PriorityClass but its own"},
    {"lift what others bound a namespace to", "DELETE",
     "/api/v1/namespaces/team-a/resourcequotas/others", "", "no ResourceQuota but those"},
    {"bound CPU", "POST", "/api/v1/namespaces/team-a/resourcequotas", kBoundCpu,
     "bounds extended resources alone"},
    {"change what the policy asks for", "PATCH",
     "/apis/gpu.berth.dev/v1alpha1/gpuclusterpolicies/cluster",
     R"({"spec": {"priorityClasses": [{"name": "mine", "value": 1}]}})", "or a policy asks for"},
    {"switch NVIDIA's driver off", "PATCH", "/api/v1/nodes/n1",
     R"({"metadata": {"labels": {"nvidia.com/gpu.deploy.driver": "false"}}})",
     "node labels nvidia.com/gpu.deploy.driver"},
    {"take all operands off a node", "PATCH", "/api/v1/nodes/n1",
     R"({"metadata": {"labels": {"nvidia.com/gpu.deploy.operands": "false"}}})",
     "node labels nvidia.com/gpu.deploy.operands"},
    {"bring back what mig-manager never pauses", "PATCH", "/api/v1/nodes/n1",
     R"({"metadata": {"labels": {"nvidia.com/gpu.deploy.mig-manager": "true"}}})",
     "node labels nvidia.com/gpu.deploy.mig-manager"},
    {"pause an operand", "PATCH", "/api/v1/nodes/n1",
     R"({"metadata": {"labels": {"nvidia.com/gpu.deploy.dcgm": "paused-for-mig-change"}}})",
     "may only bring back an operand"},
    {"take a paused operand's label away", "PATCH", "/api/v1/nodes/n1",
     R"({"metadata": {"labels": {"nvidia.com/gpu.deploy.device-plugin": null}}})",
     "may only bring back an operand"},
    {"report in mig-manager's place", "PATCH", "/api/v1/nodes/n1",
     R"({"metadata": {"labels": {"nvidia.com/mig.config.state": "failed"}}})",
     "node labels nvidia.com/mig.config.state"},
    {"write beside mig-manager's labels", "PATCH", "/api/v1/nodes/n1",
     R"({"metadata": {"labels": {"nvidia.com/mig.config.other": "x"}}})",
     "node labels nvidia.com/mig.config.other"},
    {"change a node's MIG strategy", "PATCH", "/api/v1/nodes/n1",
     R"({"metadata": {"labels": {"nvidia.com/mig.strategy": "none"}}})",
     "node labels nvidia.com/mig.strategy"},
    {"close a control plane", "PATCH", "/api/v1/nodes/plain",
     R"({"spec": {"unschedulable": true}})", "cordons nodes that have GPUs"},
    {"close a node that it says has GPUs", "PATCH", "/api/v1/nodes/plain",
     R"({"metadata": {"labels": {"nvidia.com/mig.config": "x"}}, "spec": {"unschedulable": true}})",
     "cordons nodes that have GPUs"},
    {"evict NVIDIA's agents", "POST", "/api/v1/namespaces/gpu-operator/pods/validator/eviction",
     R"({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "validator"},)"
     R"( "deleteOptions": {"preconditions": {"uid": "UID"}}})",
     "no pod away from gpu-operator"},
    {"delete NVIDIA's agents", "DELETE", "/api/v1/namespaces/gpu-operator/pods/validator",
     R"({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 1,)"
     R"( "preconditions": {"uid": "UID"}})",
     "no pod away from gpu-operator"},
    {"delete the cluster's DNS past its budget", "DELETE",
     "/api/v1/namespaces/kube-system/pods/dns",
     R"({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 1,)"
     R"( "preconditions": {"uid": "UID"}})",
     "deletes only those that hold GPUs"},
    {"delete its own webhook", "DELETE", "/api/v1/namespaces/berth-system/pods/reviews",
     R"({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 1,)"
     R"( "preconditions": {"uid": "UID"}})",
     "deletes only those that hold GPUs"},
    {"delete a pod that a kubelet keeps", "DELETE", "/api/v1/namespaces/team-a/pods/mirror",
     R"({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 1,)"
     R"( "preconditions": {"uid": "UID"}})",
     "has to force off a node"},
    {"delete a DaemonSet's pod", "DELETE", "/api/v1/namespaces/team-a/pods/DAEMON",
     R"({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 1,)"
     R"( "preconditions": {"uid": "UID"}})",
     "has to force off a node"},
    {"delete a DaemonSet's pod that has a queue's record and no GPUs", "DELETE",
     "/api/v1/namespaces/team-a/pods/claims",
     R"({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 1,)"
     R"( "preconditions": {"uid": "UID"}})",
     "has to force off a node"},
    {"delete a pod that waits for a node", "DELETE", "/api/v1/namespaces/team-a/pods/waiting",
     R"({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 1,)"
     R"( "preconditions": {"uid": "UID"}})",
     "without a grace period"},
    {"hold the agents' file by a finalizer", "PATCH",
     "/api/v1/namespaces/gpu-operator/configmaps/berth-mig-parted-config",
     R"({"metadata": {"finalizers": ["gpu.berth.dev/finalizer"]}})", "finalizers and owners"},
    {"have the agents' file collected", "PATCH",
     "/api/v1/namespaces/gpu-operator/configmaps/berth-mig-parted-config",
     R"({"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "x",)"
     R"( "uid": "0"}]}})",
     "finalizers and owners"},
    {"label the agents' file", "PATCH",
     "/api/v1/namespaces/gpu-operator/configmaps/berth-mig-parted-config",
     R"({"metadata": {"labels": {"a": "b"}}})", "labels of what it writes"},
    {"take the release's mark off the agents' file", "PATCH",
     "/api/v1/namespaces/gpu-operator/configmaps/berth-device-plugin-config",
     R"({"metadata": {"annotations": {"meta.helm.sh/release-name": null}}})",
     "annotations meta.helm.sh/release-name"},
    {"begin a ledger that can't be deleted", "POST", "/api/v1/namespaces/berth-system/configmaps",
     R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "berth-node-slots",)"
     R"( "finalizers": ["gpu.berth.dev/finalizer"]}})",
     "finalizers and owners"},
    {"begin a ledger that passes for another's", "POST",
     "/api/v1/namespaces/berth-system/configmaps",
     R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "berth-node-slots",)"
     R"( "labels": {"app.kubernetes.io/instance": "other"}}})",
     "labels of what it writes"},
    {"take a Lease that can't be deleted", "POST",
     "/apis/coordination.k8s.io/v1/namespaces/berth-system/leases",
     R"({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata":)"
     R"( {"name": "berth-controller", "finalizers": ["gpu.berth.dev/finalizer"]}})",
     "finalizers and owners"},
};

const Act kConfinedAdministrator[] = {
    {"run a pod", "POST", "/api/v1/namespaces/berth-system/pods", kPod, "only evict or delete"},
    {"add a debugging container", "PATCH",
     "/api/v1/namespaces/team-a/pods/victim/ephemeralcontainers",
     R"({"spec": {"ephemeralContainers": [{"name": "in", "image": "registry.example/evil:1"}]}})",
     "only evict or delete"},
    {"run a command in a pod", "POST",
     "/api/v1/namespaces/team-a/pods/victim/exec?command=id&stdout=true", "",
     "only evict or delete"},
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
    {"delete all pods of a namespace", "DELETE", "/api/v1/namespaces/team-a/pods", "",
     "must name the pod's uid"},
    {"exchange the webhook's certificate", "PATCH",
     "/api/v1/namespaces/berth-system/secrets/berth-webhook-ca", R"({"data": {"tls.crt": ""}})",
     "may not write secrets/berth-system/berth-webhook-ca"},
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
     R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "berth-node-slots",)"
     R"( "labels": {"app.kubernetes.io/managed-by": "berth"}, "annotations": {"gpu.berth.dev/epoch": "1"}}})"},
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
    {"make a Job that proves a node", "POST", kJobs, kProof.c_str()},
    {"tell that a pod's GPUs are idle", "PATCH", "/api/v1/namespaces/team-a/pods/gated",
     R"({"metadata": {"annotations": {"gpu.berth.dev/idle-since": "2026-11-25T12:00:00Z"}}})"},
    {"report that the GPUs of a pod with a mark are idle", "PATCH",
     "/api/v1/namespaces/team-a/pods/alive",
     R"({"metadata": {"annotations": {"gpu.berth.dev/idle-since": "2026-11-25T12:00:00Z"}}})"},
    {"remove a mark", "PATCH", "/api/v1/namespaces/team-a/pods/alive",
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

std::span<const Act> confined_acts() { return kConfined; }
std::span<const Act> confined_administrators_acts() { return kConfinedAdministrator; }
std::span<const Act> granted_acts() { return kGranted; }

}  // namespace berth::test
