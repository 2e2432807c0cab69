// kind: test failure
// finding: at the same time
// minimum: switches=4

// Package semaphoreearlyrelease gives its place in the semaphore back before the work is
// finished.
//
// Fewest switches: one begins between the other's beginning and end; the test's goroutine
// comes before and after: five intervals.
package semaphoreearlyrelease

import "sync/atomic"

// Workers run jobs, at most as many at a time as the channel has places.
type Workers struct {
	places chan struct{}
	now    atomic.Int32
	most   atomic.Int32
}

func (w *Workers) begin() {
	n := w.now.Add(1)
	for m := w.most.Load(); n > m && !w.most.CompareAndSwap(m, n); m = w.most.Load() {
	}
}

func (w *Workers) end() { w.now.Add(-1) }

// Run runs a job when there is a place.
func (w *Workers) Run(job func()) {
	w.places <- struct{}{}
	w.begin()
	<-w.places
	job()
	w.end()
}

// cause: now: n := w.now.Add(1) | w.now.Add(-1)
