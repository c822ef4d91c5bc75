// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// validator refuses what can't work on the cluster, and what reaches GPUs past the device plugin.
type validator struct{}

func (validator) ValidateCreate(_ context.Context, pod *corev1.Pod) (admission.Warnings, error) {
	if !managed[pod.Namespace] {
		return nil, nil
	}
	demands := demandsOf(pod)
	for _, name := range demands {
		if len(offers[name]) == 0 {
			return nil, fmt.Errorf("no node offers %s", name)
		}
	}
	for _, container := range containersOf(pod) {
		if err := checkAmounts(container); err != nil {
			return nil, err
		}
		if err := checkAccess(container, len(demands) > 0); err != nil {
			return nil, err
		}
	}
	for i := range pod.Spec.Volumes {
		if path := pod.Spec.Volumes[i].HostPath; path != nil && strings.HasPrefix(path.Path, "/dev/nvidia") {
			return nil, fmt.Errorf("volume %s reaches GPUs by their device files", pod.Spec.Volumes[i].Name)
		}
	}
	return nil, nil
}

func (v validator) ValidateUpdate(context.Context, *corev1.Pod, *corev1.Pod) (admission.Warnings, error) {
	return nil, nil
}

func (validator) ValidateDelete(context.Context, *corev1.Pod) (admission.Warnings, error) {
	return nil, nil
}

func checkAmounts(container *corev1.Container) error {
	for name, count := range container.Resources.Requests {
		limit, there := container.Resources.Limits[name]
		if isGPU(name) && there && limit.Cmp(count) != 0 {
			return fmt.Errorf("container %s: limit and request of %s differ", container.Name, name)
		}
	}
	return nil
}

func checkAccess(container *corev1.Container, asksForGPUs bool) error {
	if s := container.SecurityContext; asksForGPUs && s != nil && s.Privileged != nil && *s.Privileged {
		return fmt.Errorf("container %s is privileged and reaches every GPU of the node", container.Name)
	}
	for i := range container.Env {
		if v := container.Env[i]; v.Name == "NVIDIA_VISIBLE_DEVICES" && v.Value != "" && v.Value != "void" && v.Value != "none" {
			return fmt.Errorf("container %s chooses GPUs by itself", container.Name)
		}
	}
	return nil
}
