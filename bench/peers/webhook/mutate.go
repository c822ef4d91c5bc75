// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const poolLabel = "gpu.berth.dev/pool"

// defaulter completes a GPU pod: limits, tolerations, the pools' affinity, /dev/shm, and the annotation that tells of it.
type defaulter struct{}

func (defaulter) Default(_ context.Context, pod *corev1.Pod) error {
	demands := demandsOf(pod)
	if !managed[pod.Namespace] || len(demands) == 0 {
		return nil
	}
	pools := poolsFor(demands)
	var done []string
	note := func(what string, names []string) {
		if len(names) > 0 {
			names = slices.Compact(slices.Sorted(slices.Values(names)))
			done = append(done, what+" "+strings.Join(names, ","))
		}
	}
	note("limits", addLimits(pod))
	note("tolerations", addTolerations(pod, pools))
	note("poolAffinity", addPoolAffinity(pod, pools))
	note("sharedMemory", addSharedMemory(pod))
	if len(done) > 0 {
		if pod.Annotations == nil {
			pod.Annotations = map[string]string{}
		}
		pod.Annotations["gpu.berth.dev/mutations"] = strings.Join(done, "; ")
	}
	return nil
}

func addLimits(pod *corev1.Pod) (added []string) {
	for _, container := range containersOf(pod) {
		for name, count := range container.Resources.Requests {
			if _, there := container.Resources.Limits[name]; there || !isGPU(name) {
				continue
			}
			if container.Resources.Limits == nil {
				container.Resources.Limits = corev1.ResourceList{}
			}
			container.Resources.Limits[name] = count
			added = append(added, string(name))
		}
	}
	return added
}

func addTolerations(pod *corev1.Pod, pools []pool) (added []string) {
	for _, pool := range pools {
		for _, taint := range pool.taints {
			if slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool { return tolerates(t, taint) }) {
				continue
			}
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{
				Key: taint.Key, Operator: corev1.TolerationOpEqual, Value: taint.Value, Effect: taint.Effect})
			added = append(added, taint.Key)
		}
	}
	return added
}

func tolerates(t corev1.Toleration, taint corev1.Taint) bool {
	if t.Effect != "" && t.Effect != taint.Effect || t.Key != "" && t.Key != taint.Key {
		return false
	}
	return t.Operator == corev1.TolerationOpExists || t.Value == taint.Value
}

func addPoolAffinity(pod *corev1.Pod, pools []pool) (names []string) {
	for _, pool := range pools {
		names = append(names, pool.name)
	}
	if len(names) == 0 {
		return nil
	}
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{}
	}
	if pod.Spec.Affinity.NodeAffinity == nil {
		pod.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	node := pod.Spec.Affinity.NodeAffinity
	if node.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		node.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}}
	}
	required := corev1.NodeSelectorRequirement{Key: poolLabel, Operator: corev1.NodeSelectorOpIn, Values: names}
	terms := node.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	for i := range terms {
		terms[i].MatchExpressions = append(terms[i].MatchExpressions, required)
	}
	return names
}

func addSharedMemory(pod *corev1.Pod) (size []string) {
	for i := range pod.Spec.Containers {
		container := &pod.Spec.Containers[i]
		if !wantsSharedMemory(container) {
			continue
		}
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: "berth-shm", MountPath: "/dev/shm"})
		size = []string{sharedMemory.String()}
	}
	if size != nil {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "berth-shm", VolumeSource: corev1.VolumeSource{
			EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory, SizeLimit: &sharedMemory}}})
	}
	return size
}

func wantsSharedMemory(container *corev1.Container) bool {
	if slices.ContainsFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == "/dev/shm" }) {
		return false
	}
	var devices int64
	for name, count := range container.Resources.Requests {
		if isGPU(name) {
			devices += count.Value()
		}
	}
	return devices >= 2
}
