// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// A case as Kueue's objects: a GPUQueue is a ClusterQueue with a LocalQueue of its name, the pool a ResourceFlavor.

const (
	namespace = "default"
	flavor    = "training"
	gpu       = corev1.ResourceName("nvidia.com/gpu")
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func gpus(n int64) resource.Quantity { return *resource.NewQuantity(n, resource.DecimalSI) }

func optional(n *int64) *resource.Quantity {
	if n == nil {
		return nil
	}
	return new(gpus(*n))
}

func clusterQueueFor(q Queue) *kueue.ClusterQueue {
	out := &kueue.ClusterQueue{
		ObjectMeta: metav1.ObjectMeta{Name: q.Name},
		Spec: kueue.ClusterQueueSpec{
			CohortName:        kueue.CohortReference(q.Cohort),
			NamespaceSelector: &metav1.LabelSelector{},
			QueueingStrategy:  kueue.BestEffortFIFO,
			StopPolicy:        new(kueue.None),
			Preemption: &kueue.ClusterQueuePreemption{
				WithinClusterQueue:  kueue.PreemptionPolicyNever,
				ReclaimWithinCohort: kueue.PreemptionPolicyNever,
				BorrowWithinCohort:  &kueue.BorrowWithinCohort{Policy: kueue.BorrowWithinCohortPolicyNever},
			},
			FlavorFungibility: &kueue.FlavorFungibility{WhenCanBorrow: kueue.MayStopSearch, WhenCanPreempt: kueue.TryNextFlavor},
			FairSharing:       &kueue.FairSharing{Weight: resource.NewMilliQuantity(q.WeightThousandths, resource.DecimalSI)},
		},
	}
	if q.StrictFIFO {
		out.Spec.QueueingStrategy = kueue.StrictFIFO
	}
	if q.Held {
		out.Spec.StopPolicy = new(kueue.Hold)
	}
	if q.Quota != nil {
		out.Spec.ResourceGroups = []kueue.ResourceGroup{{
			CoveredResources: []corev1.ResourceName{gpu},
			Flavors: []kueue.FlavorQuotas{{
				Name: flavor,
				Resources: []kueue.ResourceQuota{{
					Name:           gpu,
					NominalQuota:   gpus(q.Quota.Nominal),
					BorrowingLimit: optional(q.Quota.BorrowingLimit),
					LendingLimit:   optional(q.Quota.LendingLimit),
				}},
			}},
		}}
	}
	return out
}

func localQueueFor(q Queue) *kueue.LocalQueue {
	return &kueue.LocalQueue{
		ObjectMeta: metav1.ObjectMeta{Name: q.Name, Namespace: namespace},
		Spec:       kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(q.Name)},
	}
}

func workloadFor(w Workload) *kueue.Workload {
	asks := corev1.ResourceRequirements{
		Requests: corev1.ResourceList{gpu: gpus(w.GPUsPerPod)},
		Limits:   corev1.ResourceList{gpu: gpus(w.GPUsPerPod)},
	}
	return &kueue.Workload{
		ObjectMeta: metav1.ObjectMeta{
			Name:              w.Name,
			Namespace:         namespace,
			UID:               types.UID("uid-" + w.Name),
			CreationTimestamp: metav1.NewTime(epoch.Add(time.Duration(w.CreatedSeconds) * time.Second)),
		},
		Spec: kueue.WorkloadSpec{
			QueueName: kueue.LocalQueueName(w.Queue),
			Priority:  new(w.Priority),
			Active:    new(true),
			PodSets: []kueue.PodSet{{
				Name:  kueue.DefaultPodSetName,
				Count: int32(w.Pods),
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever,
					Containers:    []corev1.Container{{Name: "main", Resources: asks}},
				}},
			}},
		},
	}
}

// reservedWorkloadFor is one that runs: admitted before the case begins.
func reservedWorkloadFor(w Workload) *kueue.Workload {
	out := workloadFor(w)
	out.Status.Admission = &kueue.Admission{
		ClusterQueue: kueue.ClusterQueueReference(w.Queue),
		PodSetAssignments: []kueue.PodSetAssignment{{
			Name:          kueue.DefaultPodSetName,
			Flavors:       map[corev1.ResourceName]kueue.ResourceFlavorReference{gpu: flavor},
			ResourceUsage: corev1.ResourceList{gpu: gpus(w.GPUs())},
			Count:         new(int32(w.Pods)),
		}},
	}
	for _, condition := range []string{kueue.WorkloadQuotaReserved, kueue.WorkloadAdmitted} {
		out.Status.Conditions = append(out.Status.Conditions, metav1.Condition{
			Type:               condition,
			Status:             metav1.ConditionTrue,
			Reason:             "Admitted",
			Message:            fmt.Sprintf("Admitted in ClusterQueue %s", w.Queue),
			LastTransitionTime: out.CreationTimestamp,
		})
	}
	return out
}
