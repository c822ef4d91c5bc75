// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// pool is one of those that bench/pools.cc makes.
type pool struct {
	name   string
	taints []corev1.Taint
}

// What a real webhook would have worked out from its caches before the request came: on the nodes of which pools each resource is,
// which namespaces opted in.
var (
	offers       = map[corev1.ResourceName][]pool{}
	managed      = map[string]bool{"team-a": true, "team-b": true}
	sharedMemory = resource.MustParse("64Gi")
)

func init() {
	for _, tier := range []string{"training", "inference", "development", "batch"} {
		taint := corev1.Taint{Key: "nvidia.com/gpu", Value: tier, Effect: corev1.TaintEffectNoSchedule}
		offers["nvidia.com/gpu"] = append(offers["nvidia.com/gpu"], pool{name: tier, taints: []corev1.Taint{taint}})
	}
}

func isGPU(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), "nvidia.com/gpu") || strings.HasPrefix(string(name), "nvidia.com/mig-")
}

func containersOf(pod *corev1.Pod) []*corev1.Container {
	var all []*corev1.Container
	for i := range pod.Spec.InitContainers {
		all = append(all, &pod.Spec.InitContainers[i])
	}
	for i := range pod.Spec.Containers {
		all = append(all, &pod.Spec.Containers[i])
	}
	return all
}

// demandsOf is the GPU resources that the pod asks for, each once.
func demandsOf(pod *corev1.Pod) []corev1.ResourceName {
	var names []corev1.ResourceName
	for _, container := range containersOf(pod) {
		for _, list := range []corev1.ResourceList{container.Resources.Requests, container.Resources.Limits} {
			for name, count := range list {
				if isGPU(name) && !count.IsZero() && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	slices.Sort(names)
	return names
}

// poolsFor is the pools that have everything the pod asks for.
func poolsFor(demands []corev1.ResourceName) []pool {
	var all []pool
	for i, name := range demands {
		if i == 0 {
			all = offers[name]
			continue
		}
		all = slices.DeleteFunc(slices.Clone(all), func(p pool) bool {
			return !slices.ContainsFunc(offers[name], func(o pool) bool { return o.name == p.name })
		})
	}
	return all
}
