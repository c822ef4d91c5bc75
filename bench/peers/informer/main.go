// SPDX-License-Identifier: Apache-2.0

// informer measures client-go: shared informers on pods and nodes in their cheapest setting (protobuf, WatchList, no
// compression, managedFields dropped) until they have synced, then a number of pod updates. Prints one JSON object.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"log"
	"net/http"
	"os"
	"sync/atomic"

	"gpu.berth.dev/bench/peers/internal/usage"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// report has the same fields as berth's informer_bench prints.
type report struct {
	Pods         int     `json:"pods"`
	Nodes        int     `json:"nodes"`
	SyncCPU      float64 `json:"sync_cpu_s"`
	SyncWall     float64 `json:"sync_wall_s"`
	SyncRSS      float64 `json:"sync_rss_mib"`
	SettledRSS   float64 `json:"settled_rss_mib"`
	Events       int64   `json:"events"`
	EventsCPU    float64 `json:"events_cpu_s_per_100k"`
	EventsPerSec float64 `json:"events_per_s"`
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig")
	events := flag.Int64("events", 0, "pod updates to wait for after the sync; starts them by GET /go")
	flag.Parse()

	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	check(err)
	config.QPS, config.DisableCompression, config.ContentType = -1, true, "application/vnd.kubernetes.protobuf"
	ctx := context.Background()
	factory := informers.NewSharedInformerFactoryWithOptions(kubernetes.NewForConfigOrDie(config), 0,
		informers.WithTransform(dropManagedFields))
	pods, nodes := factory.Core().V1().Pods().Informer(), factory.Core().V1().Nodes().Informer()
	updates := make(chan struct{})
	var seen atomic.Int64
	_, err = pods.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) {
		if seen.Add(1) == *events {
			close(updates)
		}
	}})
	check(err)

	before := usage.Now()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	var r report
	r.SyncCPU, r.SyncWall = usage.Now().Since(before)
	r.SyncRSS = usage.ResidentMiB()
	r.Pods, r.Nodes = len(pods.GetStore().ListKeys()), len(nodes.GetStore().ListKeys())
	usage.Settle()
	r.SettledRSS = usage.ResidentMiB()

	if *events > 0 {
		before = usage.Now()
		openGate(config)
		<-updates
		cpu, wall := usage.Now().Since(before)
		r.Events, r.EventsCPU, r.EventsPerSec = *events, cpu*1e5/float64(*events), float64(*events)/wall
	}
	check(json.NewEncoder(os.Stdout).Encode(r))
}

func dropManagedFields(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}

func openGate(config *rest.Config) {
	client, err := rest.HTTPClientFor(config)
	check(err)
	response, err := client.Get(config.Host + "/go")
	check(err)
	if response.StatusCode != http.StatusOK {
		log.Fatal("informer: /go: ", response.Status)
	}
	check(response.Body.Close())
}

func check(err error) {
	if err != nil {
		log.Fatal("informer: ", err)
	}
}
