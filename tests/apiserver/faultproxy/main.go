// SPDX-License-Identifier: Apache-2.0

// berth-fault-proxy stands between the berth under test and the API server and misbehaves on order. Towards the API server it is the
// client whose certificate it was given; watches stream through it. A second, plain-HTTP port on loopback takes the orders:
//
//	POST   /rules           {"id": "...", "method": "PATCH", "path": "regex", "not_path": "regex", "body": "regex", "skip": 0, "times": 1,
//	                         "action": "...", ...}; method "WRITE" is all but GET
//	DELETE /rules?id=ID     forgets a rule; what it holds goes on
//	POST   /release?id=ID   lets the requests go on that the rule holds, and stops holding
//	GET    /rules?id=ID     {"matched": n, "holding": n}
//	POST   /cut-watches     ends every open watch in the middle
//
// Actions: "lose" (held, and never sent), "hold" (before the API server sees it), "hold-reply" (after), "drop-reply" (applied, and the connection breaks), "status"
// (answers `status` itself, with Retry-After: `retry_after` if set), "delay" (by `delay_ms`). `probability` makes a rule random.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"sync"
	"time"
)

type rule struct {
	ID          string  `json:"id"`
	Method      string  `json:"method"`
	Path        string  `json:"path"`
	NotPath     string  `json:"not_path"`
	Body        string  `json:"body"`
	Skip        int     `json:"skip"`
	Times       int     `json:"times"` // 0: for ever
	Probability float64 `json:"probability"`
	Action      string  `json:"action"`
	Status      int     `json:"status"`
	RetryAfter  string  `json:"retry_after"`
	DelayMS     int     `json:"delay_ms"`

	path, notPath, body *regexp.Regexp
	seen                int
	matched             int
	holding             int
	released            chan struct{}
}

type proxy struct {
	mutex   sync.Mutex
	rules   []*rule
	watches map[*http.Request]context.CancelFunc
	forward *httputil.ReverseProxy
}

// match returns the first rule that wants this request, and counts it.
func (p *proxy) match(r *http.Request, body []byte) *rule {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, one := range p.rules {
		if one.Method == "WRITE" && r.Method == "GET" || one.Method != "" && one.Method != "WRITE" && one.Method != r.Method {
			continue
		}
		if one.NotPath != "" && one.notPath.MatchString(r.URL.RequestURI()) {
			continue
		}
		if !one.path.MatchString(r.URL.RequestURI()) || !one.body.Match(body) {
			continue
		}
		one.seen++
		if one.seen <= one.Skip || (one.Times > 0 && one.matched >= one.Times) {
			continue
		}
		if one.Probability > 0 && rand.Float64() >= one.Probability {
			continue
		}
		one.matched++
		return one
	}
	return nil
}

func (p *proxy) hold(one *rule) {
	p.mutex.Lock()
	one.holding++
	p.mutex.Unlock()
	<-one.released
	p.mutex.Lock()
	one.holding--
	p.mutex.Unlock()
}

func refuse(w http.ResponseWriter, one *rule) {
	if one.RetryAfter != "" {
		w.Header().Set("Retry-After", one.RetryAfter)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(one.Status)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"the fault proxy answers %d","code":%d}`,
		one.Status, one.Status)
}

// forwardDetached sends the request even if the caller has gone meanwhile: a frozen client's request still arrives.
func (p *proxy) forwardDetached(r *http.Request, body []byte) *recorder {
	request := r.Clone(context.Background())
	request.Body = io.NopCloser(bytes.NewReader(body))
	answer := &recorder{header: http.Header{}, status: http.StatusOK}
	p.forward.ServeHTTP(answer, request)
	return answer
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	one := p.match(r, body)
	action := ""
	if one != nil {
		action = one.Action
		log.Printf("%s: %s %s %s", one.ID, action, r.Method, r.URL.RequestURI())
	}
	switch action {
	case "lose":
		p.hold(one)
		panic(http.ErrAbortHandler)
	case "hold":
		p.hold(one)
		p.forwardDetached(r, body).copyTo(w)
		return
	case "hold-reply":
		answer := p.forwardDetached(r, body)
		p.hold(one)
		answer.copyTo(w)
		return
	case "drop-reply":
		p.forwardDetached(r, body)
		panic(http.ErrAbortHandler)
	case "status":
		refuse(w, one)
		return
	case "delay":
		time.Sleep(time.Duration(one.DelayMS) * time.Millisecond)
	}
	if r.URL.Query().Get("watch") != "" {
		ctx, cancel := context.WithCancel(r.Context())
		p.mutex.Lock()
		p.watches[r] = cancel
		p.mutex.Unlock()
		defer func() {
			p.mutex.Lock()
			delete(p.watches, r)
			p.mutex.Unlock()
			cancel()
		}()
		p.forward.ServeHTTP(w, r.WithContext(ctx))
		return
	}
	p.forward.ServeHTTP(w, r)
}

type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *recorder) Header() http.Header         { return a.header }
func (a *recorder) WriteHeader(status int)      { a.status = status }
func (a *recorder) Write(b []byte) (int, error) { return a.body.Write(b) }
func (a *recorder) copyTo(w http.ResponseWriter) {
	for key, values := range a.header {
		w.Header()[key] = values
	}
	w.WriteHeader(a.status)
	w.Write(a.body.Bytes())
}

func (p *proxy) find(id string) *rule {
	for _, one := range p.rules {
		if one.ID == id {
			return one
		}
	}
	return nil
}

func (p *proxy) drop(id string) {
	kept := p.rules[:0]
	for _, one := range p.rules {
		if one.ID != id {
			kept = append(kept, one)
		}
	}
	p.rules = kept
}

func (p *proxy) control(w http.ResponseWriter, r *http.Request) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	id := r.URL.Query().Get("id")
	one := p.find(id)
	switch {
	case r.URL.Path == "/rules" && r.Method == "POST":
		added := &rule{released: make(chan struct{})}
		if err := json.NewDecoder(r.Body).Decode(added); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		added.path, added.body = regexp.MustCompile(added.Path), regexp.MustCompile(added.Body)
		added.notPath = regexp.MustCompile(added.NotPath)
		p.drop(added.ID)
		p.rules = append(p.rules, added)
		fmt.Fprintln(w, "{}")
	case r.URL.Path == "/cut-watches":
		for _, cancel := range p.watches {
			cancel()
		}
		fmt.Fprintf(w, "{\"cut\": %d}\n", len(p.watches))
	case one == nil:
		http.Error(w, "no rule "+id, http.StatusNotFound)
	case r.URL.Path == "/release" || r.Method == "DELETE":
		close(one.released)
		p.drop(id)
		fmt.Fprintln(w, "{}")
	default:
		fmt.Fprintf(w, "{\"matched\": %d, \"holding\": %d}\n", one.matched, one.holding)
	}
}

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "where clients connect (TLS)")
	orders := flag.String("control", "127.0.0.1:0", "where orders arrive (plain HTTP)")
	upstream := flag.String("upstream", "", "the API server's URL")
	ca := flag.String("ca", "", "PEM file: who signed the API server's certificate")
	cert := flag.String("cert", "", "PEM file: our client certificate for the API server")
	key := flag.String("key", "", "PEM file: its key")
	serving := flag.String("serving-cert", "", "PEM file: what clients see")
	servingKey := flag.String("serving-key", "", "PEM file: its key")
	flag.Parse()

	target, err := url.Parse(*upstream)
	if err != nil {
		log.Fatal(err)
	}
	pem, err := os.ReadFile(*ca)
	if err != nil {
		log.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	client, err := tls.LoadX509KeyPair(*cert, *key)
	if err != nil {
		log.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(target)
	forward.FlushInterval = -1 // a watch event is passed on at once
	forward.Transport = &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{client}},
		ForceAttemptHTTP2: true,
	}
	p := &proxy{watches: map[*http.Request]context.CancelFunc{}, forward: forward}
	go func() { log.Fatal(http.ListenAndServe(*orders, http.HandlerFunc(p.control))) }()
	log.Fatal(http.ListenAndServeTLS(*listen, *serving, *servingKey, p))
}
