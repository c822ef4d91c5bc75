// SPDX-License-Identifier: Apache-2.0

// fill puts GPU nodes and pods into an empty test control plane: thousands of nodes of 11 KB and tens of thousands of pods of
// 9 KB, as an API server stores them. The first of each kind is made through the API, so that defaulting, admission and
// managedFields are the server's own; the others are copies of what it stored, put straight into etcd, ten times faster.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	workers = 64
	// Versions are given one width, six digits, so that replay can move them on in place.
	firstRevision = 100_000
)

// filler holds the two ways into the cluster.
type filler struct {
	api     *kubernetes.Clientset
	etcd    *clientv3.Client
	encoder runtime.Encoder
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig of a test control plane")
	etcdURL := flag.String("etcd", "", "its etcd")
	nodes := flag.Int("nodes", 2000, "nodes")
	pods := flag.Int("pods", 50000, "pods")
	flag.Parse()

	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	check(err)
	config.QPS = -1
	etcd, err := clientv3.New(clientv3.Config{Endpoints: []string{*etcdURL}, DialTimeout: 5 * time.Second})
	check(err)
	f := filler{kubernetes.NewForConfigOrDie(config), etcd, protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)}
	ctx := context.Background()

	timed("revisions", firstRevision, func() {
		each(firstRevision, func(int) { check2(f.etcd.Put(ctx, "/berth-bench/revision", "")) })
	})
	namespaces := namespaceOf(*pods-1) + 1
	timed("namespaces", namespaces, func() {
		each(namespaces, func(i int) {
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespaceName(i)}}
			check2(f.api.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}))
		})
	})
	timed("nodes", *nodes, func() { f.fillNodes(ctx, *nodes) })
	timed("pods", *pods, func() { f.fillPods(ctx, *pods) })
}

func (f filler) fillNodes(ctx context.Context, count int) {
	first, err := f.api.CoreV1().Nodes().Create(ctx, newNode(0), metav1.CreateOptions{FieldManager: "kubelet"})
	check(err)
	first.Status = newNode(0).Status
	first, err = f.api.CoreV1().Nodes().UpdateStatus(ctx, first, metav1.UpdateOptions{FieldManager: "kubelet"})
	check(err)
	each(count, func(i int) {
		if i > 0 {
			node := copyNode(first, i)
			f.put(ctx, "/registry/minions/"+node.Name, node)
		}
	})
}

func (f filler) fillPods(ctx context.Context, count int) {
	client := f.api.CoreV1().Pods(namespaceName(0))
	first, err := client.Create(ctx, newPod(0), metav1.CreateOptions{FieldManager: "kube-controller-manager"})
	check(err)
	first.Status = newPodStatus(0)
	first, err = client.UpdateStatus(ctx, first, metav1.UpdateOptions{FieldManager: "kubelet"})
	check(err)
	each(count, func(i int) {
		if i > 0 {
			pod := copyPod(first, i)
			f.put(ctx, "/registry/pods/"+pod.Namespace+"/"+pod.Name, pod)
		}
	})
}

func (f filler) put(ctx context.Context, key string, object runtime.Object) {
	var stored bytes.Buffer
	check(f.encoder.Encode(object, &stored))
	check2(f.etcd.Put(ctx, key, stored.String()))
}

// each calls do for 0 … count-1, in order of start, a few at a time.
func each(count int, do func(int)) {
	var next atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < count; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	group.Wait()
}

func timed(what string, count int, do func()) {
	start := time.Now()
	do()
	fmt.Printf("fill: %d %s in %.1f s\n", count, what, time.Since(start).Seconds())
}

func check(err error) {
	if err != nil {
		log.Fatal("fill: ", err)
	}
}

func check2[T any](_ T, err error) { check(err) }
