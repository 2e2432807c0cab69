// kind: deadlock
// finding: Dispatch

// Package workerdies has workers that end at their first error; when all have ended, who hands
// out jobs waits forever.
package workerdies

import (
	"sync"
	"sync/atomic"
)

// Farm has workers and a budget for what they do.
type Farm struct {
	jobs   chan int64
	budget atomic.Int64
	failed atomic.Int32
	wg     sync.WaitGroup
}

// NewFarm starts n workers.
func NewFarm(n int, budget int64) *Farm {
	f := &Farm{jobs: make(chan int64)}
	f.budget.Store(budget)
	f.wg.Add(n)
	for range n {
		go f.work()
	}
	return f
}

func (f *Farm) work() {
	defer f.wg.Done()
	for cost := range f.jobs {
		if f.budget.Add(-cost) < 0 {
			f.failed.Add(1)
			return
		}
		f.budget.Add(cost) // given back when the job is done
	}
}

// Dispatch hands out jobs and returns how many failed.
func (f *Farm) Dispatch(costs ...int64) int32 {
	for _, c := range costs {
		f.jobs <- c
	}
	close(f.jobs)
	f.wg.Wait()
	return f.failed.Load()
}

// cause: budget: f.budget.Add(-cost) < 0 | f.budget.Add(cost)
