// SPDX-License-Identifier: Apache-2.0

// filters asks kube-scheduler's own plugins about the pairs of a pod and a node that filter_pairs writes, a line of JSON each, and holds what
// berth says of them against it. Ends with 1 if they differ in one, or if a rule has hardly been tried.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	v1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeunschedulable"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/tainttoleration"
)

type pair struct {
	Node  v1.Node
	Pods  []v1.Pod // that run there
	Pod   v1.Pod
	Berth []string // what keeps the pod away, of groupOf's values
}

// What the plugins are asked one by one, and what berth has a word for.
var groupOf = map[string]string{
	"resources": "room", "count": "room", "selector": "selection", "affinity": "selection", "taints": "taints", "cordon": "cordon",
}

const leastShare = 0.05 // of the pairs, that a rule alone decides

type oracle struct {
	affinity, taints, cordon fwk.FilterPlugin
	options                  noderesources.ResourceRequestsOptions
}

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, "filters:", err)
		os.Exit(2)
	}
	return value
}

func newOracle(ctx context.Context) oracle {
	features := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	return oracle{
		affinity: must(nodeaffinity.New(ctx, &config.NodeAffinityArgs{}, nil, features)).(fwk.FilterPlugin),
		taints:   must(tainttoleration.New(ctx, nil, nil, features)).(fwk.FilterPlugin),
		cordon:   must(nodeunschedulable.New(ctx, nil, nil, features)).(fwk.FilterPlugin),
		options:  noderesources.ResourceRequestsOptions{EnablePodLevelResources: features.EnablePodLevelResources},
	}
}

// refuses asks a plugin's filter alone, which then works out itself what its pre-filter would have.
func refuses(ctx context.Context, plugin fwk.FilterPlugin, pod *v1.Pod, node fwk.NodeInfo) bool {
	return !plugin.Filter(ctx, framework.NewCycleState(), pod, node).IsSuccess()
}

// ask returns the rules by which the node won't do.
func (o oracle) ask(ctx context.Context, p *pair) []string {
	info := framework.NewNodeInfo()
	for i := range p.Pods {
		info.AddPod(&p.Pods[i])
	}
	info.SetNode(&p.Node)
	var rules []string
	for _, lacks := range noderesources.Fits(&p.Pod, info, nil, o.options) {
		rule := "resources"
		if lacks.ResourceName == v1.ResourcePods {
			rule = "count"
		}
		if !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	selector, affinity := p.Pod.DeepCopy(), p.Pod.DeepCopy()
	selector.Spec.Affinity, affinity.Spec.NodeSelector = nil, nil
	for _, asked := range []struct {
		rule   string
		plugin fwk.FilterPlugin
		pod    *v1.Pod
	}{{"selector", o.affinity, selector}, {"affinity", o.affinity, affinity}, {"taints", o.taints, &p.Pod}, {"cordon", o.cordon, &p.Pod}} {
		if refuses(ctx, asked.plugin, asked.pod, info) {
			rules = append(rules, asked.rule)
		}
	}
	return rules
}

func groups(rules []string) []string {
	var out []string
	for _, rule := range rules {
		if group := groupOf[rule]; !slices.Contains(out, group) {
			out = append(out, group)
		}
	}
	slices.Sort(out)
	return out
}

func main() {
	ctx := context.Background()
	o := newOracle(ctx)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 1<<20), 1<<20)
	alone := map[string]int{}
	pairs, fits, differ := 0, 0, 0
	for lines.Scan() {
		var p pair
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			fmt.Fprintln(os.Stderr, "filters:", err)
			os.Exit(2)
		}
		rules := o.ask(ctx, &p)
		pairs++
		if len(rules) == 0 {
			fits++
		}
		if len(rules) == 1 {
			alone[rules[0]]++
		}
		slices.Sort(p.Berth)
		if says := groups(rules); !slices.Equal(says, p.Berth) {
			if differ++; differ <= 5 {
				fmt.Printf("kube-scheduler: %v, berth: %v of %s\n", rules, p.Berth, lines.Text())
			}
		}
	}
	if err := lines.Err(); err != nil || pairs == 0 {
		fmt.Fprintln(os.Stderr, "filters: no pairs", err)
		os.Exit(2)
	}
	fmt.Printf("%d pairs, %d fit, %d differ; decided by one rule alone:", pairs, fits, differ)
	rare := false
	for _, rule := range []string{"resources", "selector", "affinity", "taints", "cordon", "count"} {
		share := float64(alone[rule]) / float64(pairs)
		rare = rare || share < leastShare
		fmt.Printf(" %s %.1f %%", rule, 100*share)
	}
	fmt.Println()
	if differ > 0 || rare {
		os.Exit(1)
	}
}
