// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	podsPerJob       = 16
	podsPerNamespace = 1000
	trainerImage     = "registry.example.com/ml/llm-trainer"
)

func namespaceOf(i int) int      { return i / podsPerNamespace }
func namespaceName(n int) string { return fmt.Sprintf("team-%02d", n) }
func jobName(i int) string       { return fmt.Sprintf("llm-pretrain-%05d", i/podsPerJob) }
func jobUID(i int) types.UID {
	return types.UID(fmt.Sprintf("5f3c1a52-0000-4000-8000-%012d", i/podsPerJob))
}
func podName(i int) string {
	return fmt.Sprintf("%s-%d-%05x", jobName(i), i%podsPerJob, uint32(i)*2654435761>>12)
}
func pointer[T any](value T) *T { return &value }

// The first 10,000 pods lie on the first 1,000 nodes, so that a recording can be served cut short.
func nodeOf(i int) string {
	if i < 10_000 {
		return nodeName(i % 1000)
	}
	return nodeName(i % 2000)
}

// newPod is one worker of a training Job, as the Job controller and the scheduler leave it.
func newPod(i int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: podName(i), GenerateName: fmt.Sprintf("%s-%d-", jobName(i), i%podsPerJob), Namespace: namespaceName(namespaceOf(i)),
			Labels: map[string]string{
				"app.kubernetes.io/name": "llm-pretrain", "app.kubernetes.io/part-of": "training",
				"team": namespaceName(namespaceOf(i)), "queue-name": "research", "batch.kubernetes.io/job-name": jobName(i),
				"batch.kubernetes.io/job-completion-index": fmt.Sprint(i % podsPerJob),
				"batch.kubernetes.io/controller-uid":       string(jobUID(i))},
			Annotations: map[string]string{
				"prometheus.io/scrape": "true", "prometheus.io/port": "9090",
				"k8s.v1.cni.cncf.io/networks":              "rdma-0,rdma-1,rdma-2,rdma-3",
				"batch.kubernetes.io/job-completion-index": fmt.Sprint(i % podsPerJob)},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: jobName(i), UID: jobUID(i),
				Controller: pointer(true), BlockOwnerDeletion: pointer(true)}},
		},
		Spec: corev1.PodSpec{
			ServiceAccountName: "default", NodeName: nodeOf(i), RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: pointer(int64(60)),
			NodeSelector: map[string]string{"nvidia.com/gpu.product": nvidiaLabels["gpu.product"]},
			Tolerations:  []corev1.Toleration{{Key: "nvidia.com/gpu", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}},
			Containers:   []corev1.Container{trainer(i)},
			Volumes:      volumes(i),
		},
	}
}

func trainer(i int) corev1.Container {
	resources := quantities(map[string]string{"cpu": "22", "memory": "220Gi", "nvidia.com/gpu": fmt.Sprint(1 << (i % 4))})
	probe := &corev1.Probe{PeriodSeconds: 10, ProbeHandler: corev1.ProbeHandler{
		HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(8080)}}}
	return corev1.Container{
		Name: "trainer", Image: trainerImage + ":2026.09.1", Command: []string{"torchrun"},
		Args: []string{"--nnodes=16", "--nproc-per-node=8", "--rdzv-backend=c10d", "train.py", "--config=/etc/train/config.yaml"},
		Env:  environment(i), Resources: corev1.ResourceRequirements{Requests: resources, Limits: resources},
		LivenessProbe: probe, ReadinessProbe: probe,
		Ports: []corev1.ContainerPort{{Name: "metrics", ContainerPort: 9090}, {Name: "rdzv", ContainerPort: 29500}},
		VolumeMounts: []corev1.VolumeMount{{Name: "shm", MountPath: "/dev/shm"}, {Name: "config", MountPath: "/etc/train"},
			{Name: "data", MountPath: "/data"},
			{Name: "kube-api-access", MountPath: "/var/run/secrets/kubernetes.io/serviceaccount", ReadOnly: true}},
	}
}

func environment(i int) (variables []corev1.EnvVar) {
	for k := range 8 {
		variables = append(variables, corev1.EnvVar{Name: fmt.Sprintf("NCCL_SETTING_%02d", k), Value: fmt.Sprintf("mlx5_%d,value-%d", k, i)})
	}
	for _, name := range []string{"JOB_COMPLETION_INDEX", "NODE_NAME"} {
		field := map[string]string{"NODE_NAME": "spec.nodeName",
			"JOB_COMPLETION_INDEX": "metadata.labels['batch.kubernetes.io/job-completion-index']"}[name]
		variables = append(variables, corev1.EnvVar{Name: name,
			ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: field}}})
	}
	return variables
}

func volumes(i int) []corev1.Volume {
	token := corev1.VolumeProjection{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: pointer(int64(3607)), Path: "token"}}
	root := corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"},
		Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}}}}
	return []corev1.Volume{
		{Name: "shm", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}},
		{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: jobName(i)}}}},
		{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "datasets"}}},
		{Name: "kube-api-access", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
			Sources: []corev1.VolumeProjection{token, root}, DefaultMode: pointer(int32(420))}}},
	}
}

func newPodStatus(i int) corev1.PodStatus {
	now := metav1.Now()
	address := fmt.Sprintf("10.%d.%d.%d", 64+i>>16, i>>8&255, i&255)
	status := corev1.PodStatus{
		Phase: corev1.PodRunning, QOSClass: corev1.PodQOSGuaranteed, StartTime: &now,
		HostIP: "10.1.2.3", HostIPs: []corev1.HostIP{{IP: "10.1.2.3"}}, PodIP: address, PodIPs: []corev1.PodIP{{IP: address}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: "trainer", Ready: true, Started: pointer(true), Image: trainerImage + ":2026.09.1",
			ImageID: fmt.Sprintf("%s@sha256:%064x", trainerImage, 7), ContainerID: fmt.Sprintf("containerd://%064x", i),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}}},
	}
	for _, kind := range []string{"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"} {
		status.Conditions = append(status.Conditions, corev1.PodCondition{
			Type: corev1.PodConditionType(kind), Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	return status
}

// copyPod is the stored pod under another name, with what differs from pod to pod.
func copyPod(stored *corev1.Pod, i int) *corev1.Pod {
	pod, fresh := stored.DeepCopy(), newPod(i)
	pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	pod.Name, pod.GenerateName, pod.Namespace = fresh.Name, fresh.GenerateName, fresh.Namespace
	pod.UID, pod.ResourceVersion = types.UID(fmt.Sprintf("9b2f6c1e-0000-4000-8000-%012d", i)), ""
	pod.Labels, pod.Annotations, pod.OwnerReferences = fresh.Labels, fresh.Annotations, fresh.OwnerReferences
	pod.Spec.NodeName = fresh.Spec.NodeName
	pod.Spec.Containers[0].Env, pod.Spec.Containers[0].Resources = fresh.Spec.Containers[0].Env, fresh.Spec.Containers[0].Resources
	pod.Status = newPodStatus(i)
	return pod
}
