// SPDX-License-Identifier: Apache-2.0

// replay serves a recording over TLS and HTTP/2 as an API server would, so that a client's CPU time can be measured with the
// API server out of the way. Pods and nodes are the recording's; every other resource is empty. The first watch of pods
// sends the recorded events once somebody has asked for /go, then stays open, as watches do.
//
// It prints one line when it listens, after it has written a kubeconfig that names it.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"

	"gpu.berth.dev/bench/peers/internal/recording"
)

func main() {
	dir := flag.String("dir", "", "the recording; empty: a cluster without objects")
	kubeconfig := flag.String("kubeconfig", "", "where to write a kubeconfig")
	nodes := flag.Int("nodes", 0, "serve only the first so many nodes (0: all)")
	pods := flag.Int("pods", 0, "serve only the first so many pods (0: all)")
	repeats := flag.Int("repeats", 10, "how often the recorded events are sent, their versions rising")
	flag.Parse()

	certificate, authority := newCertificate()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	url := "https://" + listener.Addr().String()
	check(os.WriteFile(*kubeconfig, kubeconfigFor(url, authority), 0o600))

	server := &server{
		tapes: newTapes(*dir, map[string]int{"nodes": *nodes, "pods": *pods}),
		gate:  make(chan struct{}), repeats: *repeats,
	}
	fmt.Println("replay:", url)
	check((&http.Server{Handler: server, TLSConfig: certificate}).ServeTLS(listener, "", ""))
}

type server struct {
	tapes   *tapes
	gate    chan struct{}
	repeats int
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	resource := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	format := recording.JSON
	if s.tapes.recorded(resource) && strings.Contains(r.Header.Get("Accept"), recording.Protobuf.MediaType()) {
		format = recording.Protobuf
	}
	w.Header().Set("Content-Type", format.MediaType())
	switch {
	case r.URL.Path == "/go":
		s.openGate(r)
	case r.Method != http.MethodGet:
		echo(w, r)
	case query.Has("watch"):
		s.watch(w, r, resource, format)
	default:
		s.list(w, resource, format, query.Get("limit"), query.Get("continue"))
	}
}

// openGate hands the start to the pod watch that waits for it, or waits for one.
func (s *server) openGate(r *http.Request) {
	select {
	case s.gate <- struct{}{}:
	case <-r.Context().Done():
	}
}

// echo accepts any write: the object comes back as it was sent.
func echo(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		w.WriteHeader(http.StatusCreated)
	}
	_, _ = io.Copy(w, r.Body)
}

func (s *server) watch(w http.ResponseWriter, r *http.Request, resource string, format recording.Format) {
	if format == recording.Protobuf {
		w.Header().Set("Content-Type", format.MediaType()+";stream=watch")
	}
	if r.URL.Query().Get("sendInitialEvents") == "true" {
		s.send(w, s.tapes.watchList(resource, format))
	}
	w.(http.Flusher).Flush()
	if resource == "pods" && s.tapes.recorded(resource) {
		events := s.tapes.events(format)
		select {
		case <-s.gate:
			for range s.repeats {
				s.send(w, events.next())
			}
		case <-r.Context().Done():
		}
	}
	<-r.Context().Done()
}

func (s *server) list(w http.ResponseWriter, resource string, format recording.Format, limit, from string) {
	if format == recording.Protobuf {
		s.send(w, s.tapes.list(resource, format))
		return
	}
	s.tapes.writePage(w, resource, limit, from)
}

func (s *server) send(w http.ResponseWriter, data []byte) {
	const chunk = 1 << 20
	for len(data) > 0 {
		size := min(chunk, len(data))
		if _, err := w.Write(data[:size]); err != nil {
			return
		}
		data = data[size:]
	}
	w.(http.Flusher).Flush()
}

func check(err error) {
	if err != nil {
		log.Fatal("replay: ", err)
	}
}
