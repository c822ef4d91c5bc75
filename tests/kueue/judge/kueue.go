// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/controller/core/indexer"
	"sigs.k8s.io/kueue/pkg/scheduler"
	preemptexpectations "sigs.k8s.io/kueue/pkg/scheduler/preemption/expectations"
	utiltesting "sigs.k8s.io/kueue/pkg/util/testing"
)

// Kueue's scheduler blocks while nothing waits. A queue of its own, in which what waits never fits, keeps it turning until run has seen enough.
const sentinel = "sentinel"

var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(s))
	utilruntime.Must(kueue.AddToScheme(s))
	return s
}()

// ticking tells another time whenever it is asked, so that the times of reservations tell their order.
type ticking struct {
	clock.RealClock
	ticks atomic.Int64
}

func (t *ticking) Now() time.Time {
	return epoch.Add(time.Hour + time.Duration(t.ticks.Add(1))*time.Second)
}

// watcher is the scheduler's log. It looks at the cache whenever a cycle is over, and ends the run once nothing was admitted in several.
type watcher struct {
	cache                *schdcache.Cache
	seen, idle, admitted int
	settled              chan error
}

const (
	idleCycles = 3   // what was passed over in one is tried in the next, and what can't fit is out of it by then
	mostCycles = 100 // which no case comes near
)

func (w *watcher) Init(logr.RuntimeInfo)                 {}
func (w *watcher) Enabled(level int) bool                { return level <= 2 }
func (w *watcher) WithValues(...any) logr.LogSink        { return w }
func (w *watcher) WithName(string) logr.LogSink          { return w }
func (w *watcher) Error(err error, msg string, _ ...any) { w.end(fmt.Errorf("%s: %w", msg, err)) }

func (w *watcher) Info(_ int, msg string, _ ...any) {
	if msg != "Scheduling cycle complete" {
		return
	}
	w.seen++
	w.idle++
	if now := len(reserved(w.cache)); now != w.admitted {
		w.idle, w.admitted = 0, now
	}
	if w.idle == idleCycles {
		w.end(nil)
	} else if w.seen == mostCycles {
		w.end(fmt.Errorf("Kueue's scheduler does not settle in %d cycles", mostCycles))
	}
}

func (w *watcher) end(err error) {
	select {
	case w.settled <- err:
	default: // it has ended
	}
}

// Outcome is what Kueue decides.
type Outcome struct {
	Admitted []string          // in order
	Reasons  map[string]string // of those that it looked at and did not admit
}

// run has Kueue's scheduler, with fair sharing, decide a case until it admits nothing more.
func run(c Case) (Outcome, error) {
	c.Queues = append(slices.Clone(c.Queues), Queue{Name: sentinel, StrictFIFO: true, Quota: &Quota{}, WeightThousandths: 1000})
	c.Workloads = append(slices.Clone(c.Workloads), Workload{Name: sentinel, Queue: sentinel, Pods: 1, GPUsPerPod: 1})

	cl := clientFor(c)
	cache := schdcache.New(cl, schdcache.WithFairSharing(true))
	manager := qcache.NewManagerForUnitTests(cl, cache)
	if err := fill(c, cache, manager); err != nil {
		return Outcome{}, err
	}
	watching := &watcher{cache: cache, admitted: len(reserved(cache)), settled: make(chan error, 1)}
	ctx, stop := context.WithCancel(ctrl.LoggerInto(context.Background(), logr.New(watching)))
	defer stop()
	s := scheduler.New(manager, cache, cl, &utiltesting.EventRecorder{},
		scheduler.WithFairSharing(&config.FairSharing{}), scheduler.WithClock(nil, &ticking{}),
		scheduler.WithPreemptionExpectations(preemptexpectations.New()))
	if err := s.Start(ctx); err != nil {
		return Outcome{}, err
	}
	select {
	case err := <-watching.settled:
		if err != nil {
			return Outcome{}, err
		}
		reasons, err := reasons(cl)
		return Outcome{Admitted: inOrder(cache, c), Reasons: reasons}, err
	case <-time.After(time.Minute):
		return Outcome{}, errors.New("Kueue's scheduler stands still")
	}
}

// clientFor is what the scheduler reads objects from and writes admissions to.
func clientFor(c Case) client.Client {
	objects := []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}}
	for _, w := range c.Workloads {
		if !w.Runs {
			objects = append(objects, workloadFor(w))
		}
	}
	return fake.NewClientBuilder().WithScheme(scheme).
		WithIndex(&corev1.LimitRange{}, indexer.LimitRangeHasContainerOrPodType, indexer.IndexLimitRangeHasContainerOrPodType).
		WithIndex(&kueue.LocalQueue{}, indexer.QueueClusterQueueKey, indexer.IndexQueueClusterQueue).
		WithIndex(&kueue.Workload{}, indexer.WorkloadQueueKey, indexer.IndexWorkloadQueue).
		WithIndex(&kueue.Workload{}, indexer.WorkloadClusterQueueKey, indexer.IndexWorkloadClusterQueue).
		WithStatusSubresource(&kueue.Workload{}).
		WithObjects(objects...).
		WithInterceptorFuncs(interceptor.Funcs{
			SubResourcePatch: utiltesting.TreatSSAAsStrategicMerge, // the fake client knows no other way for a status
		}).Build()
}

func fill(c Case, cache *schdcache.Cache, manager *qcache.Manager) error {
	log := logr.Discard()
	ctx := ctrl.LoggerInto(context.Background(), log)
	cache.AddOrUpdateResourceFlavor(log, &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: flavor}})
	for _, q := range c.Queues {
		clusterQueue := clusterQueueFor(q)
		if err := cache.AddClusterQueue(ctx, clusterQueue); err != nil {
			return err
		}
		if err := manager.AddClusterQueue(ctx, clusterQueue); err != nil {
			return err
		}
	}
	for _, w := range c.Workloads {
		if w.Runs && !cache.AddOrUpdateWorkload(log, reservedWorkloadFor(w)) {
			return fmt.Errorf("Kueue's cache does not take %s", w.Name)
		}
	}
	for _, q := range c.Queues {
		localQueue := localQueueFor(q)
		if err := cache.AddLocalQueue(localQueue); err != nil {
			return err
		}
		if err := manager.AddLocalQueue(ctx, localQueue); err != nil {
			return err
		}
	}
	return nil
}

type reservation struct {
	workload string
	since    time.Time
}

// reserved is what holds quota in Kueue's cache, the latest last.
func reserved(cache *schdcache.Cache) []reservation {
	snapshot, err := cache.Snapshot(context.Background())
	if err != nil {
		panic(err)
	}
	var all []reservation
	for _, queue := range snapshot.ClusterQueues() {
		for _, w := range queue.Workloads {
			since := apimeta.FindStatusCondition(w.Obj.Status.Conditions, kueue.WorkloadQuotaReserved).LastTransitionTime.Time
			all = append(all, reservation{w.Obj.Name, since})
		}
	}
	slices.SortFunc(all, func(a, b reservation) int { return a.since.Compare(b.since) })
	return all
}

func inOrder(cache *schdcache.Cache, c Case) []string {
	ran := map[string]bool{}
	for _, w := range c.Workloads {
		ran[w.Name] = w.Runs
	}
	names := []string{}
	for _, r := range reserved(cache) {
		if !ran[r.workload] {
			names = append(names, r.workload)
		}
	}
	return names
}

// reasons are those of Kueue's conditions, which are this precise by the gate that main opens.
func reasons(cl client.Client) (map[string]string, error) {
	var all kueue.WorkloadList
	if err := cl.List(context.Background(), &all); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, w := range all.Items {
		condition := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadQuotaReserved)
		if condition != nil && condition.Status == metav1.ConditionFalse {
			out[w.Name] = condition.Reason
		}
	}
	return out, nil
}
