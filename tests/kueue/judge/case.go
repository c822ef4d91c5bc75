// SPDX-License-Identifier: Apache-2.0

package main

import "slices"

// One case as kueue_cases writes it: what stands, and what berth decides.
type Case struct {
	Seed      uint64
	Queues    []Queue
	Workloads []Workload
	Admitted  []string          // by berth, in order
	Waiting   map[string]string // workload -> berth's reason
}

type Queue struct {
	Name              string
	Cohort            string
	StrictFIFO        bool
	Held              bool
	WeightThousandths int64
	Quota             *Quota // none: the queue covers no GPU
}

type Quota struct {
	Nominal        int64
	BorrowingLimit *int64
	LendingLimit   *int64
}

type Workload struct {
	Name           string
	Queue          string
	Priority       int32
	CreatedSeconds int64
	Pods           int64
	GPUsPerPod     int64
	Runs           bool
}

func (w Workload) GPUs() int64 { return w.Pods * w.GPUsPerPod }

func (q Queue) nominal() int64 {
	if q.Quota == nil {
		return 0
	}
	return q.Quota.Nominal
}

func (q Queue) lends() int64 {
	if q.Quota != nil && q.Quota.LendingLimit != nil {
		return min(q.Quota.Nominal, *q.Quota.LendingLimit)
	}
	return q.nominal()
}

func (q Queue) keeps() int64 { return q.nominal() - q.lends() }

// used is what runs in a queue.
func (c Case) used(queue string) int64 {
	var sum int64
	for _, w := range c.Workloads {
		if w.Queue == queue && w.Runs {
			sum += w.GPUs()
		}
	}
	return sum
}

// overLent is how much more of a cohort is lent out than its queues lend: above 0 where a quota was lowered.
func (c Case) overLent(cohort string) int64 {
	var out int64
	for _, q := range c.Queues {
		if q.cohortKey() == cohort {
			out += max(0, c.used(q.Name)-q.keeps()) - q.lends()
		}
	}
	return out
}

// cohorts are those of several queues, each once, in the queues' order.
func (c Case) cohorts() []string {
	var names []string
	for _, q := range c.Queues {
		if q.Cohort != "" && !slices.Contains(names, q.Cohort) {
			names = append(names, q.Cohort)
		}
	}
	return names
}

// fitsAtFirst says whether a workload that waits would be admitted if it were the only one.
func (c Case) fitsAtFirst(w Workload) bool {
	q := c.queue(w.Queue)
	if w.Runs || q.Quota == nil || q.Held {
		return false
	}
	used := c.used(q.Name)
	if q.Quota.BorrowingLimit != nil && used+w.GPUs() > q.nominal()+*q.Quota.BorrowingLimit {
		return false
	}
	borrowed := max(0, used+w.GPUs()-q.keeps()) - max(0, used-q.keeps())
	return borrowed == 0 || borrowed <= -c.overLent(q.cohortKey())
}

// cohortKey is the queue's cohort, or itself where it has none.
func (q Queue) cohortKey() string {
	if q.Cohort == "" {
		return "/" + q.Name
	}
	return q.Cohort
}

func (c Case) queue(name string) Queue {
	for _, q := range c.Queues {
		if q.Name == name {
			return q
		}
	}
	panic("no queue " + name)
}
