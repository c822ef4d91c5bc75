// SPDX-License-Identifier: Apache-2.0
// A pod and a node in the form of the API server, shortened, for the tests of decode. Fields that
// berth skips are between those that it reads.
#pragma once

#include <string>

#include "apis/codec/decode.h"

namespace berth::test {

inline constexpr char kPod[] =
    R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"train-0","generateName":"train-","namespace":"vision",
"uid":"6fe9d087","resourceVersion":"4711","generation":2,"creationTimestamp":"2026-11-21T14:22:49Z",
"deletionTimestamp":"2026-11-21T15:00:00Z","deletionGracePeriodSeconds":30,
"labels":{"app":"train","gpu.berth.dev/pod-group":"g\u0031"},
"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"a\":[1]}","gpu.berth.dev/last-checkpoint":"2026-11-21T14:00:00Z",
"cluster-autoscaler.kubernetes.io/safe-to-evict":"false"},
"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"train","uid":"77","controller":true,"blockOwnerDeletion":true}],
"finalizers":["batch.kubernetes.io/job-tracking"],
"managedFields":[{"manager":"kubelet","operation":"Update","fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:app":{}}}}}]},
"spec":{"volumes":[{"name":"c","configMap":{"name":"x"}},{"name":"tmp","emptyDir":{}}],
"initContainers":[{"name":"proxy","restartPolicy":"Always","resources":{"requests":{"cpu":"100m"}}},
{"name":"fetch","resources":{"requests":{"cpu":"3","memory":"1Gi"},"limits":{"cpu":"4"}}}],
"containers":[{"name":"a","image":"i","env":[{"name":"X","value":"}]\"{["}],"resources":{"limits":{"nvidia.com/gpu":"2"},"requests":{"cpu":"500m","memory":"2Gi","nvidia.com/gpu":"2"}}},
{"name":"b","resources":{}},{"name":"c","resources":{"requests":{"cpu":"250m"}}}],
"restartPolicy":"Never","terminationGracePeriodSeconds":60,"nodeSelector":{"tier":"gold"},"nodeName":"n1","schedulerName":"default-scheduler",
"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"In","values":["a","b"]}],
"matchFields":[{"key":"metadata.name","operator":"NotIn","values":["n9"]}]}]}},"podAffinity":{"x":1}},
"schedulingGates":[{"name":"gpu.berth.dev/queue"}],"resourceClaims":[{"name":"gpu"}],
"tolerations":[{"key":"nvidia.com/gpu","operator":"Exists","effect":"NoSchedule"}],"priority":-5,"overhead":{"cpu":"10m"}},
"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"startTime":"2026-11-21T14:23:00Z","podIP":"10.0.0.1"}})";

inline constexpr char kNode[] =
    R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n1","uid":"u1","resourceVersion":"9","labels":{"nvidia.com/gpu.count":"4"},
"annotations":{"gpu.berth.dev/mig-rollout":"{\"seq\":1}","volumes.kubernetes.io/controller-managed-attach-detach":"true"}},
"spec":{"podCIDR":"10.0.0.0/24","unschedulable":true,"taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule","timeAdded":"2026-11-21T14:22:49Z"}]},
"status":{"capacity":{"cpu":"64","nvidia.com/gpu":"4"},"allocatable":{"cpu":"63500m","memory":"263Gi","nvidia.com/gpu":"0","nvidia.com/mig-1g.10gb":"14"},
"conditions":[{"type":"MemoryPressure","status":"False"},{"type":"Ready","status":"True"},{"type":"DiskPressure","status":"True"},
{"type":"AcceleratedHardwareReady","status":"False","reason":"NvidiaXID79Error"},{"type":"GPUMissing","status":"False","reason":"NoGPUMissing"}],
"nodeInfo":{"machineID":"m","bootID":"b-1"},"images":[{"names":["x"],"sizeBytes":12345}]}})";

template <class T>
Result<T> decode(std::string body) {
  return decode_object<T>(body);
}

}  // namespace berth::test
