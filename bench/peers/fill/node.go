// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func nodeName(i int) string { return fmt.Sprintf("gpu-%04d", i) }

// The labels that NVIDIA's feature discovery and operator put on every node of a kind: 8 × A100, MIG off.
var nvidiaLabels = map[string]string{
	"gpu.product": "NVIDIA-A100-SXM4-80GB", "gpu.count": "8", "gpu.memory": "81920", "gpu.family": "ampere",
	"gpu.machine": "DGX-A100", "gpu.compute.major": "8", "gpu.compute.minor": "0", "gpu.replicas": "1",
	"gpu.sharing-strategy": "none", "gpu.mode": "compute", "gpu.present": "true",
	"gpu.deploy.driver": "true", "gpu.deploy.dcgm": "true", "gpu.deploy.dcgm-exporter": "true",
	"gpu.deploy.container-toolkit": "true", "gpu.deploy.device-plugin": "true",
	"gpu.deploy.gpu-feature-discovery": "true", "gpu.deploy.mig-manager": "true",
	"gpu.deploy.node-status-exporter": "true", "gpu.deploy.operator-validator": "true",
	"cuda.driver.major": "570", "cuda.driver.minor": "124", "cuda.driver.rev": "06",
	"cuda.runtime.major": "12", "cuda.runtime.minor": "8", "gfd.timestamp": "1790000000",
	"mig.capable": "true", "mig.config": "all-disabled", "mig.config.state": "success", "mig.strategy": "mixed",
	"mps.capable": "false", "vgpu.present": "false",
}

func newNode(i int) *corev1.Node {
	labels := map[string]string{
		"kubernetes.io/hostname": nodeName(i), "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
		"topology.kubernetes.io/region": "eu-1", "topology.kubernetes.io/zone": fmt.Sprintf("eu-1%c", 'a'+i%3),
		"node.kubernetes.io/instance-type": "a100x8", "topology.example.com/rack": fmt.Sprintf("r%03d", i/16),
	}
	for key, value := range nvidiaLabels {
		labels["nvidia.com/"+key] = value
	}
	resources := quantities(map[string]string{"cpu": "128", "memory": "2113393996Ki", "pods": "110",
		"ephemeral-storage": "7500738092Ki", "hugepages-2Mi": "0", "nvidia.com/gpu": "8"})
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: nodeName(i), Labels: labels, Annotations: map[string]string{
			"volumes.kubernetes.io/controller-managed-attach-detach": "true",
			"nfd.node.kubernetes.io/feature-labels":                  strings.Repeat("cpu-cpuid.AVX512F,", 30)}},
		Spec: corev1.NodeSpec{PodCIDR: fmt.Sprintf("10.%d.%d.0/24", i/256, i%256), ProviderID: "bare://" + nodeName(i)},
		Status: corev1.NodeStatus{Capacity: resources, Allocatable: resources, Conditions: nodeConditions(), Images: nodeImages(),
			NodeInfo: corev1.NodeSystemInfo{BootID: fmt.Sprintf("7d0e0000-0000-4000-8000-%012d", i), KubeletVersion: "v1.36.3",
				OSImage: "Debian GNU/Linux 12 (bookworm)", KernelVersion: "6.1.0-40-amd64", Architecture: "amd64",
				OperatingSystem: "linux", ContainerRuntimeVersion: "containerd://2.1.4"}},
	}
}

func nodeConditions() (conditions []corev1.NodeCondition) {
	for _, kind := range []string{"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"} {
		status := corev1.ConditionFalse
		if kind == "Ready" {
			status = corev1.ConditionTrue
		}
		conditions = append(conditions, corev1.NodeCondition{Type: corev1.NodeConditionType(kind), Status: status,
			Reason: "Kubelet" + kind, Message: "kubelet reports " + kind, LastHeartbeatTime: metav1.Now(),
			LastTransitionTime: metav1.Now()})
	}
	return conditions
}

func nodeImages() (images []corev1.ContainerImage) {
	for i := range 30 {
		repository := fmt.Sprintf("registry.example.com/ml/image-%02d", i)
		images = append(images, corev1.ContainerImage{SizeBytes: 1 << 30,
			Names: []string{fmt.Sprintf("%s@sha256:%064x", repository, i), repository + ":v1"}})
	}
	return images
}

// copyNode is the stored node under another name, with what differs from node to node.
func copyNode(stored *corev1.Node, i int) *corev1.Node {
	node, fresh := stored.DeepCopy(), newNode(i)
	node.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}
	node.Name, node.ResourceVersion = fresh.Name, ""
	node.UID = types.UID(fmt.Sprintf("4c1e7a90-0000-4000-8000-%012d", i))
	maps.Copy(node.Labels, fresh.Labels)
	node.Spec.ProviderID = fresh.Spec.ProviderID
	node.Status.NodeInfo.BootID = fresh.Status.NodeInfo.BootID
	return node
}

func quantities(texts map[string]string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for name, text := range texts {
		list[corev1.ResourceName(name)] = resource.MustParse(text)
	}
	return list
}
