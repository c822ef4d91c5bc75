// SPDX-License-Identifier: Apache-2.0

// webhook is an admission server as one writes it with controller-runtime, making the decisions that berth makes on the
// cluster of webhook_bench: /mutate completes a GPU pod, /validate judges it. Only the HTTP side runs; no API server is asked.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func main() {
	certificates := flag.String("certificates", "", "folder of tls.crt and tls.key")
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	port := freePort()
	server := webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: *certificates})
	server.Register("/mutate", admission.WithDefaulter[*corev1.Pod](scheme.Scheme, defaulter{}))
	server.Register("/validate", admission.WithValidator[*corev1.Pod](scheme.Scheme, validator{}))
	fmt.Println(port)
	check(server.Start(context.Background()))
}

func freePort() int {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
