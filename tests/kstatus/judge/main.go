// SPDX-License-Identifier: Apache-2.0

// judge asks kstatus, as Flux does, what it makes of the objects in files: {"kstatus": WANTED, "object": {…}}.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

type state struct {
	Kstatus string         `json:"kstatus"`
	Object  map[string]any `json:"object"`
}

func judge(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var s state
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	// Integers come as they do from an API server.
	object := &unstructured.Unstructured{}
	encoded, err := json.Marshal(s.Object)
	if err != nil {
		return err
	}
	if err := object.UnmarshalJSON(encoded); err != nil {
		return err
	}
	result, err := status.Compute(object)
	if err != nil {
		return err
	}
	fmt.Printf("%-12s %s: %s\n", result.Status, file, result.Message)
	if string(result.Status) != s.Kstatus {
		return fmt.Errorf("kstatus says %s, and docs/reasons.md promises %s", result.Status, s.Kstatus)
	}
	return nil
}

func main() {
	wrong := 0
	for _, file := range os.Args[1:] {
		if err := judge(file); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", file, err)
			wrong++
		}
	}
	if wrong > 0 || len(os.Args) == 1 {
		os.Exit(1)
	}
}
