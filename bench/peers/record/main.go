// SPDX-License-Identifier: Apache-2.0

// record saves what an API server says about nodes and pods, in JSON and in protobuf, for replay: WatchList openings, whole
// LISTs, and a stream of MODIFIED pod events that it causes itself by moving a label on the first pods, so that every event
// is a change and none a repetition.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"gpu.berth.dev/bench/peers/internal/recording"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	writers = 32
	// Two passes over half as many pods: the second gives each label another value, and the first of a repeat one more.
	passes = 2
)

var formats = []recording.Format{recording.JSON, recording.Protobuf}

type recorder struct {
	config *rest.Config
	http   *http.Client
	dir    string
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig of a filled test control plane")
	dir := flag.String("dir", "", "where the recording goes")
	events := flag.Int("events", 20000, "pod events to record")
	flag.Parse()

	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	check(err)
	config.DisableCompression, config.QPS = true, -1
	client, err := rest.HTTPClientFor(config)
	check(err)
	r := recorder{config, client, *dir}
	for _, resource := range []string{"nodes", "pods"} {
		for _, f := range formats {
			r.saveWatchList(resource, f)
		}
		r.saveList(resource)
	}
	r.saveEvents(*events)
}

func (r recorder) get(query string, f recording.Format) io.ReadCloser {
	request, err := http.NewRequest(http.MethodGet, r.config.Host+"/api/v1/"+query, nil)
	check(err)
	request.Header.Set("Accept", f.MediaType())
	response, err := r.http.Do(request)
	check(err)
	if response.StatusCode != http.StatusOK {
		log.Fatalf("record: %s: %s", query, response.Status)
	}
	return response.Body
}

func (r recorder) saveWatchList(resource string, f recording.Format) {
	start := time.Now()
	body := r.get(resource+"?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=300", f)
	defer body.Close()
	count := saveInitialEvents(recording.WatchList(r.dir, resource, f), body, f)
	fmt.Printf("record: WatchList of %d %s (%s) in %.1f s\n", count-1, resource, f, time.Since(start).Seconds())
}

func (r recorder) saveList(resource string) {
	body := r.get(resource+"?resourceVersion=0", recording.Protobuf)
	defer body.Close()
	file, err := os.Create(recording.List(r.dir, resource, recording.Protobuf))
	check(err)
	_, err = io.Copy(file, body)
	check(errors.Join(err, file.Close()))
}

// saveEvents watches in both formats from one point on while it changes the pods.
func (r recorder) saveEvents(events int) {
	start := time.Now()
	api := kubernetes.NewForConfigOrDie(r.config)
	ctx := context.Background()
	list, err := api.CoreV1().Pods("").List(ctx, metav1.ListOptions{Limit: int64(events / passes)})
	check(err)
	var watches sync.WaitGroup
	for _, f := range formats {
		watches.Go(func() { r.followPods(list.ResourceVersion, f, events) })
	}
	for pass := range passes {
		patch := fmt.Appendf(nil, `{"metadata":{"labels":{"example.com/checkpoint":"step-%d"}}}`, pass)
		var next atomic.Int64
		var group sync.WaitGroup
		for range writers {
			group.Go(func() {
				for i := int(next.Add(1)) - 1; i < len(list.Items); i = int(next.Add(1)) - 1 {
					pod := &list.Items[i]
					_, err := api.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "trainer"})
					check(err)
				}
			})
		}
		group.Wait()
	}
	watches.Wait()
	fmt.Printf("record: %d pod events in %.1f s\n", events, time.Since(start).Seconds())
}

// followPods saves so many events. An API server drops a watcher that lags behind: then it goes on where it was.
func (r recorder) followPods(version string, f recording.Format, events int) {
	file, err := os.Create(recording.Events(r.dir, f))
	check(err)
	out := bufio.NewWriterSize(file, 1<<20)
	for count := 0; count < events; {
		body := r.get("pods?watch=1&timeoutSeconds=3600&resourceVersion="+version, f)
		for in := bufio.NewReaderSize(body, 1<<20); count < events; count++ {
			frame, err := recording.ReadFrame(in, f)
			if err != nil {
				break
			}
			at, err := recording.VersionAt(frame, f)
			check(err)
			version = string(frame[at : at+recording.VersionDigits])
			_, err = out.Write(frame)
			check(err)
		}
		check(body.Close())
	}
	check(errors.Join(out.Flush(), file.Close()))
}

// saveInitialEvents copies frames up to the bookmark that ends them, and returns how many.
func saveInitialEvents(name string, body io.Reader, f recording.Format) int {
	file, err := os.Create(name)
	check(err)
	in, out := bufio.NewReaderSize(body, 1<<20), bufio.NewWriterSize(file, 1<<20)
	for count := 1; ; count++ {
		frame, err := recording.ReadFrame(in, f)
		if err != nil {
			log.Fatalf("record: %s ended after %d frames: %v", name, count-1, err)
		}
		_, err = out.Write(frame)
		check(err)
		if recording.EndsInitialEvents(frame) {
			check(errors.Join(out.Flush(), file.Close()))
			return count
		}
	}
}

func check(err error) {
	if err != nil {
		log.Fatal("record: ", err)
	}
}
