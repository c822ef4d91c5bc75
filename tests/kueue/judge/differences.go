// SPDX-License-Identifier: Apache-2.0

package main

import "slices"

// A difference that docs/queue-rules.md lists. Where one bears on a case, Kueue is asked once more about the case with it taken out, which berth
// decides as it did the case itself: then they have to agree.
type Difference struct {
	Name    string
	Bears   func(Case) bool
	Without func(Case) Case
}

var differences = []Difference{
	{
		Name: "what a queue keeps stays its own while its cohort is over its sum",
		Bears: func(c Case) bool {
			return slices.ContainsFunc(c.Workloads, func(w Workload) bool { return c.fitsAtFirst(w) && c.overLent(c.queue(w.Queue).cohortKey()) > 0 })
		},
		// In Kueue a further queue lends each cohort what is lent too much: nothing is left to lend then, and nothing is owed.
		Without: func(c Case) Case {
			c.Queues = slices.Clone(c.Queues)
			for _, cohort := range c.cohorts() {
				if over := c.overLent(cohort); over > 0 {
					c.Queues = append(c.Queues, Queue{Name: "lender-" + cohort, Cohort: cohort, Quota: &Quota{Nominal: over}, WeightThousandths: 1000})
				}
			}
			return c
		},
	},
	{
		Name: "a head that does not fit holds nothing",
		Bears: func(c Case) bool {
			return slices.ContainsFunc(c.Workloads, func(w Workload) bool {
				return c.reserves(w) && slices.ContainsFunc(c.Workloads, func(other Workload) bool {
					return c.queue(other.Queue).Cohort == c.queue(w.Queue).Cohort && c.fitsAtFirst(other)
				})
			})
		},
		// In berth nobody would miss it.
		Without: func(c Case) Case {
			c.Workloads = slices.DeleteFunc(slices.Clone(c.Workloads), c.reserves)
			return c
		},
	},
}

// reserves says whether Kueue holds for a workload in a cycle what it can't have: it might preempt, if only there was anything to preempt.
func (c Case) reserves(w Workload) bool {
	q := c.queue(w.Queue)
	return !w.Runs && !q.Held && q.Cohort != "" && w.GPUs() <= q.nominal() && !c.fitsAtFirst(w)
}
