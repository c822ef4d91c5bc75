// SPDX-License-Identifier: Apache-2.0

// The judge reads cases as kueue_cases writes them, has Kueue's own scheduler decide each, and compares: who is admitted, and within a cohort in
// which order. It ends with 1 where they differ in anything that docs/queue-rules.md does not list.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	ctrl "sigs.k8s.io/controller-runtime"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/features"
)

type verdict struct {
	line        string
	found       Case
	bearing     []string // differences that bear on the case
	differs     bool     // from Kueue, as the case stands
	unexplained string   // empty: they agree, at the latest without the differences
	err         error
}

func judge(line string) verdict {
	v := verdict{line: line}
	if v.err = json.Unmarshal([]byte(line), &v.found); v.err != nil {
		return v
	}
	without := v.found
	for _, d := range differences {
		if d.Bears(v.found) {
			v.bearing = append(v.bearing, d.Name)
			without = d.Without(without)
		}
	}
	outcome, err := run(v.found)
	if v.err = err; err != nil {
		return v
	}
	if v.unexplained = otherReason(v.found, outcome); v.unexplained != "" {
		return v
	}
	v.unexplained = disagreement(v.found, outcome.Admitted)
	v.differs = v.unexplained != ""
	if v.differs && len(v.bearing) > 0 {
		if outcome, v.err = run(without); v.err == nil {
			v.unexplained = disagreement(v.found, outcome.Admitted)
		}
	}
	return v
}

// What Kueue calls berth's reasons. It does not look at a held queue.
var reasonInKueue = map[string]string{
	"WaitingForQuota": kueue.WorkloadQuotaReservedReasonWaitingForQuota,
	"ExceedsMaximum":  kueue.WorkloadQuotaReservedReasonExceedsMaxQuota,
	"NoQuota":         kueue.WorkloadQuotaReservedReasonNoMatchingFlavor,
	"QueueHeld":       "",
}

// otherReason tells the first of those that neither admits for whom Kueue has another reason than berth.
func otherReason(c Case, outcome Outcome) string {
	for name, reason := range c.Waiting {
		theirs, known := reasonInKueue[reason]
		if !known || (!slices.Contains(outcome.Admitted, name) && outcome.Reasons[name] != theirs) {
			return fmt.Sprintf("%s waits in berth for %s, in Kueue for %q", name, reason, outcome.Reasons[name])
		}
	}
	return ""
}

// disagreement tells the first cohort in which Kueue admits others than berth, or in another order; between cohorts Kueue has no order.
func disagreement(c Case, byKueue []string) string {
	inCohort := func(names []string, cohort string) []string {
		out := []string{}
		for _, w := range names {
			i := slices.IndexFunc(c.Workloads, func(o Workload) bool { return o.Name == w })
			if c.queue(c.Workloads[i].Queue).cohortKey() == cohort {
				out = append(out, w)
			}
		}
		return out
	}
	for _, q := range c.Queues {
		ours, theirs := inCohort(c.Admitted, q.cohortKey()), inCohort(byKueue, q.cohortKey())
		if !slices.Equal(ours, theirs) {
			return fmt.Sprintf("cohort %s: berth admits %v, Kueue %v", q.cohortKey(), ours, theirs)
		}
	}
	return ""
}

func judgeAll(lines []string) []verdict {
	verdicts := make([]verdict, len(lines))
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				verdicts[i] = judge(lines[i])
			}
		})
	}
	for i := range lines {
		next <- i
	}
	close(next)
	workers.Wait()
	return verdicts
}

func main() {
	ctrl.SetLogger(logr.Discard())
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(map[string]bool{string(features.UnadmittedWorkloadsObservability): true}); err != nil {
		panic(err)
	}
	var lines []string
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		lines = append(lines, in.Text())
	}
	if in.Err() != nil || len(lines) == 0 {
		fmt.Fprintln(os.Stderr, "judge: no cases:", in.Err())
		os.Exit(2)
	}
	if !report(judgeAll(lines)) {
		os.Exit(1)
	}
}

// report prints what came of it, and says whether all is well.
func report(verdicts []verdict) bool {
	type count struct{ bears, differs int }
	same, admissions, unexplained := 0, 0, 0
	by := map[string]*count{}
	for _, v := range verdicts {
		if v.err != nil {
			fmt.Printf("seed %d: %v\n%s\n", v.found.Seed, v.err, v.line)
			unexplained++
			continue
		}
		if v.unexplained != "" {
			fmt.Printf("seed %d: %s (%s)\n%s\n", v.found.Seed, v.unexplained, strings.Join(v.bearing, "; "), v.line)
			unexplained++
			continue
		}
		if len(v.bearing) == 0 {
			same++
			admissions += len(v.found.Admitted)
		}
		name := strings.Join(v.bearing, "; and ")
		if by[name] == nil {
			by[name] = &count{}
		}
		by[name].bears++
		if v.differs {
			by[name].differs++
		}
	}
	for _, name := range sortedNames(by) {
		if name != "" {
			fmt.Printf("%s: bears on %d cases, %d of them end otherwise in Kueue, and none once it is taken out\n", name, by[name].bears, by[name].differs)
		}
	}
	fmt.Printf("%d cases: in %d both mean the same and agree (%d admissions, in order); %d are under what the rules list; %d unexplained\n",
		len(verdicts), same, admissions, len(verdicts)-same-unexplained, unexplained)
	return unexplained == 0
}

func sortedNames[V any](m map[string]V) []string {
	names := []string{}
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
